"""Evaluation: what a run's events say about its method, several methods in one table, and the judge."""

from __future__ import annotations

import ctypes
import json
import os
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.cli import main
from kgdemo.errors import EndpointError, UserError
from kgdemo.events import (
    WITHOUT_GRAPH,
    AnswerFinal,
    CandidatesScored,
    LMCall,
    PathFound,
    PathVerified,
    RunFinished,
    Thought,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.evaluation.metrics import Prediction, StepCounts, Steps, summarise, true_steps
from kgdemo.lab.evaluation.predictions import RunFigures
from kgdemo.lab.evaluation.runner import Judge, evaluate, rate_paths, right_path_f1, score_answers
from kgdemo.lab.evaluation.study import compare_methods, methods_named, methods_table
from kgdemo.lab.questions import Question
from kgdemo.methods import METHODS
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.settings import ChatSettings, Settings
from kgdemo.ui.metrics import give_back_memory
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.oracles import all_paths, backwards, verifier_of
from tests.helpers.small import SmallPipeline
from tests.helpers.strategies import graphs

KG = KnowledgeGraph.from_triples(
    [
        ("Inception", "directed by", "Christopher Nolan"),
        ("Christopher Nolan", "born in", "London"),
        ("Inception", "set in", "London"),
    ],
    "films",
    {"born in": "birthplace of"},
)
ASKED = Question("1", "Where was its director born?", ("Inception",), ("London",), ("London",))


def read(*events, truth=frozenset()) -> Prediction:
    relation_label = RunFigures(verifier_of(KG), Steps(KG), ("Inception",))
    for event in events:
        relation_label.see(event)
    return relation_label.prediction(ASKED, truth)


def shown(constrained: bool, index: int, text: str) -> tuple[PathFound, PathVerified]:
    path, verdict = verifier_of(KG).verify_text(text)
    return PathFound(constrained, index, text, 0.0, path), PathVerified(constrained, index, verdict)


# the steps ---------------------------------------------------------------------------------------


def test_valid_steps_and_ill_triples_are_counted_with_and_without_the_constraint():
    good = "Inception -> directed by -> Christopher Nolan -> born in -> London"
    made = read(
        *shown(True, 1, good),
        *shown(False, 1, "Inception -> directed by -> Christopher Nolan -> born in -> Paris"),
        *shown(False, 2, "no path at all"),
    )
    assert made.steps == StepCounts(2, 2, 2, 0)
    assert (made.faithful, made.free_paths, made.free_faithful) == (1, 2, 0)
    assert (made.free_steps.triples, made.free_steps.ill) == (3, 2)
    assert made.free_steps.valid == 1
    metrics = summarise([made], compared=True)
    assert (metrics["validity_ratio"], metrics["ill_formed_triples"]) == (1.0, 0.0)
    assert metrics["unconstrained_ill_formed_triples"] == pytest.approx(2 / 3)
    assert metrics["unconstrained_faithful_ratio"] == 0.0


def test_a_triple_that_nothing_has_reached_is_ill_though_it_is_in_the_graph():
    apart = read(*shown(True, 1, "Christopher Nolan -> born in -> London"))
    assert (apart.steps.valid, apart.steps.ill) == (1, 1)
    backwards = read(*shown(True, 1, "London -> birthplace of -> Christopher Nolan"), *shown(True, 2, "x -> y -> z"))
    assert backwards.steps.ill == 2
    told = read(
        *shown(True, 1, "Inception -> set in -> London"),
        *shown(True, 2, "London -> birthplace of -> Christopher Nolan"),
    )
    assert told.steps.ill == 0


def test_a_method_that_does_not_look_at_the_graph_is_judged_by_what_it_wrote():
    made = read(*shown(False, 1, "Inception -> directed by -> Steven Spielberg"))
    assert len(made.paths) == 1
    assert (made.faithful, made.steps.valid, made.steps.steps) == (0, 0, 1)


def test_the_comparison_is_none_of_the_methods_cost():
    made = read(
        LMCall("m", "reasoning paths", "p", "o", 10, 5, 0.5),
        LMCall("m", WITHOUT_GRAPH, "p", "o", 10, 7, 2.0),
        LMCall("c", "answer", "p", "o", 100, 20, 0.5, calls=2),
        RunFinished(4.0, 4, 120, 32, t=4.0),
    )
    assert (made.lm_calls, made.tokens_in, made.tokens_out) == (3, 110, 25)
    assert made.seconds == pytest.approx(2.0)


def test_coverage_counts_what_was_weighed_thought_of_or_found():
    truth = true_steps(KG, ["Inception"], ["Christopher Nolan", "London"], 2, directed=False)
    assert truth == {
        (frozenset(("Inception", "Christopher Nolan")), "directed by"),
        (frozenset(("Inception", "London")), "set in"),
    }
    assert read(truth=truth).coverage == 0.0
    options = ("Inception -> set in -> London", "not a path")
    assert read(CandidatesScored("x", options, (1.0, 0.0), (True, False), "me"), truth=truth).coverage == 0.5
    triples = (("Inception", "set in", "London"), ("Inception", "directed by", "Christopher Nolan"))
    assert read(Thought("thought", 1, (), "t", (), triples), truth=truth).coverage == 1.0
    assert read(*shown(True, 1, "London -> ~set in -> Inception"), truth=truth).coverage == 0.5
    assert read().coverage is None
    metrics = summarise([read(), read(truth=truth)], compared=False)
    assert (metrics["coverage_ratio"], metrics["coverage_questions"]) == (0.0, 1)


@settings(max_examples=80, deadline=None)
@given(triples=graphs(), data=st.data(), hops=st.integers(1, 3), directed=st.booleans())
def test_true_steps_are_those_of_all_shortest_paths(triples, data, hops, directed):
    kg = KnowledgeGraph.from_triples(triples)
    topic = data.draw(st.sampled_from(list(kg.entities)))
    gold = data.draw(st.lists(st.sampled_from(list(kg.entities)), min_size=1, max_size=3))
    expected = set()
    walkable = [(h, r, t, r) for h, r, t in triples]
    walkable += [(t, backwards(r, kg.relations), h, r) for h, r, t in triples if not directed]
    paths = list(all_paths(triples, [topic], hops, directed))
    for answer in set(gold) - {topic}:
        found = [p for p in paths if p[-1] == answer]
        for path in (p for p in found if len(p) == min(map(len, found))):
            for head, relation_label, tail in (path[i : i + 3] for i in range(0, len(path) - 1, 2)):
                expected |= {(frozenset((head, tail)), name) for name in _stored(head, relation_label, tail, walkable)}
    assert true_steps(kg, [topic, "Atlantis"], gold, hops, directed) == expected


def _stored(head: str, relation_label: str, tail: str, walkable: list[tuple[str, str, str, str]]) -> set[str]:
    """The relations that a hop may have walked; one may itself be called what another reads as backwards."""
    return {relation for *hop, relation in walkable if hop == [head, relation_label, tail]}


def test_predictions_survive_being_written():
    truth = true_steps(KG, ["Inception"], ["London"], 2, directed=False)
    made = read(*shown(True, 1, "Inception -> set in -> London"), truth=truth)
    assert Prediction.from_record(json.loads(json.dumps(asdict(made)))) == made


# several methods ---------------------------------------------------------------------------------


@pytest.fixture
def questions(tmp_path):
    file = tmp_path / "questions.jsonl"
    lines = [
        {"id": "1", "question": "who directed Inception?", "q_entity": ["Inception"], "answer": ["Christopher Nolan"]},
        {"id": "2", "question": "where was he born?", "q_entity": ["Christopher Nolan"], "answer": ["London"]},
    ]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return file


def test_each_method_gets_a_row_a_folder_and_its_options(questions, tmp_path):
    asked = Settings(beams=3, compare=True, explain=0, options=(("width", "1"), ("retriever", "vanilla")))
    out, names = tmp_path / "out", ["gcr", "dog", "fidelis", "direct"]
    written = compare_methods(partial(evaluate, SmallPipeline(), questions), names, asked, out)
    assert (out / "table.md").read_text("utf-8") == written + "\n"
    assert [row.split("|")[1].strip() for row in written.splitlines()[2:]] == names
    given = [json.loads((out / n / "settings.json").read_text())["options"] for n in names]
    assert given == [{}, {"width": "1"}, {"width": "1", "retriever": "vanilla"}, {}]
    for name in names:
        metrics = json.loads((out / name / "metrics.json").read_text())
        assert metrics["questions"] == 2
        assert metrics["faithful_ratio"] == (1.0 if METHODS[name].constrained or name == "fidelis" else 0.0)
        assert metrics["lm_calls"] >= 1 or name == "fidelis"
    before = {name: (out / name / "predictions.jsonl").read_bytes() for name in names}
    again = compare_methods(partial(evaluate, SmallPipeline(), questions), [*names, "cot"], asked, out)
    assert again.startswith(written), "what was done is not done again"
    assert {name: (out / name / "predictions.jsonl").read_bytes() for name in names} == before


def test_a_run_broken_off_inside_a_record_goes_on_twice(questions, tmp_path):
    out, asked = tmp_path / "out", Settings(beams=2, compare=False, explain=0)
    expected = evaluate(SmallPipeline(), questions, asked, out)
    file = out / "predictions.jsonl"
    whole = file.read_bytes()
    for cut in (len(whole) - 1, len(whole) - 2, whole.index(b"\n") + 5, 3):
        file.write_bytes(whole[:cut])
        for limit in (1, None):  # the second time nothing of the torn record may be left
            metrics = evaluate(SmallPipeline(), questions, asked, out, limit)
        assert metrics["hits@1"] == expected["hits@1"]
        assert [json.loads(line)["id"] for line in file.read_text("utf-8").splitlines()] == ["1", "2"]


def test_an_option_that_no_method_has_is_refused_before_anything_runs(questions, tmp_path):
    asked = Settings(options=(("breadth", "1"),))
    with pytest.raises(UserError, match=r"dog, gcr has no option 'breadth'; it knows width=3"):
        compare_methods(partial(evaluate, SmallPipeline(), questions), ["dog", "gcr"], asked, tmp_path / "out")
    asked = Settings(options=(("width", "0"),))
    with pytest.raises(UserError, match="choose a whole number"):
        compare_methods(partial(evaluate, SmallPipeline(), questions), ["gcr", "dog"], asked, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_methods_are_named_with_commas_or_all_of_them():
    assert methods_named("gcr, dog,gcr") == ["gcr", "dog"]
    assert methods_named("all") == list(METHODS)
    for wrong in ("gcr,magic", "", ","):
        with pytest.raises(UserError):
            methods_named(wrong)


def test_the_table_has_dashes_where_nothing_was_measured():
    nothing = summarise([read()], compared=True) | {"coherence": 0.0, "coherence_paths": 0}
    row = methods_table([(METHODS["direct"], nothing)]).splitlines()[-1]
    assert row.count("–") == 9
    assert "| 0.000 | 0.000 | 0.000 | – |" in row


def test_constrained_methods_stand_beside_themselves_without_the_graph():
    free = shown(False, 1, "Inception -> directed by -> Steven Spielberg")
    metrics = summarise([read(*shown(True, 1, "Inception -> set in -> London"), *free)], compared=True)
    rows = [(METHODS[name], metrics) for name in ("gcr", "dog", "fidelis")]
    head, _, *told = [[c.strip() for c in line.split("|")] for line in methods_table(rows).splitlines()]
    own, without = head.index("faithful"), head.index("faithful without the graph")
    assert [(row[own], row[without]) for row in told] == [("1.000", "0.000"), ("1.000", "0.000"), ("1.000", "–")]


def test_the_command_prints_and_writes_the_table(questions, tmp_path, capsys):
    graph = tmp_path / "kg.tsv"
    graph.write_text("Inception\tdirected by\tChristopher Nolan\nChristopher Nolan\tborn in\tLondon\n", "utf-8")
    arguments = ["evaluate", "--kg", str(graph), "--questions", str(questions), "--out", str(tmp_path / "out")]
    assert main([*arguments, "--method", "tog,kaping", "--limit", "1"]) == 0
    printed = capsys.readouterr().out.strip()
    assert printed == (tmp_path / "out" / "table.md").read_text("utf-8").strip()
    assert main([*arguments, "--method", "tog,magic"]) == 2
    assert "There is no method 'magic'" in capsys.readouterr().err
    assert main([*arguments, "--method", "dog", "--option", "wide=1"]) == 2
    assert "no option 'wide'" in capsys.readouterr().err


# the judge ---------------------------------------------------------------------------------------


def predictions() -> list[Prediction]:
    return [
        read(
            *shown(True, 1, "Inception -> set in -> London"), *shown(True, 2, "Inception -> directed by -> X -> y -> Z")
        )
    ]


def test_the_judge_rates_each_path_and_goes_on_where_it_stopped(tmp_path):
    replies = ["Score: 5\nExplanation: it holds.", "I like it", "Score: 2"]
    file = tmp_path / "judgements.jsonl"
    with serve(Endpoint(replies=replies)) as endpoint:
        judge = OpenAIChat(ChatSettings("m", endpoint.url, "key"))
        metrics = rate_paths(judge, 3, predictions(), file)
        assert rate_paths(judge, 3, predictions(), file) == metrics
        asked = list(endpoint.prompts)
        judge.close()
    assert metrics == {"coherence": 3.5, "coherence_paths": 2, "judge_calls": 3}
    assert len(asked) == 3, "the second reply could not be read and was asked for again"
    assert "Path: Inception -> set in -> London" in asked[0]
    assert ASKED.text in asked[0]
    assert [json.loads(line)["rating"] for line in file.read_text().splitlines()] == [5, 2]


def test_what_was_judged_before_a_failure_is_kept(tmp_path):
    file = tmp_path / "judgements.jsonl"
    with serve(Endpoint(replies=["Score: 4", "Score: 9"])) as endpoint:
        judge = OpenAIChat(ChatSettings("m", endpoint.url, "key"))
        with pytest.raises(EndpointError, match="replied twice"), closing(judge):
            rate_paths(judge, 3, predictions(), file)
    assert len(file.read_text().splitlines()) == 1


def test_answers_are_scored_and_what_failed_is_not_counted_and_asked_again(tmp_path):
    file = tmp_path / "gpt4score.jsonl"
    rows = [replace(read(), id=str(n), answers=(name,)) for n, name in enumerate(("London", "Paris", "Rome"))]
    rows += [replace(read(), id="3", answers=()), replace(read(), id="4", gold=())]
    with serve(Endpoint(replies=["Yes", "No.", "perhaps", "who knows", "yes"])) as endpoint:
        judge = OpenAIChat(ChatSettings("m", endpoint.url, "key"))
        first = score_answers(judge, rows, file)
        with file.open("a") as stream:
            stream.write('{"id": "2", "ans')  # killed while it wrote
        second = score_answers(judge, rows, file)
        asked = list(endpoint.prompts)
        judge.close()
    assert (first["gpt4score"], first["gpt4score_questions"], first["gpt4score_failed"]) == (1 / 3, 3, 1)
    assert (second["gpt4score"], second["gpt4score_questions"], second["gpt4score_failed"]) == (2 / 4, 4, 0)
    assert len(asked) == 5
    assert "Known answer: London" in asked[0]
    assert first["gpt4score_low"] <= first["gpt4score"] <= first["gpt4score_high"]


def test_a_scorer_out_of_reach_stops_the_scoring(tmp_path):
    rows = [replace(read(), id=str(n), answers=("x",)) for n in range(9)]
    with serve(Endpoint(replies=["maybe"] * 20)) as endpoint:
        judge = OpenAIChat(ChatSettings("m", endpoint.url, "key"))
        with pytest.raises(EndpointError), closing(judge):
            score_answers(judge, rows, tmp_path / "gpt4score.jsonl")
    assert len(endpoint.prompts) == 10


def test_depths_hops_triples_and_limits_are_read_from_a_run():
    truth = true_steps(KG, ["Inception"], ["London"], 2, directed=False)
    good = "Inception -> set in -> London"
    long = "Inception -> directed by -> Christopher Nolan -> born in -> London"
    events = (*shown(True, 1, long), *shown(True, 2, good), AnswerFinal("x", ("London",), ((1,),), "me"))
    figures = RunFigures(verifier_of(KG), Steps(KG), ("Inception",), limit=2)
    for number, event in enumerate(events):
        figures.see(Thought("thought", number, (number - 1,) if number else (), "t"))
        figures.see(event)
    made = figures.prediction(ASKED, truth, 1)
    assert (made.depths, made.hops, made.limited) == ((2, 1), 1, True)
    assert made.triplet_f1 == pytest.approx(2 * 1 / (3 + 1))  # both paths lead to the answer: three triples, one true
    assert read(*shown(True, 1, good), truth=truth).triplet_f1 == 1.0
    assert read(*shown(True, 1, good)).triplet_f1 is None
    assert not read(Thought("thought", 1, (), "t")).limited


def test_a_judge_needs_a_chat_model(questions, tmp_path, capsys, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KGDEMO_CHAT_LOCAL"):
        monkeypatch.delenv(name, raising=False)
    assert main(["evaluate", "--questions", str(questions), "--out", str(tmp_path / "out"), "--judge"]) == 2
    assert "--judge needs a chat model" in capsys.readouterr().err
    with pytest.raises(UserError, match="judge nothing"):
        Judge.by(ChatSettings("m"), 0)


@pytest.mark.parametrize(
    ("topics", "path", "gold", "expected"),
    [
        (["Inception"], ["starring"], ["Elliot Page"], 2 / 3),  # two ends, one of them right
        (["Inception"], ["directed by", "born in"], ["London"], 1.0),
        (["Christopher Nolan"], ["~directed by"], ["Inception", "Dunkirk"], 1.0),
        (["Inception", "Dunkirk"], ["directed by"], ["Christopher Nolan"], 1.0),  # what both lead to
        (["Inception"], ["starring"], ["London"], 0.0),
        (["Inception"], ["painted by"], ["London"], None),
        (["Inception"], [], ["London"], None),
    ],
)
def test_what_the_right_path_would_bring_by_hand(topics, path, gold, expected):
    kg = SmallPipeline().graph("world")
    found = right_path_f1(kg, Question("1", "?", tuple(topics), tuple(gold), tuple(gold), relation_path=tuple(path)))
    assert found == (expected if expected is None else pytest.approx(expected))


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="this C library keeps what is free")
def test_memory_that_is_free_between_what_is_not_goes_back_to_the_system():
    library = ctypes.CDLL(None)
    library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    library.free.argtypes = [ctypes.c_void_p]
    size, number = 100_000, 2_000
    blocks = [library.malloc(size) for _ in range(number)]
    for block in blocks:
        ctypes.memset(block, 1, size)
    for place, block in enumerate(blocks):
        if place % 20:
            library.free(block)  # what is left in between holds the heap's end where it is
    before = resident()
    give_back_memory()
    assert before - resident() > 0.7 * size * number
    for block in blocks[::20]:
        library.free(block)


def test_every_question_gives_its_memory_back(tmp_path, monkeypatch):
    given: list[str] = []
    monkeypatch.setattr("kgdemo.lab.evaluation.runner.give_back_memory", lambda: given.append("back"))
    lines = [json.dumps({"id": n, "question": "Who?", "q_entity": ["Inception"], "answer": ["x"]}) for n in range(3)]
    (tmp_path / "questions.jsonl").write_text("\n".join(lines), "utf-8")
    evaluate(
        SmallPipeline(), tmp_path / "questions.jsonl", Settings(beams=2, hops=1, compare=False, explain=0), tmp_path
    )
    assert given == ["back"] * 3


def resident() -> int:
    """Bytes of this process that are in memory."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
