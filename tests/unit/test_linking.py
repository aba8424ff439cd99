"""Questions find their entities: by name, part of a name or typo, and only where an entity is likelier than a word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from kgdemo.kg.edits import ADD, Edit, apply
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.linking.linker import EntityLinker
from kgdemo.models.embedding import SentenceEmbedder, sentence_embedder

HALF = "\ud800"  # of a character

PEOPLE = ["Barack Obama", "Michelle Obama", "James K. Polk", "George Washington", "Abraham Lincoln", "Michael Jordan"]
PEOPLE += ["Steven Spielberg", "James Cameron", "Jane Austen", "Giuseppe Verdi", "Beyoncé", "Tom Hanks", "Meg Ryan"]
TRIPLES = [
    *((person, "occupation", "actor" if person in ("Tom Hanks", "Meg Ryan") else "politician") for person in PEOPLE),
    *((person, "speaks", "English language") for person in PEOPLE),
    ("Barack Obama", "born in", "Honolulu"),
    ("Barack Obama", "spouse", "Michelle Obama"),
    ("Barack Obama", "position held", "President"),
    ("George Washington", "position held", "President"),
    ("Abraham Lincoln", "died in", "Washington, D.C."),
    ("Lincoln (Nebraska)", "located in", "United States of America"),
    ("Lincoln (Nebraska)", "population", "290,000"),
    ("Honolulu", "located in", "United States of America"),
    ("Paris", "located in", "France"),
    ("France", "capital", "Paris"),
    ("France", "official language", "French language"),
    ("Paris (Texas)", "located in", "Texas"),
    ("Texas", "located in", "United States of America"),
    ("Paris (mythology)", "child of", "Priam"),
    ("Georgia (country)", "capital", "Tbilisi"),
    ("Georgia (country)", "continent", "Asia"),
    ("Georgia (U.S. state)", "located in", "United States of America"),
    ("Atlanta", "located in", "Georgia (U.S. state)"),
    ("Jordan", "capital", "Amman"),
    ("Michael Jordan", "played for", "Chicago Bulls"),
    ("Washington (U.S. state)", "located in", "United States of America"),
    ("Washington, D.C.", "located in", "United States of America"),
    ("Titanic (film)", "directed by", "James Cameron"),
    ("Titanic (film)", "starring", "Tom Hanks"),
    ("Titanic (ship)", "sank in year", "1912"),
    ("Jaws", "directed by", "Steven Spielberg"),
    ("Jaws", "genre", "Drama (film genre)"),
    ("Her", "directed by", "Spike Jonze"),
    ("Up", "directed by", "Pete Docter"),
    ("Sleepless in Seattle", "starring", "Tom Hanks"),
    ("Sleepless in Seattle", "starring", "Meg Ryan"),
    ("The Who", "originates from", "United Kingdom"),
    ("Germany", "official language", "German language"),
    ("World War II", "participant", "Germany"),
    ("New York", "located in", "United States of America"),
    ("New York City", "located in", "New York"),
    ("Otello (opera)", "composed by", "Giuseppe Verdi"),
    ("Pride and Prejudice", "author", "Jane Austen"),
    ("C++", "field", "Country"),
    ("Sony Corporation", "industry", "Film"),
]
INFO = {"Beyoncé": EntityInfo("person", ("Queen Bey",), "American singer"), "C++": EntityInfo("language")}


@pytest.fixture(scope="module")
def kg() -> KnowledgeGraph:
    return KnowledgeGraph.from_triples(TRIPLES, "small", info=INFO)


@pytest.fixture(scope="module")
def linker(kg: KnowledgeGraph) -> EntityLinker:
    return EntityLinker(kg)


class WordEmbedder:
    """A fake: a text's vector counts its words, so that texts are alike where they share some."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace("?", "").split():
                row[sum(map(ord, word)) % 64] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("Who was the wife of James K. Polk?", "James K. Polk"),
        ("who was the wife of james k polk", "James K. Polk"),
        ("WHO WAS THE WIFE OF JAMES K. POLK?", "James K. Polk"),
        ("James K. Polk's wife", "James K. Polk"),
        ("who is beyonce married to", "Beyoncé"),
        ("where was queen bey born?", "Beyoncé"),
        ("which films are in the genre drama", "Drama (film genre)"),
        ("who wrote C++?", "C++"),
        ("what is the capital of the U.S.?", "United States of America"),
        ("what time zones are there in the us", "United States of America"),
        ("who speaks french language", "French language"),
    ],
)
def test_whole_names(linker: EntityLinker, question: str, entity: str):
    assert linker.link(question).chosen[:1] == (entity,)


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("where was obama born", "Barack Obama"),
        ("what did president lincoln do", "Abraham Lincoln"),
        ("who was the wife of james polk", "James K. Polk"),
        ("where is sony headquartered", "Sony Corporation"),
        ("what money do germans use", "Germany"),
        ("what films did steven speilberg make", "Steven Spielberg"),
        ("books by jane austin", "Jane Austen"),
        ("operas by verdy", "Giuseppe Verdi"),
    ],
)
def test_parts_of_names_and_typos(linker: EntityLinker, question: str, entity: str):
    assert linker.link(question).chosen[:1] == (entity,)


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("what is the capital of new york city", "New York City"),
        ("what team did michael jordan play for", "Michael Jordan"),
        ("what is the capital of jordan", "Jordan"),
        ("where was george washington born", "George Washington"),
        ("which actor was in Sleepless in Seattle?", "Sleepless in Seattle"),
        ("which English language film did Tom Hanks star in?", "Tom Hanks"),
        ("what did Giuseppe Verdi's Otello win", "Otello (opera)"),
        ("what did germany do during world war ii", "Germany"),
    ],
)
def test_the_longer_and_the_more_specific_name_wins(linker: EntityLinker, question: str, entity: str):
    assert linker.link(question).chosen[0] == entity


@pytest.mark.parametrize(
    "question",
    [
        "who is it?",
        "what did they do to her",
        "how did he grow up",
        "what is the country of the film",
        "who was an actor?",
        "where do people speak a language",
        "what?",
        "",
        "   ",
        "?!…",
    ],
)
def test_plain_words_are_no_entities(linker: EntityLinker, question: str):
    assert linker.link(question).chosen == ()


def test_capitals_tell_a_title_from_a_word(linker: EntityLinker):
    assert linker.link("Who directed Her?").chosen == ("Her",)
    assert linker.link("Who directed Up?").chosen == ("Up",)
    assert linker.link("Which country is The Who from?").chosen == ("The Who",)


def test_several_entities(linker: EntityLinker):
    found = linker.link("Which films star both Tom Hanks and Meg Ryan?")
    assert set(found.chosen) == {"Tom Hanks", "Meg Ryan"}
    assert [mention.text for mention in found.mentions] == ["Tom Hanks", "Meg Ryan"]


def test_mentions_are_places_in_the_question(linker: EntityLinker):
    question = "did  Barack  Obama's wife live in the U.S.?"
    for mention in linker.link(question).mentions:
        assert question[mention.start : mention.end] == mention.text
    assert [mention.text for mention in linker.link(question).mentions][:1] == ["Barack  Obama"]


def test_namesakes_stay_as_candidates(linker: EntityLinker):
    (mention,) = linker.link("what is the capital of georgia?").mentions
    assert {candidate.entity for candidate in mention.candidates} >= {"Georgia (country)", "Georgia (U.S. state)"}
    scores = [candidate.score for candidate in mention.candidates]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 1 for score in scores)
    (mention,) = linker.link("what is the capital of georgia?", max_candidates=1).mentions
    assert len(mention.candidates) == 1


@pytest.mark.parametrize(
    ("question", "entity"),
    [
        ("what is the capital of georgia?", "Georgia (country)"),
        ("who starred in titanic?", "Titanic (film)"),
        ("in which year was titanic sank", "Titanic (ship)"),
        ("paris is the child of whom", "Paris (mythology)"),
        ("which city is paris in france", "Paris"),
    ],
)
def test_the_question_chooses_among_namesakes_by_relations(linker: EntityLinker, question: str, entity: str):
    assert linker.link(question).chosen[0] == entity


def test_an_embedder_breaks_ties_and_is_asked_for_nothing_else(kg: KnowledgeGraph):
    embedder = WordEmbedder()
    linker = EntityLinker(kg, embedder)
    assert linker.link("Who was the wife of James K. Polk?").chosen == ("James K. Polk",)
    assert embedder.texts == []
    question = "which georgia has a capital"
    assert linker.link(question).chosen[0] == "Georgia (country)"
    asked = list(embedder.texts)
    assert question in asked
    linker.link(question)
    assert embedder.texts == asked, "nothing is embedded twice"


def test_descriptions_tell_apart_what_relations_do_not():
    triples = [("Mercury (1)", "seen in", "sky"), ("Mercury (2)", "seen in", "sky")]
    info = {
        "Mercury (1)": EntityInfo("", (), "smallest planet"),
        "Mercury (2)": EntityInfo("", (), "messenger among gods"),
    }
    linker = EntityLinker(KnowledgeGraph.from_triples(triples, info=info), WordEmbedder())
    assert linker.link("is mercury the smallest planet").chosen[0] == "Mercury (1)"
    found = linker.link("is mercury a messenger among gods")
    assert found.chosen[0] == "Mercury (2)"
    assert found.mentions[0].candidates[0].description == "messenger among gods"


def test_the_namesake_that_has_an_author_is_meant_where_one_is_asked_for():
    triples = [("Emma (novel)", "author", "Jane Austen"), ("Emma (novel)", "set in", "England")]
    triples += [("Emma", "portrayed by", name) for name in ("Kate", "Gwyneth", "Romola", "Anya")]
    linker = EntityLinker(KnowledgeGraph.from_triples(triples))
    assert linker.link("Who was the author of Emma?").chosen == ("Emma (novel)",)
    assert linker.link("Who was portrayed as Emma?").chosen == ("Emma",)


def test_what_is_not_found_is_suggested_and_never_taken(linker: EntityLinker):
    found = linker.link("who knows Stefan Spillborg?")
    assert found.chosen == ()
    assert "Steven Spielberg" in [candidate.entity for candidate in found.nearest]
    assert linker.link("who was the wife of James K. Polk?").nearest == ()
    assert linker.nearest("Obama")[0].entity == "Barack Obama"


@pytest.mark.parametrize(
    "question", ["where is Xyzzyq Blorfington", "nationality of Micheal Chopin", "wo wohnt der Bürgermeister", "你好吗"]
)
def test_strangers_are_not_linked(linker: EntityLinker, question: str):
    assert linker.link(question).chosen == ()


def test_an_edited_graph_is_linked_by_the_old_names_and_the_new_ones(kg: KnowledgeGraph, linker: EntityLinker):
    edited = apply(kg, [Edit(ADD, ("Zorblatt Quux", "born in", "Honolulu")), Edit(ADD, ("Paris", "speaks", "Quuxish"))])
    overlay = linker.over(edited)
    assert overlay.link("where was Zorblatt Quux born?").chosen == ("Zorblatt Quux",)
    assert overlay.entities_in("Zorblatt Quux")[0] == "Zorblatt Quux"
    assert overlay.entities_in("the city of Paris") == linker.entities_in("the city of Paris")
    assert overlay.entities_in("Paris (Texas)")[0] == "Paris (Texas)"
    assert [overlay.knows(word) for word in ("zorblatt", "quuxish", "honolulu", "flarp")] == [True, True, True, False]
    assert linker.over(apply(kg, [Edit(ADD, ("Paris", "located in", "Texas"))])) is linker


def test_a_text_may_name_what_is_called_so_best_connected_first(linker: EntityLinker):
    assert linker.entities_in("Paris (Texas)")[0] == "Paris (Texas)"
    assert set(linker.entities_in("Titanic")) >= {"Titanic (film)", "Titanic (ship)"}
    assert linker.entities_in("nobody at all") == ()


def test_initials_are_not_ordinary_words():
    triples = [("World Health Organization", "based in", "Geneva"), ("National Football League", "sport", "football")]
    linker = EntityLinker(KnowledgeGraph.from_triples(triples))
    assert linker.link("who is from geneva").chosen == ("Geneva",)
    assert linker.link("what teams are in the nfl").chosen == ("National Football League",)


def test_an_odd_graph_is_linked_too():
    odd = ["???", "a", "(", ")", "(x)", "x (", "  ", "💥", "İstanbul", "ﬁ", "A" * 10_000]
    linker = EntityLinker(KnowledgeGraph.from_triples([(label, "is", "odd") for label in odd]), WordEmbedder())
    assert linker.link("where is istanbul").chosen == ("İstanbul",)
    assert EntityLinker(KnowledgeGraph.from_triples([])).link("where is istanbul?").chosen == ()


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=300) | st.lists(st.sampled_from([*"?.,'’& ", "paris", "Obama", "us", "S."])).map(" ".join))
def test_any_text_gives_sound_mentions(linker: EntityLinker, kg: KnowledgeGraph, text: str):
    found = linker.link(text)
    assert set(found.chosen) <= {mention.candidates[0].entity for mention in found.mentions}
    assert len(set(found.chosen)) == len(found.chosen)
    ends = 0
    for mention in found.mentions:
        assert ends <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.text
        assert all(candidate.entity in kg.entities and 0 <= candidate.score <= 1 for candidate in mention.candidates)
        ends = mention.end


def test_the_packaged_embedder_gives_unit_rows_and_knows_likeness():
    embedder = sentence_embedder()
    assert embedder is sentence_embedder()
    vectors = embedder.encode(["where was he born", "place of birth", "stock exchange"])
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]
    assert embedder.encode([]).shape == (0, vectors.shape[1])


def test_the_embedder_loads_nothing_before_it_is_asked(monkeypatch: pytest.MonkeyPatch):
    def no_loading(self: SentenceEmbedder) -> None:
        raise AssertionError("loaded")

    monkeypatch.setattr(SentenceEmbedder, "_loaded", no_loading)
    embedder = SentenceEmbedder()
    with pytest.raises(AssertionError, match="loaded"):
        embedder.encode(["now"])


def test_half_a_character_is_read_past():
    kg = KnowledgeGraph.from_triples([*TRIPLES, ("Paris", "twin town", "Amman")])
    question = f"Is {HALF} Paris or {HALF} Jordan older?"
    found = EntityLinker(kg, sentence_embedder()).link(question)  # namesakes, so that the question is embedded
    whole = EntityLinker(kg, sentence_embedder()).link(question.replace(HALF, "?"))
    assert found == whole
    assert "Paris" in found.chosen
