"""Words and names: spelt alike whoever wrote them, and found whole, in part and misspelt."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.linking.matching import CUT, WORD_CUT, FuzzyNames, Matcher, MatchKind, likeness_of
from kgdemo.linking.names import (
    NameIndex,
    bracket_of,
    initials_of,
    name_index,
    numbered_forms,
    shorter_forms,
    without_bracket,
)
from kgdemo.linking.words import name_words, ordinary_words, words_of


@pytest.mark.parametrize(
    ("name", "typed"),
    [
        ("U.S.", "us"),
        ("J. R. R. Tolkien", "jrr tolkien"),
        ("J.J. Abrams", "j j abrams"),
        ("James K. Polk", "james k polk"),
        ("Schindler's List", "schindlers list"),
        ("Schindler’s List", "schindler's list"),
        ("Thelma & Louise", "thelma and louise"),
        ("Beyoncé", "BEYONCE"),
        ("AC/DC", "ac dc"),
        ("Straße", "strasse"),
        ("C++", "c++"),
    ],
)
def test_two_spellings_of_one_name(name: str, typed: str):
    assert name_words(name) == name_words(typed)


@given(st.text(st.sampled_from("abIXé3 .,-_'’&+#~ſ\x1c") | st.characters(), max_size=20))
def test_names_are_spelt_as_they_stand_in_a_question(name: str):
    assert list(name_words(name)) == [word.keys[0] for word in words_of(name)]
    assert not any(letter.isspace() for word in name_words(name) for letter in word)


@pytest.mark.parametrize(("one", "other"), [("C++", "C"), ("C#", "C"), ("Malcolm X a", "Malcolm Xa"), ("it", "its")])
def test_different_names_stay_different(one: str, other: str):
    assert name_words(one) != name_words(other)


def test_a_number_of_a_name_is_also_said():
    assert list(numbered_forms("Henry VIII")) == ["Henry the eighth", "Henry the 8th"]
    assert list(numbered_forms("Catherine II")) == ["Catherine the second", "Catherine the 2nd"]
    assert not [*numbered_forms("Malcolm X a"), *numbered_forms("X"), *numbered_forms("Henry viii")]
    graph = KnowledgeGraph.from_triples([("Elizabeth I", "child of", "Henry VIII")])
    assert [name.entity for name in NameIndex(graph).whole("elizabeththefirst")] == [graph.entities.find("Elizabeth I")]


def test_words_know_their_place_and_their_possessive():
    text = "Is Obama's  wife from the U.S.?"
    words = words_of(text)
    assert [text[word.start : word.end] for word in words] == ["Is", "Obama", "wife", "from", "the", "U.S."]
    assert words[1].keys[:2] == ("obamas", "obama")
    assert words[1].owns
    assert not words[2].owns


@pytest.mark.parametrize(
    ("text", "ordinary"),
    [("tell us more", True), ("in the us", False), ("U.S.", False), ("what", True), ("Obama", False)],
)
def test_ordinary_words_depend_on_how_they_are_written(text: str, ordinary: bool):
    words = {word.key: word for word in words_of(text)}
    word = words.get("us") or words_of(text)[0]
    assert word.ordinary is ordinary


def test_the_list_of_ordinary_words_is_folded():
    assert all(name_words(word) == (word,) for word in ordinary_words())


@pytest.mark.parametrize(
    ("label", "plain", "bracket"),
    [
        ("Fargo (film)", "Fargo", "film"),
        ("John Adams (President (1797–1801))", "John Adams", "President (1797–1801"),
        ("(I Can't Get No) Satisfaction", "(I Can't Get No) Satisfaction", ""),
        ("(x)", "(x)", ""),
        (")", ")", ""),
        ("a)", "a)", ""),
    ],
)
def test_brackets(label: str, plain: str, bracket: str):
    assert without_bracket(label) == plain
    assert bracket_of(label) == bracket


def test_shorter_forms_and_initials():
    assert list(shorter_forms("Paris, Texas")) == ["Paris"]
    assert list(shorter_forms("Star Wars: A New Hope")) == ["Star Wars", "A New Hope"]
    assert list(shorter_forms("Sony Corporation")) == ["Sony"]
    assert initials_of("University of California, Los Angeles") == "ucla"
    assert initials_of("National Football League") == "nfl"
    assert initials_of("General Motors") == ""
    assert initials_of("Gone with the wind") == ""


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("usa", "United States of America"),  # an alias of the list
        ("UNO", "UNO"),  # a label
        ("nfl", "National Football League"),  # nothing is called so
    ],
)
def test_initials_name_nothing_where_something_is_called_so(text: str, meant: str):
    labels = ["United States of America", "Union of South Africa", "UNO", "Union of Nordic Owners"]
    kg = KnowledgeGraph.from_triples([(label, "is", "known") for label in (*labels, "National Football League")])
    assert {kg.entities[name.entity] for name in NameIndex(kg).called(text)} == {meant}


KG = KnowledgeGraph.from_triples(
    [
        ("Barack Obama", "born in", "Hawaii"),
        ("Barack Obama", "spouse", "Michelle Obama"),
        ("City of Angels", "starring", "Meg Ryan"),
        ("Los Angeles", "located in", "United States of America"),
        ("Germany", "language", "German language"),
        ("UK £", "currency of", "United Kingdom"),
        ("Turkish language", "family", "Irish"),
        ("Auburn University", "located in", "Alabama (state)"),
        ("University of Hamburg", "located in", "Germany"),
    ]
)


@pytest.fixture(scope="module")
def index() -> NameIndex:
    return name_index(KG)


def called(index: NameIndex, words: str) -> list[str]:
    return [KG.entities[name.entity] for name in index.whole(words)]


def test_other_names_and_demonyms(index: NameIndex):
    assert called(index, "usa")[0] == "United States of America"
    assert called(index, "american") == ["United States of America"]
    assert called(index, "german") == ["Germany"]
    assert called(index, "uk")[0] in ("United Kingdom", "UK £")
    assert "United Kingdom" in called(index, "uk")
    assert called(index, "cityofangels")[0] == "City of Angels"
    assert called(index, "losangeles") == ["Los Angeles"], "a film does not take the city's name"


def test_names_are_held_by_degree_and_without_brackets(index: NameIndex):
    holders = [index.name(i).words for i in index.holding("obama", 9)]
    assert holders == [("barack", "obama"), ("michelle", "obama")]
    assert not index.holding("state", 9)
    assert index.rarity("obama") < index.rarity("barack") < index.rarity("unheard") == 1


def matched(index: NameIndex, text: str) -> set[tuple[str, str, MatchKind]]:
    words = words_of(text)
    return {
        (" ".join(word.key for word in words[m.first : m.last]), KG.entities[m.name.entity], m.kind)
        for m in Matcher(index).find(words)
    }


def test_matching(index: NameIndex):
    found = matched(index, "where did obama's wife go to school")
    assert ("obamas", "Barack Obama", MatchKind.PART) in found
    assert ("university of auburn", "Auburn University", MatchKind.PART) in matched(index, "university of auburn")
    assert ("barak obama", "Barack Obama", MatchKind.PART) in matched(index, "barak obama"), "a word is put right"
    assert ("hamburg obama", "Barack Obama", MatchKind.PART) not in matched(index, "hamburg obama")
    assert ("germny", "Germany", MatchKind.FUZZY) in matched(index, "germny")
    assert ("losangeles", "Los Angeles", MatchKind.WHOLE) in matched(index, "losangeles")


WORDS = st.lists(st.text("abcé", min_size=1, max_size=4), min_size=1, max_size=3)


@given(st.lists(WORDS, min_size=1, max_size=6, unique_by=" ".join), WORDS)
def test_the_nearest_names_are_among_all_that_begin_so_or_are_so_long(labels: list[list[str]], typed: list[str]):
    kg = KnowledgeGraph.from_triples([(" ".join(label), "is", "known") for label in labels])
    index = NameIndex(kg)
    text = " ".join(typed)
    alike = {
        name
        for name in map(index.name, range(len(index.texts)))
        if {name.words[0][0], name.words[-1][0]} & {typed[0][0], typed[-1][0]}
        and abs(len(" ".join(name.words)) - len(text)) <= max(1, round(len(text) * 0.18))
        and fuzz.ratio(text, " ".join(name.words)) >= CUT
        and likeness_of(typed, name.words) >= (WORD_CUT / 100 if len(text) > 6 else 0)
    }
    found = {name for name, _ in FuzzyNames(index).nearest(typed, limit=99)}
    assert alike <= found
    assert len(text) <= 6 or found == alike


def test_no_slip_is_seen_where_a_word_is_right(index: NameIndex):
    assert not any(entity == "Turkish language" for _, entity, _ in matched(index, "irish language"))
    found = matched(index, "university of auburn")
    assert not any(entity == "University of Hamburg" and kind is MatchKind.FUZZY for _, entity, kind in found)


def test_what_a_word_means_is_the_name_of_nothing():
    info = {"loud": EntityInfo("meaning", ("with force",)), "forte": EntityInfo("symbol")}
    index = NameIndex(KnowledgeGraph.from_triples([("forte", "means", "loud")], info=info))
    assert index.called("forte")
    assert not index.called("loud")
    assert not index.called("with force")


@pytest.mark.parametrize("typed", ["summer games maraton", "sumer games marathon"])
def test_another_year_is_no_slip(typed: str):
    names = ("1924 Summer Games Marathon", "1948 Summer Games Marathon")
    matcher = Matcher(NameIndex(KnowledgeGraph.from_triples([(name, "won by", "somebody") for name in names])))
    found = {
        year: {match.name.words[0] for match in matcher.find(words_of(f"{year} {typed}"))} for year in (1944, 1948)
    }
    assert found == {1944: set(), 1948: {"1948"}}
    assert {match.name.words[0] for match in matcher.find(words_of(typed))} == {"1924", "1948"}
