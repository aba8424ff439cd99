"""DoG: chains are well-formed whatever the graph and the model, and the search is the paper's Algorithm 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo.constraint.chains import ChainConstraint, ChainState, MarkWatch
from kgdemo.constraint.free import FreeText
from kgdemo.constraint.pieces import PATH_END, PATH_START, Pieces
from kgdemo.constraint.query_graph import Link, QueryGraph
from kgdemo.constraint.tokenised import TokenisedGraph
from kgdemo.constraint.triples import Spelling, TripleTrie
from kgdemo.decoding.beam import BeamSettings, beam_search
from kgdemo.decoding.rooted import Writer, greedy_search
from kgdemo.decoding.sampling import SamplingSettings, sample
from kgdemo.errors import UserError
from kgdemo.evaluation.ratios import ill_formed
from kgdemo.events import AnswerFinal, DecodeStep, LMCall, PathFound, PathVerified, Thought, from_json, to_json
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.models.base import PROMPT_END
from kgdemo.reasoning.base import METHODS
from kgdemo.reasoning.dog import DogSettings, Visibility, run
from kgdemo.reasoning.dog.chain import Chain
from kgdemo.reasoning.dog.method import paths_of
from kgdemo.reasoning.label_index import LabelIndex
from kgdemo.reasoning.question_graph import question_graph
from kgdemo.settings import Settings
from kgdemo.verify import Verifier
from tests.helpers.models import byte_level_tokenizer, random_model, wordpiece_tokenizer
from tests.helpers.oracles import spelled
from tests.helpers.reasoning import SpellingEmbedder, film_world, of
from tests.helpers.strategies import graphs
from tests.unit.test_decoding import finish, plain_score

QUESTION = "Where was the director of Inception born?"
TOKENIZERS = {
    "byte-level": byte_level_tokenizer,
    "byte-level, no path marks": lambda: byte_level_tokenizer(marks=False),
    "wordpiece": wordpiece_tokenizer,
}
model_named = lru_cache(random_model)


def around(triples: Sequence[tuple[str, str, str]], visited: set[str]) -> set[tuple[str, str, str]]:
    """Equation 1, read off a list of triples."""
    return {triple for triple in triples if visited & {triple[0], triple[2]}}


def labels_of(kg: KnowledgeGraph, link: Link) -> list[tuple[str, str, str]]:
    return [(kg.entities[h], kg.relations[r], kg.entities[t]) for h, r, t in link.triples]


def language(trie: TripleTrie) -> dict[tuple[int, ...], set[tuple[str, str, str]]]:
    """Every complete token sequence with the triples at its leaf."""
    kg, found = trie.graph.kg, {}
    stack = [((), trie.start())]
    while stack:
        tokens, state = stack.pop()
        if state.complete:
            found[tokens] = {triple for leaf in state.leaves for triple in labels_of(kg, leaf.link)}
        if state.alive:
            successors = trie.successors(state)
            assert list(successors.tokens) == sorted(set(successors.tokens.tolist()))
            assert len(successors.tokens), "a living state must have a successor"
            children = [successors.take(i) for i in range(len(successors.tokens))]
            assert max(map(trie.paths_left, children)) <= trie.paths_left(state)
            stack += [((*tokens, t), child) for t, child in zip(successors.tokens.tolist(), children, strict=True)]
    return found


# the constraint ----------------------------------------------------------------------------------


@settings(max_examples=150, deadline=None)
@given(triples=graphs(), data=st.data())
def test_the_subgraph_is_what_touches_a_visited_entity(triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    visited = data.draw(st.lists(st.sampled_from(list(kg.entities)), min_size=1, max_size=3))
    query = QueryGraph(kg, collapse=False)
    links = query.links([kg.entities.find(v) for v in visited])
    assert {triple for link in links for triple in labels_of(kg, link)} == around(triples, set(visited))
    assert all(kg.entities[link.first] in visited for link in links)
    assert len({link.path for link in links}) == len(links)


@pytest.mark.parametrize("tokenizer", TOKENIZERS)
@settings(max_examples=60, deadline=None)
@given(triples=graphs(), data=st.data())
def test_the_trie_speaks_exactly_the_triples_in_reach(tokenizer, triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    visited = data.draw(st.lists(st.sampled_from(list(kg.entities)), min_size=1, max_size=2))
    pieces = Pieces(TOKENIZERS[tokenizer]())
    links = QueryGraph(kg, collapse=False).links([kg.entities.find(v) for v in visited])
    trie = TripleTrie(TokenisedGraph(kg, pieces), links, Spelling.STORED, [pieces.end])
    expected: dict[tuple[int, ...], set] = {}
    for triple in around(triples, set(visited)):
        expected.setdefault(spelled(pieces, triple), set()).add(triple)
    assert language(trie) == expected


@settings(max_examples=60, deadline=None)
@given(triples=graphs(), data=st.data())
def test_walked_triples_begin_at_the_visited_end(triples, data):
    kg = KnowledgeGraph.from_triples(triples)
    start = data.draw(st.sampled_from(list(kg.entities)))
    pieces = Pieces(byte_level_tokenizer())
    links = QueryGraph(kg, collapse=False).links([kg.entities.find(start)])
    graph = TokenisedGraph(kg, pieces)
    ends = [pieces.end, pieces.arrow]
    walked = language(TripleTrie(graph, links, Spelling.WALKED, ends))
    onward = language(TripleTrie(graph, links, Spelling.ONWARD, ends))
    head = tuple(pieces.plain(f" {start}"))
    expected = {
        (*pieces.plain(f" {start}"), *pieces.arrow, *pieces.plain(f" {r}"), *pieces.arrow, *pieces.plain(f" {t}"), *end)
        for r, t in kg.neighbours(start)
        for end in ends
    }
    assert set(walked) == expected
    assert {(*head, *tokens) for tokens in onward} == expected


def test_mediators_are_stepped_over_and_their_relations_joined():
    triples = [
        ("Ann", "education", "m.0x1"),
        ("m.0x1", "institution", "Oxford"),
        ("m.0x1", "degree", "BA"),
        ("Bob", "education", "m.0x2"),
        ("m.0x2", "institution", "Oxford"),
    ]
    kg = KnowledgeGraph.from_triples(triples)
    query = QueryGraph(kg)
    ann = query.links([kg.entities.find("Ann")])
    assert {link.labels(kg) for link in ann} == {
        ("Ann", "education-institution", "Oxford"),
        ("Ann", "education-degree", "BA"),
    }
    oxford = query.links([kg.entities.find("Oxford")])
    assert {link.labels(kg)[0] for link in oxford} == {"Ann", "Bob", "Oxford"}, "stored direction where there is one"
    assert ("Bob", "education-institution", "Oxford") in {link.labels(kg) for link in oxford}
    verifier = Verifier(kg)
    for link in [*ann, *oxford]:
        path = Path(tuple(kg.entities[e] for e in link.path.entities), tuple(kg.readings[s] for s in link.path.steps))
        assert verifier.verify(path).faithful
    pieces = Pieces(byte_level_tokenizer())
    trie = TripleTrie(TokenisedGraph(kg, pieces), ann, Spelling.STORED, [pieces.end])
    assert spelled(pieces, ("Ann", "education-degree", "BA")) in language(trie)


def test_a_type_says_what_is_a_mediator_too():
    info = {"event 1": EntityInfo("mediator"), "m.0abc": EntityInfo("person")}
    triples = [("a", "r", "event 1"), ("event 1", "s", "b"), ("a", "t", "m.0abc")]
    kg = KnowledgeGraph.from_triples(triples, info=info)
    links = QueryGraph(kg).links([kg.entities.find("a")])
    assert {link.labels(kg)[2] for link in links} == {"b", "m.0abc"}


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_mark_is_seen_however_it_is_cut_into_tokens(data):
    texts = ["<", "<P", "P", "AT", "ATH", "H", ">", "<PATH>", "x<PATH>", "<PATH>y", "H>", "H>z", "a", " ", "><", ">P"]
    watch = MarkWatch(texts, PATH_START)
    text, matched = "", 0
    for _ in range(data.draw(st.integers(1, 12))):
        token = data.draw(st.integers(0, len(texts) - 1))
        finishing, over = (set(part.tolist()) for part in watch.hits(matched))
        grown = text + texts[token]
        at = grown.find(PATH_START)
        assert (token in finishing) == (at >= 0 and at + len(PATH_START) == len(grown))
        assert (token in over) == (at >= 0 and at + len(PATH_START) < len(grown))
        if at >= 0:
            break
        text, matched = grown, watch.after(matched, token)
        assert text.endswith(PATH_START[:matched])


class Eager:
    """A token tree whose model is eager to begin triples; random models hardly ever are."""

    def __init__(self, tree, mark: int, bias: float) -> None:
        self.tree, self.mark, self.bias = tree, mark, bias

    def _pushed(self, rows: torch.Tensor) -> torch.Tensor:
        rows = rows.clone()
        rows[..., self.mark] += self.bias
        return torch.log_softmax(rows, dim=-1)

    def prompt_log_probs(self) -> torch.Tensor:
        return self._pushed(self.tree.prompt_log_probs())

    def extend(self, parents, tokens):
        nodes, rows = self.tree.extend(parents, tokens)
        return nodes, self._pushed(rows)


def sampled_chains(kg: KnowledgeGraph, topics: Sequence[str], family: str, seed: int, count: int, tokens: int):
    """Chains that a random model writes under the constraint, finished or not."""
    model = model_named(family, seed % 3)
    ids = [kg.entities.find(topic) for topic in topics]
    graph = TokenisedGraph(kg, model.pieces)
    constraint = ChainConstraint(graph, QueryGraph(kg, collapse=False), ids, model.stop_ids, model.vocabulary)
    tree = Eager(model.tree(model.style.encode(model.pieces, QUESTION, topics)), model.pieces.start[0], 9.0)
    live = ()
    search = sample(tree, constraint, SamplingSettings(count, tokens, temperature=1.0, seed=seed))
    while True:
        try:
            step = next(search)
        except StopIteration as end:
            return [h.state for h in (*live, *end.value)]
        live = step.live


@pytest.mark.parametrize("family", ["qwen2", "bert"])
def test_no_ill_formed_triple_in_thousands(family):
    """Table 3 (b): 0.00 %, for any model; 2,500 triples a family."""
    rng = Random(family)
    count = 0
    for seed in range(30):
        triples = [(rng.choice("abcdefghijkl"), rng.choice("rst"), rng.choice("abcdefghijkl")) for _ in range(30)]
        kg = KnowledgeGraph.from_triples(triples)
        verifier, topics = Verifier(kg), [triples[0][0], triples[1][2]]
        for state in sampled_chains(kg, topics, family, seed, count=32, tokens=140):
            chain = [triple for link in state.links for triple in labels_of(kg, link)]
            assert not ill_formed(chain, topics, verifier)
            assert len(set(chain)) == len(chain), "a triple is used once"
            count += len(chain)
        if count >= 2500:
            break
    assert count >= 2500


@settings(max_examples=25, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), seed=st.integers(0, 9))
def test_chains_over_nasty_labels_are_well_formed(triples, family, seed):
    kg = KnowledgeGraph.from_triples(triples)
    topics = [triples[0][0]]
    for state in sampled_chains(kg, topics, family, seed, count=4, tokens=50):
        chain = [triple for link in state.links for triple in labels_of(kg, link)]
        assert not ill_formed(chain, topics, Verifier(kg))


def test_without_the_constraint_most_triples_are_ill():
    world = film_world()
    model = world.model
    tree = Eager(model.tree(model.style.encode(model.pieces, QUESTION, ["Inception"])), model.pieces.start[0], 6.0)
    steps, _ = finish(sample(tree, FreeText(model.pieces.end), SamplingSettings(20, 60, temperature=1.0)))
    texts = [model.pieces.tokenizer.decode(list(h.tokens)) for h in (*steps[-1].live, *steps[-1].finished)]
    spans = [span for text in texts for span in text.split(PATH_START) if span]
    assert sum(world.verifier.verify_text(span)[1].faithful for span in spans) < 0.05 * len(spans)


def test_the_mark_may_not_be_written_when_no_triple_is_left():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    model = model_named("qwen2", 0)
    query = QueryGraph(kg)
    constraint = ChainConstraint(
        TokenisedGraph(kg, model.pieces), query, [kg.entities.find("a")], model.stop_ids, model.vocabulary
    )
    (link,) = query.links([kg.entities.find("a")])
    done = constraint.start().grown(link)
    assert done.alive
    assert model.pieces.start[0] not in constraint.successors(done).tokens.tolist()
    assert not constraint.trie(done).start().alive


def test_ill_formed_counts_both_properties():
    verifier = Verifier(KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c"), ("x", "r", "y")]))
    good, apart, invented = ("b", "r", "c"), ("x", "r", "y"), ("a", "r", "c")
    assert ill_formed([("a", "r", "b"), good, apart, invented], ["a"], verifier) == [apart, invented]
    assert ill_formed([good, ("a", "r", "b")], ["c"], verifier) == [], "from the tail as well"
    assert ill_formed([good], ["a"], verifier) == [good], "nothing has reached b yet"


# searches behind text ----------------------------------------------------------------------------


def test_a_search_behind_text_is_a_search_in_a_longer_prompt():
    model = model_named("qwen2", 1)
    prompt = tuple(model.style.encode(model.pieces, QUESTION, ["Inception"]))
    behind = tuple(model.pieces.plain(" Inception -> directed by"))
    writer = Writer(model.tree(prompt))
    constraint = FreeText(model.pieces.end)
    there, _ = finish(beam_search(writer.behind(behind), constraint, BeamSettings(3, 5)))
    anew, _ = finish(beam_search(model.tree((*prompt, *behind)), constraint, BeamSettings(3, 5)))
    for left, right in zip(there, anew, strict=True):
        assert [h.tokens for h in left.live] == [h.tokens for h in right.live]
        assert [h.score for h in left.live] == pytest.approx([h.score for h in right.live], abs=1e-3)
    assert writer.at(behind).node != PROMPT_END
    assert writer.at(()).node == PROMPT_END


def test_greedy_search_takes_the_most_probable_allowed_token():
    model = model_named("gpt2", 1)
    prompt = model.style.encode(model.pieces, QUESTION, ["Inception"])
    _, written = finish(greedy_search(model.tree(prompt), FreeText(model.pieces.end), 6))
    ids = list(prompt)
    for token in written.tokens:
        with torch.inference_mode():
            logits = model.model(input_ids=torch.tensor([ids]), use_cache=False).logits
        assert token == int(logits[0, -1].argmax())
        ids.append(token)
    assert len(written.tokens) == 6
    assert not written.state.complete


# the question's graph ----------------------------------------------------------------------------


def test_the_questions_graph_is_small_and_connected():
    rng = Random(1)
    triples = [("Inception", f"relation {i}", f"thing {i}") for i in range(300)]
    triples += [(f"thing {i}", "born in", f"place {i}") for i in range(300)]
    triples += [("thing 7", "directed by", "Christopher Nolan")]
    rng.shuffle(triples)
    kg = KnowledgeGraph.from_triples(triples)
    topic = kg.entities.find("Inception")
    pool = question_graph("Who directed thing 7?", [topic], QueryGraph(kg), LabelIndex(SpellingEmbedder()), 2, 40)
    assert 30 < len(pool) <= 40
    assert len(set(pool)) == len(pool)
    reached, left = {topic}, list(pool)
    while left:
        near = [t for t in left if reached & {t[0], t[2]}]
        assert near, "every triple hangs together with the topic"
        reached |= {e for t in near for e in (t[0], t[2])}
        left = [t for t in left if t not in near]
    assert kg.entities.find("Christopher Nolan") in reached


# the method --------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=[("path", "qwen2"), ("chain", "qwen2"), ("path", "bert"), ("chain", "bert")])
def ran(request):
    script, family = request.param
    world = film_world(family=family)
    dog = DogSettings(script=script, free_tokens=6, width=3)
    return list(run(QUESTION, ["Inception"], world, Settings(method="dog", beams=5, explain=2), dog)), world


def test_a_run_ends_in_an_answer_from_verified_paths(ran):
    events, _ = ran
    found = {e.index: e.path for e in of(events, PathFound) if e.constrained}
    verdicts = {e.index: e.verdict for e in of(events, PathVerified) if e.constrained}
    assert found
    assert set(verdicts) == set(found)
    assert all(verdict.faithful for verdict in verdicts.values())
    assert len(set(found.values())) == len(found)
    assert all(path.entities[0] == "Inception" for path in found.values())
    assert isinstance(events[-1], AnswerFinal)
    assert events[-1].answers
    assert [from_json(to_json(event)) for event in events] == events


def test_the_triple_level_search_is_told_as_a_tree(ran):
    events, world = ran
    known: dict[int, Thought] = {}
    for thought in of(events, Thought):
        assert set(thought.parents) <= set(known)
        assert thought.id == len(known) + 1
        known[thought.id] = thought
        assert all(world.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)
        assert (thought.fate == "pruned") == bool(thought.reason)
    scores = {t.id: t.score for t in known.values() if t.kind == "thought"}
    for thought in known.values():
        if thought.kind == "thought" and thought.parents:
            assert thought.score <= scores[thought.parents[0]], "chain scores only fall"
    kept = [t for t in known.values() if t.fate == "kept"]
    assert len(kept) < len([t for t in known.values() if t.kind == "thought"]) or len(kept) <= 3


def test_steps_and_beams_never_repeat(ran):
    steps = [e for e in of(ran[0], DecodeStep) if e.constrained]
    assert [step.number for step in steps] == sorted({step.number for step in steps})
    watched = [beam for step in steps for beam in step.watched if beam.masked]
    assert any(masked.reason for beam in watched for masked in beam.masked)
    parents = {choice.beam: choice.parent for step in steps for choice in step.choices}
    for beam in parents:
        seen = set()
        while beam in parents and beam not in seen:
            seen.add(beam)
            beam = parents[beam]
        assert beam not in seen, "a beam is not its own ancestor"


def test_the_unconstrained_branch_is_judged_too(ran):
    events, _ = ran
    free = [e for e in of(events, PathVerified) if not e.constrained]
    assert not any(e.verdict.faithful for e in free), "random models make everything up"
    assert any("without the constraint" in call.purpose for call in of(events, LMCall))


def path_labels(path: Path) -> list[str]:
    """A path as alternating labels."""
    return [path.entities[0], *(label for _, relation, tail in path.hops for label in (relation, tail))]


def test_the_score_of_a_chain_is_its_full_vocabulary_probability():
    """Equation 3 and the chain score of two triples in a row, computed again by one plain forward pass."""
    world = film_world()
    model, pieces = world.model, world.model.pieces
    options = Settings(method="dog", beams=20, compare=False, ranking="path")
    events = list(run(QUESTION, ["Inception"], world, options, DogSettings(width=4, steps=2, script="path")))
    prompt = model.style.encode(pieces, QUESTION, ["Inception"])
    long = [e for e in of(events, PathFound) if len(e.path.relations) == 2]
    assert long
    for found in long:
        ids = torch.tensor([[*prompt, *spelled(pieces, path_labels(found.path))]])
        assert found.score == pytest.approx(plain_score(model, ids, len(prompt)), abs=1e-3)


def test_a_wide_search_finds_the_most_probable_chain():
    """Algorithm 1 with beams wider than the graph is exhaustive, so it must agree with brute force."""
    triples = [
        ("Inception", "part of", "New"),
        ("New", "is", "New York"),
        ("words", "in", "Inception"),
        ("New", "in", "of"),
    ]
    world = film_world(triples=triples)
    model, pieces = world.model, world.model.pieces
    options = Settings(method="dog", beams=20, hops=2, compare=False, ranking="path")
    dog = DogSettings(width=20, steps=2, script="chain", free_tokens=0, visibility=Visibility.FULL)
    events = list(run(QUESTION, ["Inception"], world, options, dog))
    shown = of(events, LMCall)[0].prompt
    prompt = tuple(pieces.special(shown))
    assert pieces.tokenizer.decode(list(prompt)) == shown

    def score(tokens: Sequence[int], start: int) -> float:
        return plain_score(model, torch.tensor([[*prompt, *tokens]]), len(prompt) + start)

    chains: dict[frozenset, float] = {}
    for first in around(triples, {"Inception"}):
        one = spelled(pieces, first)[: -len(pieces.end)]
        begun = (*one, *pieces.end, *pieces.start)
        for second in around(triples, {"Inception", first[0], first[2]}) - {first}:
            two = spelled(pieces, second)[: -len(pieces.end)]
            total = score(one, 0) + score((*begun, *two), len(begun))
            pair = frozenset([first, second])
            chains[pair] = max(chains.get(pair, -np.inf), total)
    last = [t for t in of(events, Thought) if t.kind == "thought" and t.parents]
    assert sorted(t.score for t in last) == pytest.approx(sorted(chains.values()), abs=2e-3)
    assert max(t.score for t in last) == pytest.approx(max(chains.values()), abs=2e-3)


@pytest.mark.parametrize("ranking", ["path", "relation"])
def test_a_one_triple_chain_scores_like_the_path_it_is(ranking):
    world = film_world()
    model, pieces = world.model, world.model.pieces
    options = Settings(method="dog", beams=9, hops=1, compare=False, ranking=ranking)
    events = list(run(QUESTION, ["Inception"], world, options, DogSettings(width=9, steps=1, script="path")))
    prompt = model.style.encode(pieces, QUESTION, ["Inception"])
    found = of(events, PathFound)
    assert len(found) == len(world.kg.neighbours("Inception"))
    for path in found:
        ids = torch.tensor([[*prompt, *spelled(pieces, path_labels(path.path))]])
        whole = plain_score(model, ids, len(prompt))
        if ranking == "path":
            assert path.score == pytest.approx(whole, abs=1e-3)
        else:
            assert path.score > whole, "names cost less among those that exist"


@pytest.mark.parametrize("script", ["path", "chain"])
@settings(max_examples=15, deadline=None)
@given(triples=graphs(), family=st.sampled_from(["qwen2", "bert"]), width=st.integers(1, 4), directed=st.booleans())
def test_any_graph_gives_verified_paths(script, triples, family, width, directed):
    world = film_world(triples=triples, family=family)
    topics = [triples[0][0], triples[-1][2]]
    options = Settings(method="dog", beams=4, directed=directed, compare=False, explain=0)
    dog = DogSettings(width=width, script=script, free_tokens=0)
    events = list(run(QUESTION, topics, world, options, dog))
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    for thought in of(events, Thought):
        assert all(world.verifier.verify(Path.from_labels(t)).faithful for t in thought.triples)


def test_chains_branch_and_their_paths_start_at_the_topics():
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("c", "r", "b"), ("b", "s", "d"), ("a", "t", "e")])
    ids = {name: kg.entities.find(name) for name in "abcde"}
    query = QueryGraph(kg)
    state = ChainState((ids["a"],))
    for step in (("a", "b"), ("a", "e"), ("b", "d"), ("b", "c")):
        links = query.links(state.visited, state.used)
        state = state.grown(next(x for x in links if (x.first, x.last) == (ids[step[0]], ids[step[1]])))
    paths = paths_of(Chain(state), [ids["a"]])
    readings = [[kg.entities[e] for e in path.entities] for path in paths]
    assert readings == [["a", "b", "c"], ["a", "b", "d"], ["a", "e"]], "the last triple's path first"


@pytest.mark.parametrize("visibility", [Visibility.FULL, Visibility.LOCAL, Visibility.HIDDEN])
def test_the_prompt_shows_as_much_of_the_graph_as_it_should(visibility):
    world = film_world()
    options = Settings(method="dog", beams=3, hops=2, compare=False)
    dog = DogSettings(script="chain", free_tokens=0, visibility=visibility, width=1, steps=2)
    events = list(run(QUESTION, ["Inception"], world, options, dog))
    first, *later = [call.prompt for call in of(events, LMCall) if call.purpose == "triples"]
    near, far = "Inception -> directed by -> Christopher Nolan", "Christopher Nolan -> born in -> London"
    graph = first.rsplit("Graph:", 1)[1]
    assert (near in graph) == (visibility is not Visibility.HIDDEN)
    assert (far in graph) == (visibility is Visibility.FULL)
    assert later
    if visibility is Visibility.LOCAL:
        assert later[0].rsplit("Graph:", 1)[1].count(" | ") > graph.count(" | "), "it grows with the chain"


def test_a_large_graph_is_cut_to_what_the_model_can_read():
    triples = [("Inception", f"relation number {i}", f"some thing {i}") for i in range(400)]
    world = film_world(triples=triples)
    options = Settings(method="dog", beams=2, hops=1, compare=True, explain=0)
    for script in ("chain", "path"):
        dog = DogSettings(script=script, free_tokens=4, triples=300, visibility=Visibility.FULL, width=2, steps=1)
        events = list(run(QUESTION, ["Inception"], world, options, dog))
        calls = [call for call in of(events, LMCall) if call.purpose == "triples"]
        assert calls
        assert all(0 < call.tokens_in + 64 <= world.model.context for call in calls)
        assert of(events, PathFound)


def test_a_question_without_known_topics_is_answered_with_a_refusal():
    events = list(run(QUESTION, ["Nobody"], film_world(), Settings(method="dog", compare=False)))
    assert events[-1].refusal


def test_it_is_registered_and_stops_when_closed():
    assert METHODS["dog"].constrained
    world = film_world()
    events = METHODS["dog"].run(QUESTION, ["Inception"], world, Settings(method="dog"))
    next(events)
    next(events)
    events.close()
    assert list(events) == []


def test_doubt_is_the_same_as_for_gcr():
    world = film_world()
    world.model.style = replace(world.model.style, doubt={"bias": 1.0})
    events = list(run(QUESTION, ["Inception"], world, Settings(method="dog", compare=False)))
    assert "None of these paths" in events[-1].refusal


def test_path_marks_are_what_the_prompts_say():
    world = film_world()
    options = Settings(method="dog", beams=2, compare=False)
    events = list(run(QUESTION, ["Inception"], world, options, DogSettings(script="chain", free_tokens=4)))
    prompt = of(events, LMCall)[0].prompt
    assert prompt.rstrip().endswith(PATH_START)
    assert prompt.count(PATH_END) >= prompt.count(PATH_START) - 2
    assert np.isfinite([e.score for e in of(events, PathFound)]).all()


def test_unknown_scripts_and_endless_questions_are_refused_in_words():
    with pytest.raises(UserError, match="choose auto, path, chain"):
        DogSettings(script="free")
    for script in ("path", "chain"):
        events = run("why " * 2000, ["Inception"], film_world(), Settings(method="dog"), DogSettings(script=script))
        with pytest.raises(UserError, match="too long"):
            list(events)
