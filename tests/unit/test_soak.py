"""The soak finds no fault in the engine, and finds each kind of fault where there is one."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kgdemo.__main__ import main
from kgdemo.decoding.base import Hypothesis
from kgdemo.kg.graph import KnowledgeGraph, Triple
from kgdemo.kg.path import Path, PathIds
from kgdemo.lab.benchmarks import soak as soak_module
from kgdemo.lab.benchmarks.soak import (
    FAMILIES,
    SEARCHES,
    Lines,
    TableTree,
    Tally,
    byte_level_tokenizer,
    draw,
    judge,
    run,
    soak,
    wordpiece_tokenizer,
)
from kgdemo.models.base import PROMPT_END, extend_chain


def test_the_first_decodes_are_without_a_fault():
    tally = Tally()
    assert list(soak(60, 0, tally)) == list(range(60))
    assert tally.decodes == 60
    assert tally.paths > 60
    assert not tally.faults, tally.seeds


def test_a_seed_is_the_same_case_again_and_all_kinds_come_by():
    cases = [draw(seed) for seed in range(400)]
    assert cases == [draw(seed) for seed in range(400)]
    assert {case.search for case in cases} == set(SEARCHES)
    assert {case.family for case in cases} == {"", *FAMILIES}
    for kind in ("directed", "enumerated", "hops", "groups"):
        assert len({getattr(case, kind) for case in cases}) > 1
    assert {case.limits.look_ahead for case in cases} == {None, 0, 8, 48}


def test_a_seed_spells_its_labels_alike_in_every_process():
    vocabulary = wordpiece_tokenizer().get_vocab()
    by_number = sorted(vocabulary, key=vocabulary.__getitem__)
    pieces = by_number[by_number.index("[PAD]") + 1 : by_number.index("<PATH>")]
    assert len(pieces) > 100
    assert pieces == sorted(pieces)  # a trainer that breaks ties by chance numbers them by chance


class Decode:
    """One whole decode, to be spoilt."""

    def __init__(self) -> None:
        plain = (
            case
            for case in map(draw, range(1000))
            if case.search == "beam" and not case.family and case.limits.max_tokens > 100
        )
        for self.case in plain:
            self.kg = KnowledgeGraph.from_triples(self.case.triples)
            self.label_tokens = soak_module._parts(self.case.weights % 2 == 1)
            self.finished = list(run(self.case, self.kg, self.label_tokens))
            if len(self.finished) == self.case.limits.beams > 2:
                break

    def tally(self, finished: list[Hypothesis], kg: KnowledgeGraph | None = None) -> Tally:
        """What is counted when this was found."""
        tally = Tally()
        judge(self.case, kg or self.kg, self.label_tokens, finished, tally)
        return tally


class Spoilt:
    """A state whose path is another."""

    complete, alive = True, False

    def __init__(self, path: PathIds) -> None:
        self.paths = [path]


def test_what_is_whole_has_no_fault():
    decode = Decode()
    assert decode.tally(decode.finished).faults == 0


def test_each_fault_is_counted():
    decode = Decode()
    first, *rest = decode.finished
    path = first.state.paths[0]
    assert decode.tally([*decode.finished, first]).duplicate == 1
    assert decode.tally(rest[:1]).missing >= 1
    assert decode.tally([replace(first, tokens=first.tokens[:-1]), *rest]).unclosed == 1
    assert decode.tally([replace(first, tokens=(1, *first.tokens)), *rest]).misspelled == len(first.state.paths)
    absent = next(
        step
        for step in range(len(decode.kg.step_labels))
        if decode.kg.entities[path.entities[1]]
        not in [
            e for r, e in decode.kg.neighbours(decode.kg.entities[path.entities[0]]) if r == decode.kg.step_labels[step]
        ]
    )
    invented = Spoilt(PathIds(path.entities, (absent, *path.steps[1:])))
    assert decode.tally([replace(first, state=invented), *rest]).unverified == 1


def test_what_a_reader_loses_or_makes_up_is_counted():
    decode = Decode()
    triples = (("a", "born in", "b"), ("a", "part of", "New York"))
    limits = replace(decode.case.limits, beams=6)
    decode.case = replace(decode.case, triples=triples, topics=("a",), hops=1, limits=limits)

    def tally(read: tuple[Triple, ...]) -> Tally:
        kg = KnowledgeGraph.from_triples(read)
        return decode.tally(list(run(decode.case, kg, decode.label_tokens)), kg)

    assert tally(triples).faults == 0
    assert tally(triples[:1]).missing == 1
    assert tally((*triples, ("a", "made up", "b"))).unverified == 1


def test_lines_read_a_relation_from_both_ends_and_tell_tildes_apart():
    case = replace(draw(0), triples=(("a", "part", "b"), ("a", "~part", "c"), ("c", "born in", "c")))
    both, forth = Lines(case.lines, directed=False), Lines(case.lines, directed=True)
    assert set(both.walks("b", 2)) == {
        ("b", "~~part", "a"),
        ("b", "~~part", "a", "part", "b"),
        ("b", "~~part", "a", "~part", "c"),
    }
    assert both.states(Path(("c", "a"), ("~~~part",)))
    assert not both.states(Path(("b", "a"), ("~part",)))
    assert list(forth.walks("b", 2)) == []
    assert set(forth.walks("c", 1)) == {("c", "born in", "c")}
    assert not forth.states(Path(("b", "a"), ("~~part",)))


def test_a_decode_that_breaks_off_names_its_seed(monkeypatch):
    monkeypatch.setattr(soak_module, "run", lambda *_: 1 / 0)
    with pytest.raises(RuntimeError, match="seed 7"):
        list(soak(3, 7, Tally()))


def test_the_command_tells_the_counts(capsys, monkeypatch):
    assert main(["bench", "soak", "--decodes", "5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["decodes"] == 5
    assert told["unverified"] == told["missing"] == told["misspelled"] == told["duplicate"] == told["unclosed"] == 0
    assert main(["bench", "soak", "--decodes", "2", "--seed", "3"]) == 0
    assert "no faults" in capsys.readouterr().out
    monkeypatch.setattr(soak_module, "run", lambda *_: [])
    assert main(["bench", "soak", "--decodes", "9"]) == 1
    assert "seeds of the faults" in capsys.readouterr().out


def test_a_table_answers_as_a_model_does():
    size = len(byte_level_tokenizer())
    concurrently, apart = TableTree(size, 3), TableTree(size, 3)
    nodes, rows = concurrently.extend([PROMPT_END, 0, PROMPT_END], [5, 6, 5])  # a parent may stand in the same call
    assert nodes == [0, 1, 2]
    (one,), first = apart.extend([PROMPT_END], [5])
    _, second = apart.extend([one], [6])
    assert rows.tolist() == [first[0].tolist(), second[0].tolist(), first[0].tolist()]
    _, last = extend_chain(TableTree(size, 3), PROMPT_END, [5, 6])
    assert last.tolist() == second[0].tolist()
    assert last.exp().sum().item() == pytest.approx(1.0, abs=1e-4)
    assert TableTree(size, 4).prompt_log_probs().tolist() != apart.prompt_log_probs().tolist()
