"""The verifier against a plain set of triples read off raw lines, and its verdicts one by one."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import defaultdict
from itertools import permutations
from pathlib import Path as FilePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgdemo.kg
from kgdemo.errors import GraphFormatError
from kgdemo.facts import Facts, SavedFacts, StatedFacts, backward_labels, tsv_triples
from kgdemo.kg.graph import inverse_step_labels
from kgdemo.kg.io.catalogue import embedded_names, open_facts, open_graph
from kgdemo.kg.io.formats import read_triples
from kgdemo.kg.labels import fold
from kgdemo.kg.path import Path
from kgdemo.verify import HopVerdict, Verifier, spelling_key
from tests.helpers.oracles import backwards
from tests.helpers.strategies import graphs, labels, relations

TRIPLES = [
    ("Inception", "directed by", "Christopher Nolan"),
    ("Christopher Nolan", "born in", "London"),
    ("Guns -> Roses", "part of", "a -> b -> c"),
    ("Österreich", "/location/country/capital", "Wien"),
    ("Socrates", "teacher of", "Plato"),
    ("Sócrates", "played for", "Corinthians"),
    ("C", "older than", "C++"),
    ("C#", "by", "Microsoft"),
    ("5", "is", "odd"),
    ("x²", "is", "square"),
    ("ハス", "is", "lotus"),
    ("😀", "is", "glad"),
    ("yin", "~part", "yang"),
    ("wheel", "part", "car"),
    ("Bob", "says", "Paris -> capital of -> Spain"),
    ("Paris", "capital of", "France"),
    ("Spain", "borders", "France"),
]
VERIFIER = Verifier(StatedFacts(TRIPLES, {"directed by": "directed"}))


@settings(max_examples=300, deadline=None)
@given(triples=graphs(), head=labels, relation=relations, tail=labels, data=st.data())
def test_a_hop_is_ok_exactly_when_its_triple_is_stated(triples, head, relation, tail, data):
    names = {r for _, r, _ in triples}
    if data.draw(st.booleans()):
        head, relation, tail = data.draw(st.sampled_from(triples))
        if data.draw(st.booleans()):
            head, relation, tail = tail, backwards(relation, names), head
    expected = (head, relation, tail) in triples or any(
        backwards(name, names) == relation and (tail, name, head) in triples for name in names
    )
    verdict = Verifier(StatedFacts(triples)).verify(Path((head, tail), (relation,)))
    assert verdict.faithful == expected
    assert (verdict.hops[0].verdict is HopVerdict.OK) == expected


@pytest.mark.parametrize(
    ("text", "verdicts"),
    [
        ("Inception -> directed by -> Christopher Nolan -> born in -> London", ["ok", "ok"]),
        ("Christopher Nolan -> directed -> Inception", ["ok"]),
        ("Christopher Nolan -> ~directed by -> Inception", ["ok"]),
        ("inception → DIRECTED BY → christopher nolan -> born in -> London", ["matched", "matched"]),
        ("Christopher Nolan -> directed by -> Inception", ["edge runs the other way"]),
        ("christopher nolan -> directed by -> inception", ["edge runs the other way"]),
        ("Inception -> directed by -> London", ["no such edge"]),
        ("Inception -> directed by -> Steven Spielberg -> born in -> London", ["unknown entity", "unknown entity"]),
        ("Inception -> director place -> London", ["unknown relation"]),
        ("<PATH> osterreich -> location country capital -> wien </PATH>", ["matched"]),
        ("Inception -> directed by", ["malformed"]),
        ("Inception", ["malformed"]),
        ("", ["malformed"]),
        ("-> ->", ["malformed"]),
        # an exact label is never overridden, and a name that two labels could be meant by means neither
        ("Socrates -> played for -> Corinthians", ["no such edge"]),
        ("Sócrates -> played for -> Corinthians", ["ok"]),
        ("socrates -> played for -> Corinthians", ["ambiguous name"]),
        # what tells names apart is kept
        ("C -> by -> Microsoft", ["no such edge"]),
        ("C++ -> by -> Microsoft", ["no such edge"]),
        ("c # -> by -> microsoft", ["matched"]),
        ("-5 -> is -> odd", ["unknown entity"]),
        ("−5 -> is -> odd", ["unknown entity"]),
        ("x2 -> is -> square", ["unknown entity"]),
        ("バス -> is -> lotus", ["unknown entity"]),
        ("😡 -> is -> glad", ["unknown entity"]),
        # the relation ~part, and part walked backwards
        ("yin -> ~part -> yang", ["ok"]),
        ("car -> ~part -> wheel", ["no such edge"]),
        ("car -> ~~part -> wheel", ["ok"]),
        ("yang -> ~~part -> yin", ["no such edge"]),
        ("yang -> ~~~part -> yin", ["ok"]),
        # arrows in labels
        ("Guns -> Roses -> part of -> a -> b -> c", ["ok"]),
        ("guns → roses -> part of -> A -> b -> c", ["matched"]),
        ("Guns -> Roses -> part of -> a -> b", ["unknown entity", "unknown entity"]),
        ("Bob -> says -> Paris -> capital of -> Spain", ["ambiguous name"]),
        ("Paris -> capital of -> Spain", ["no such edge"]),
    ],
)
def test_verdict_of_text(text, verdicts):
    _, verdict = VERIFIER.verify_text(text)
    assert [hop.verdict.value for hop in verdict.hops] == verdicts
    assert verdict.faithful == (set(verdicts) <= {"ok", "matched"})


FAMILY = [
    ("The Magic Flute", "composed by", "Mozart"),
    ("Austria", "capital", "Vienna"),
    ("Leopold", "child", "Mozart"),
    ("Mozart", "child", "Karl"),
    ("Mozart", "born in year", "1756"),
]


@pytest.mark.parametrize(
    ("text", "restates"),
    [
        ("Mozart -> composed by -> The Magic Flute", FAMILY[0]),  # a work composes nobody: it cannot be meant so
        ("The Magic Flute -> composer -> Mozart", FAMILY[0]),
        ("the magic flute -> person who composed -> mozart", FAMILY[0]),
        ("Vienna -> country whose capital is -> Austria", FAMILY[1]),
        ("Austria -> location.country.capital -> Vienna", FAMILY[1]),
        ("Leopold -> people person children -> Mozart", None),  # the stems differ
        ("Leopold -> their child -> Mozart", FAMILY[2]),
        ("Leopold -> is the child of -> Mozart", None),  # says the contrary
        ("Mozart -> child -> Leopold", None),
        ("Mozart -> is -> 1756", None),
        ("Mozart -> year -> 1756", None),  # says less than the edge
        ("Mozart -> composed by -> Leopold", None),
        ("The Magic Flute -> composer -> Leopold", None),
        ("The Magic Flute -> composed by -> Mozart", None),  # says it in the graph's own words
    ],
)
def test_a_hop_in_other_words_names_its_edge(text, restates):
    _, verdict = Verifier(StatedFacts(FAMILY)).verify_text(text)
    assert verdict.hops[0].restates == restates
    assert verdict.faithful == (restates is None and text.endswith("composed by -> Mozart"))


@settings(max_examples=200, deadline=None)
@given(triples=graphs(), head=labels, relation=relations, tail=labels)
def test_only_stated_edges_between_the_same_two_entities_are_restated(triples, head, relation, tail):
    hop = Verifier(StatedFacts(triples)).verify(Path((head, tail), (relation,))).hops[0]
    if hop.restates is not None:
        assert not hop.verdict.holds
        assert hop.restates in triples
        assert {hop.restates[0], hop.restates[2]} == {head, tail}


@settings(max_examples=100, deadline=None)
@given(triples=graphs())
def test_distinct_ends_are_those_of_a_plain_set(triples):
    facts = StatedFacts(triples)
    for relation in facts.relations:
        heads = {h for h, r, _ in triples if r == relation}
        assert facts.has_distinct_ends(relation) == heads.isdisjoint({t for _, r, t in triples if r == relation})


def test_written_text_is_given_back_in_the_graphs_spelling():
    path, verdict = VERIFIER.verify_text("osterreich -> location country capital -> WIEN")
    assert path == Path(("Österreich", "Wien"), ("/location/country/capital",))
    assert (verdict.hops[0].head, verdict.hops[0].tail) == path.entities


@pytest.mark.parametrize(("answer", "on_path"), [("london", True), ("Paris", False), ("Rome", False), (None, None)])
def test_answer_on_path(answer, on_path):
    _, verdict = VERIFIER.verify_text("Christopher Nolan -> born in -> London", answer)
    assert verdict.answer_on_path is on_path


def test_an_answer_that_is_another_label_is_not_on_the_path():
    path = Path(("C", "C++"), ("older than",))
    assert VERIFIER.verify(path, "c ++").answer_on_path
    assert not VERIFIER.verify(path, "C#").answer_on_path
    assert not VERIFIER.verify(Path(("Sócrates", "Corinthians"), ("played for",)), "Socrates").answer_on_path


def test_hostile_text_ends_soon():
    facts = StatedFacts([("a", "a", "a"), ("a -> a", "a -> a", "a -> a")])
    _, verdict = Verifier(facts).verify_text(" -> ".join(["a"] * 61) + " -> zzz")
    assert not verdict.faithful
    _, verdict = Verifier(facts).verify_text(" -> ".join(["a"] * 61))
    assert [hop.verdict for hop in verdict.hops] == [HopVerdict.AMBIGUOUS]


@pytest.mark.parametrize(
    "alike",
    [
        ("Élan Vital!", "elan vital"),
        ("a_b/c", "A B c"),
        ("Ἀθήνα", "αθηνα"),
        ("Ёлка", "елка"),
        ("Straße", "STRASSE"),
        ("C++", "c + +"),
        ("-5 °C", "−5 °c"),
        ("1990–1995", "1990 - 1995"),
        ("3.5", "3 . 5"),
        ("e\u0301", "é"),
    ],
)
def test_spellings_of_one_name(alike):
    assert len(set(map(spelling_key, alike))) == 1


@pytest.mark.parametrize(
    "different",
    [
        ("C", "C#", "C++", "C+"),
        ("5", "-5", "+5"),
        ("x2", "x²", "x₂"),
        ("バス", "ハス", "パス"),
        ("😀", "😡", "❤", ""),
        ("й", "и"),
        ("कि", "क"),
        ("3.5", "35", "3,5"),
        ("1-5", "15"),
        ("~part", "part"),
        ("=", "≠"),
        ("!", "?", "..."),
        ("a -> b", "a b"),
        ("5⃣", "5"),
        ("A*", "A"),
        ("①", "1"),
        ("\u200b", ""),
    ],
)
def test_names_that_are_told_apart(different):
    assert len(set(map(spelling_key, different))) == len(different)


@settings(max_examples=300, deadline=None)
@given(st.text() | st.text("-.5é\u0301\u3099ハк +#😀"))
def test_the_key_of_any_text_is_that_of_the_same_text_encoded_otherwise(text):
    key = spelling_key(text)
    assert bool(key) == bool(text)
    assert {spelling_key(unicodedata.normalize(form, text)) for form in ("NFC", "NFD")} == {key}


# against what the raw lines say -------------------------------------------------------------------

HOSTILE = (
    "a|A|á|b|a -> b|-> b|b ->|->|a->b|a → b|~a|~~a|C|C#|C++|c++|5|-5|−5|+5|x²|x2|ハス|バス|は\u3099|ば|é|e\u0301|e|"
    "😀|😡|👍🏽|!|?|\u200b|й|и"
).split("|")
names = (
    st.one_of(st.sampled_from(HOSTILE), st.text("abA-> ~é→+#²5.", min_size=1, max_size=6)).map(str.strip).filter(bool)
)


@st.composite
def sources(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Raw lines of a tab-separated file, and the labels that a path on it is written with."""
    entities = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    between = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    triple = st.tuples(st.sampled_from(entities), st.sampled_from(between), st.sampled_from(entities))
    triples = draw(st.lists(triple, min_size=1, max_size=8))
    reversed_hops = [(t, backwards(r, {r for _, r, _ in triples}), h) for h, r, t in triples]
    hops = st.one_of(st.sampled_from(triples), st.sampled_from(reversed_hops), st.tuples(names, names, names))
    first = draw(hops)
    written = [*first, *draw(st.one_of(st.just(()), hops.map(lambda hop: hop[1:])))]
    changed = draw(st.sampled_from([str, str.upper, str.lower, lambda s: unicodedata.normalize("NFD", s)]))
    return ["\t".join(triple) for triple in triples], [changed(label) for label in written]


def said_by(lines: list[str], text: str) -> bool:
    """Whether the lines state every hop of a text: the slow, obvious way, by all ways to cut it at its arrows."""
    triples = {tuple(line.split("\t")) for line in lines}
    entities = {label for h, _, t in triples for label in (h, t)}
    stored = {r for _, r, _ in triples}
    hops = triples | {(t, backwards(r, stored), h) for h, r, t in triples}
    readings = stored | {backwards(r, stored) for r in stored}
    text = text.strip()

    def cuts(begin: int) -> list[list[str]]:
        found = [[text[begin:]]]
        for arrow in ARROWS.finditer(text):
            if arrow.start() >= begin:
                found += [[text[begin : arrow.start()], *rest] for rest in cuts(arrow.end())]
        return found

    def means(label: str, known: set[str]) -> list[str]:
        return [label] if label in known else [k for k in known if spelling_key(k) == spelling_key(label)]

    def meant(cut: list[str], exactly: bool) -> list[list[str]] | None:
        found = [means(label, readings if place % 2 else entities) for place, label in enumerate(cut)]
        if len(cut) < 3 or len(cut) % 2 == 0 or not all(found):
            return None
        return None if exactly and any(label not in found[place] for place, label in enumerate(cut)) else found

    for exactly in (True, False):
        readable = [found for cut in cuts(0) if (found := meant(cut, exactly)) is not None]
        if readable:
            path = [labels[0] for labels in readable[0]]
            sure = len(readable) == 1 and all(len(labels) == 1 for labels in readable[0])
            return sure and all(tuple(path[i : i + 3]) in hops for i in range(0, len(path) - 2, 2))
    return False


ARROWS = re.compile(r"\s*(?:->|→)\s*")


@settings(max_examples=300, deadline=None)
@given(source=sources(), kept=st.integers(0, 4).map(lambda n: n == 4))
def test_text_is_faithful_exactly_when_the_raw_lines_say_so(tmp_path_factory, source, kept):
    lines, written = source
    folder = tmp_path_factory.mktemp("source")
    (folder / "graph.tsv").write_text("\n".join(lines), "utf-8")
    facts: Facts = open_facts(str(folder / "graph.tsv"))
    if kept:
        save_graph(str(folder / "graph.tsv"), folder / "saved")
        facts = open_facts(str(folder / "saved"))
        assert isinstance(facts, SavedFacts)
    text = " -> ".join(written)
    assert Verifier(facts).verify_text(text)[1].faithful == said_by(lines, text)


def save_graph(source: str, folder: FilePath) -> None:
    from kgdemo.kg.io.saved import save

    save(open_graph(source), open_facts(source), folder)


@pytest.mark.parametrize("name", embedded_names())
def test_no_false_claim_about_labels_that_look_alike_passes(name):
    """All facts of each such label, claimed of the others."""
    folder = FilePath(kgdemo.kg.__file__).parent / "data" / name
    files = [f for f in folder.glob("*.tsv") if f.name.count(".") == 1 and f.name != "schema.tsv"]
    triples = {tuple(line.split("\t")) for f in files for line in f.read_text("utf-8").splitlines() if line}
    alike = defaultdict(set)
    for label in {label for h, _, t in triples for label in (h, t)}:
        alike[fold(label)].add(label)
    pairs = [pair for group in alike.values() for pair in permutations(group, 2)]
    assert len(pairs) >= {"world": 18}.get(name, 0)
    about = defaultdict(list)
    for triple in triples:
        about[triple[0]].append(triple)
        about[triple[2]].append(triple)
    verifier, claims = Verifier(open_facts(name)), 0
    for one, other in pairs:
        for fact in about[one]:
            claim = tuple(other if label == one else label for label in fact)
            claims += claim not in triples
            assert verifier.verify_text(" -> ".join(claim))[1].faithful == (claim in triples), claim
            assert verifier.verify_text(" -> ".join(fact))[1].faithful
            lowered = " -> ".join(fact).lower()
            # in small letters one cannot tell two labels that differ by capitals alone
            told_apart = one.islower() or one.lower() != other.lower()
            assert lowered == " -> ".join(fact) or not verifier.verify_text(lowered)[1].faithful or told_apart
    assert claims >= {"world": 90}.get(name, 0)


# the index ----------------------------------------------------------------------------------------


@settings(max_examples=200, deadline=None)
@given(st.sets(st.text("~ab", min_size=1, max_size=5), min_size=1), st.booleans())
def test_both_sides_read_relations_backwards_alike_and_never_as_a_relation(names, schema):
    words = {name: f"{name} backwards" for name in list(names)[:1]} if schema else {}
    readings = dict(zip(names, inverse_step_labels(list(names), words), strict=True))
    assert all(relation in backward_labels(names, words)[reading] for relation, reading in readings.items())
    assert all(words.get(relation) == reading or reading not in names for relation, reading in readings.items())
    assert all(len(walked) == 1 for walked in backward_labels(names, {}).values())


@pytest.mark.parametrize("name", ["g.tsv", "g.txt", "g.tsv.gz"])
def test_both_readers_of_tab_separated_lines_agree(tmp_path, name):
    content = "\ufeff a \tr\tb\r\n\n\x0b\nÖ\u2028x\t~r\t\u200b\n".encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    expected = {("a", "r", "b"), ("Ö\u2028x", "~r", "\u200b")}
    assert set(read_triples(tmp_path / name)) == set(tsv_triples(tmp_path / name)) == expected
    (tmp_path / "cut.tsv").write_text("a\tr\tb\nc\td\n", "utf-8")
    with pytest.raises(GraphFormatError, match="line 2"):
        list(tsv_triples(tmp_path / "cut.tsv"))


def test_a_fault_of_the_arrays_is_seen(tmp_path):
    triples = [("a", "r", "b"), ("b", "r", "c")]
    (tmp_path / "g.tsv").write_text("".join("\t".join(t) + "\n" for t in triples), "utf-8")
    save_graph(str(tmp_path / "g.tsv"), tmp_path / "saved")
    targets = tmp_path / "saved" / "outgoing.targets.npy"
    content = bytearray(targets.read_bytes())
    content[-4] = 0  # b -> r -> a
    targets.write_bytes(content)
    assert ("b", "r", "a") in set(open_graph(str(tmp_path / "saved")).triples())
    verdict = Verifier(open_facts(str(tmp_path / "saved"))).verify(Path(("b", "a"), ("r",)))
    assert not verdict.faithful
