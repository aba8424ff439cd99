"""The agent: it thinks, acts and observes in turn, and answers from what it read."""

from __future__ import annotations

import re
from dataclasses import replace

from kgdemo.events import CandidatesScored, LMCall, PathFound, Thought
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.methods.grounding import GraphCotOptions
from kgdemo.methods.hop_lists import likeliest_first
from kgdemo.methods.thought_chains import GroundingOptions
from kgdemo.query.form import understand
from kgdemo.reasoners.base import Resources
from tests.helpers.reasoning import (
    ChanceReasoner,
    Clerk,
    all_is_read_from_the_graph,
    ask,
    clerk_world,
    film_world,
    of,
)

QUESTION = "Where was the director of Inception born?"


def test_the_agent_thinks_acts_and_observes_in_turn():
    clerk = Clerk(["Finish[London]", "Christopher Nolan, born in", "directed by"])
    events = ask("agent-cot", QUESTION, ["Inception"], clerk_world(clerk))
    thoughts = of(events, Thought)
    assert [t.kind for t in thoughts] == ["thought", "action", "observation"] * 3 + ["thought", "action"]
    assert [t.text for t in thoughts if t.kind == "action"] == [
        "RetrieveNode[Inception]",
        "NeighbourCheck[Inception, directed by]",
        "NeighbourCheck[Christopher Nolan, born in]",
        "Finish[London]",
    ]
    assert [t.parents for t in thoughts] == [(), *((n,) for n in range(1, len(thoughts)))]
    assert thoughts[5].triples == (("Inception", "directed by", "Christopher Nolan"),)
    assert events[-1].answers == ("London",)
    assert of(events, PathFound)[0].path == Path(
        ("Inception", "Christopher Nolan", "London"), ("directed by", "born in")
    )


def test_a_language_model_sees_what_was_observed_and_every_call_is_told():
    clerk = Clerk(["Finish[London]", "Christopher Nolan, born in", "directed by"])
    events = ask("agent-cot", QUESTION, ["Inception"], clerk_world(clerk))
    assert any("Observation: The neighbours are London." in prompt for prompt in clerk.prompts)
    assert sum(call.calls for call in of(events, LMCall)) == len(clerk.prompts)
    # three thoughts with their actions (the first action has no alternative), one answer
    assert [call.purpose for call in of(events, LMCall)] == ["propose", "propose", "propose", "answer"]
    assert [t.text for t in of(events, Thought) if t.kind == "thought"][1:] == ["I look further."] * 3


def test_a_language_model_may_look_for_any_node():
    class Curious(Clerk):
        def reply(self, prompt: str) -> str:
            offered = re.findall(r"^(\d+)\. (.*)$", prompt.rpartition("\n---\n")[2], re.MULTILINE)
            other = next((n for n, text in offered if "…" in text), "")
            asks = prompt.splitlines()[-1] == "Next steps:" and "Titanic" not in prompt
            return f"Another film may help. | {other} Titanic" if asks else super().reply(prompt)

    resources = clerk_world(Curious(["Finish[London]", "Titanic, starring"]))
    events = ask("agent-cot", QUESTION, ["Inception"], resources, GroundingOptions(steps=4))
    actions = [t.text for t in of(events, Thought) if t.kind == "action"]
    assert actions[:3] == ["RetrieveNode[Inception]", "RetrieveNode[Titanic]", "NeighbourCheck[Titanic, starring]"]
    all_is_read_from_the_graph(events, resources)


def test_the_agent_stops_at_the_step_limit_and_answers_from_what_it_read():
    clerk = Clerk(["NeighbourCheck"])
    options = GroundingOptions(steps=3)
    resources = clerk_world(clerk)
    events = ask("agent-cot", QUESTION, ["Inception"], resources, options)
    assert len([t for t in of(events, Thought) if t.kind == "action"]) == 3
    assert of(events, CandidatesScored)[-1].decision == "answer"
    all_is_read_from_the_graph(events, resources)


def test_a_count_and_a_feature_are_answers():
    events = ask("agent-cot", "How many films did Christopher Nolan direct?", ["Christopher Nolan"], film_world())
    assert "NodeDegree[Christopher Nolan, directed]" in [t.text for t in of(events, Thought)]
    assert events[-1].answers == ("3",)
    assert events[-1].citations == ((1, 2, 3),)
    events = ask("agent-cot", "What is the runtime of Inception?", ["Inception"], film_world())
    assert "NodeFeature[Inception, runtime]" in [t.text for t in of(events, Thought)]
    assert events[-1].answers == ("148 minutes",)


def test_no_action_is_taken_twice_in_a_chain():
    events = ask("agent-cot", QUESTION, ["Inception"], film_world(ChanceReasoner(3)))
    actions = [t.text for t in of(events, Thought) if t.kind == "action"]
    assert len(actions) == len(set(actions))


RELEASED = [
    ("Inception", "released in", "Japan"),
    ("Inception", "released in", "2011"),
    ("Inception", "released in", "2010"),
    ("Inception", "first shown", "2010"),
    ("Tenet", "first shown", "2010"),
    ("Inception", "directed by", "Christopher Nolan"),
]


def typed_world(triples=RELEASED) -> Resources:
    """With the types of what is no year."""
    info = {"Japan": EntityInfo("country"), "Christopher Nolan": EntityInfo("person")}
    return replace(film_world(triples=triples), kg=KnowledgeGraph.from_triples(triples, "films", {}, info))


def test_what_is_not_the_kind_of_thing_asked_for_ends_no_chain():
    abroad = [t for t in RELEASED if t[2] not in ("2010", "2011") or t[1] == "first shown"]
    events = ask("agent-cot", "When was Inception released?", ["Inception"], typed_world(abroad))
    actions = [t.text for t in of(events, Thought) if t.kind == "action"]
    assert "NeighbourCheck[Inception, released in]" in actions  # it is the nearest, so it is looked at …
    assert events[-1].answers == ("2010",)  # … but a country is no answer
    events = ask("agent-cot", "What was Inception released in?", ["Inception"], typed_world(abroad))
    assert events[-1].answers == ("Japan",)


def test_where_nothing_is_of_the_kind_asked_for_the_agent_still_ends():
    events = ask("agent-cot", "When was Inception released?", ["Inception"], typed_world(RELEASED[:1]))
    assert events[-1].answers == ("Japan",)


def test_ends_of_the_kind_asked_for_come_first_and_of_these_the_best_known():
    paths = [Path(("Inception", end), ("released in",)) for end in ("Japan", "2011", "2010")]
    resources = typed_world()

    def likeliest(question: str) -> list[Path]:
        return likeliest_first(understand(question, ["Inception"], resources.kg), paths, resources)

    first = likeliest("When was Inception released?")
    assert [path.end for path in first] == ["2010", "2011", "Japan"]  # two films were first shown in 2010
    assert likeliest("Inception?")[0].end == "2010"


def test_graph_cot_reasons_apart_and_may_call_several_functions_for_one_thought():
    wanted = ["Finish[London]", "Christopher Nolan, born in", "directed by"]
    clerk = Clerk(wanted, {"what to look up next": "I need him."})
    resources = clerk_world(clerk)
    events = ask("graph-cot", QUESTION, ["Inception"], resources, GraphCotOptions(calls=2))
    assert [call.purpose for call in of(events, LMCall)][-3:] == ["thought", "propose", "answer"]
    thoughts = of(events, Thought)
    kinds = [t.kind for t in thoughts]
    assert kinds[:3] == ["thought", "action", "observation"]
    assert kinds.count("action") > kinds.count("thought"), "a thought led to two calls"
    assert {t.text for t in thoughts if t.kind == "thought"} == {"I need him."}
    last = [t.text for t in thoughts if t.kind == "action"][-1]
    assert last == "Finish[London]", "what was called behind it is dropped"
    assert all(t.parents == (t.id - 1,) for t in thoughts[1:]), "one chain"
    assert events[-1].answers == ("London",)
    all_is_read_from_the_graph(events, resources)
