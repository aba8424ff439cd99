"""What is computed from paths and values is what a slow reading of the triples gives, and nothing else verifies."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.answering.operands import Sets
from kgdemo.answering.operations import answer
from kgdemo.errors import GraphFormatError
from kgdemo.events import AnswerFinal, Operand, Operation, PathFound, PathVerified
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import EntityInfo, KnowledgeGraph
from kgdemo.kg.labels import Literal, date_parts, read_literals
from kgdemo.kg.path import Path
from kgdemo.models.base import PromptStyle
from kgdemo.query.form import understand
from kgdemo.verify import Verifier
from kgdemo.verify_operations import verify_operation
from tests.helpers.reasoning import SpellingEmbedder

RIVERS = {"Elbe": 1094, "Oder": 866, "Rhine": 1233, "Weser": 452}
YEARS = {"Tannhäuser": 1845, "Lohengrin": 1850, "Parsifal": 1882}
EVENINGS = ("First Evening", "Second Evening", "Third Evening")
TRIPLES = [
    *(("Germany", "crossed by river", river) for river in RIVERS),
    *(("Wagner", "composed", opera) for opera in YEARS),
    *((opera, "released in year", str(year)) for opera, year in YEARS.items()),
    ("Wagner", "composed", "Faust Overture"),
    ("Wagner", "born in", "Leipzig"),
    ("Leipzig", "located in", "Germany"),
    ("Marburg", "located in", "Hesse"),
    ("Hesse", "located in", "Germany"),
    ("Oslo", "located in", "Norway"),
    ("Lohengrin", "set in", "Antwerp"),
    ("Heuss", "succeeded by", "Lübke"),
    ("Lübke", "succeeded by", "Heinemann"),
    *(("Germany", "president", name) for name in ("Heinemann", "Heuss", "Lübke")),
    *(("German president", "held by", name) for name in ("Heinemann", "Heuss", "Lübke")),
    *((f"{year} Song Contest", "happened in year", str(year)) for year in (1956, 1957, 1958)),
    *((f"{year} Song Contest", "won by", name) for year, name in ((1956, "Oslo"), (1957, "Marburg"), (1958, "Oslo"))),
    ("Wagner", "composed", "March No. 7 (Wagner)"),
    ("Wagner", "composed", "March No. 2 (Wagner)"),
    ("Nut", "has taste", "nutty"),
    ("Heuss", "took part in", "Cod War"),
    ("Pilsen", "located in", "Bohemia"),
    *(("Wagner", "travelled to", city) for city in ("Pilsen", "Oslo")),
    *(("Norway", "monarch", name) for name in ("Haakon", "Olav")),
    *(("oil", "eaten by", name) for name in ("Feta", "Brie")),
    *((name, "class", "mammal") for name in ("cat", "dog", "bat")),
    *(("Prize", "awarded to", name) for name in ("Ann", "Bob")),
    *(("Tosca", "starring", name) for name in ("Ann", "Bob")),
    *((war, "is past", "history") for war in ("Cold War", "Cod War")),
    *((city, "part of", "Twin Cities") for city in ("Oslo", "Leipzig")),
    *((river, "instance of", "northern river") for river in ("Elbe", "Weser")),
    ("First Contest winner", "achieved by", "Oslo"),
    ("Heuss", "born in", "Oslo"),
    *(("Mime", "portrayed by", name) for name in ("Ann", "Bob")),
    ("Alberich", "portrayed by", "Bob"),
    ("Rheingold", "starring", "Ann"),
    *(("Wagner", "child", name) for name in ("Eva", "Siegfried", "Isolde")),
    *((name, "gender", "woman") for name in ("Eva", "Isolde")),
    ("Siegfried", "gender", "man"),
    *((region, "located in", "Norway") for region in ("Vestland", "Agder")),
    ("Bergen", "located in", "Vestland"),
    ("Olav", "born in", "Bergen"),
    *((name, "occupation", "fiddler") for name in ("Myllarguten", "Bull", "Sarasate")),
    *((name, "born in", city) for name, city in (("Myllarguten", "Bergen"), ("Sarasate", "Marburg"))),
    ("Bull", "citizen of", "Norway"),
    ("First Contest", "won by", "Oslo"),
    ("First Contest", "runner-up", "Bergen"),
    *((evening, "part of", "Ring") for evening in EVENINGS),
    ("Ring", "played in", "Bayreuth"),
    ("Norway", "shows", "lion"),
    ("Germany", "shows", "black lion"),
    ("Ann", "gender", "woman"),
]
INFO = {
    **{river: EntityInfo("river") for river in RIVERS},
    **{opera: EntityInfo("opera") for opera in YEARS},
    **{name: EntityInfo("country") for name in ("Germany", "Norway")},
    **{name: EntityInfo("city") for name in ("Leipzig", "Oslo", "Marburg", "Antwerp", "Pilsen")},
    **{name: EntityInfo("person") for name in ("Wagner", "Heuss", "Lübke", "Heinemann", "Olav")},
    **{name: EntityInfo("region") for name in ("Vestland", "Agder")},
    **{name: EntityInfo("character") for name in ("Mime", "Alberich")},
    "Bergen": EntityInfo("city"),
    "Hesse": EntityInfo("region"),
    "Bohemia": EntityInfo("region"),
    "Prize": EntityInfo("award"),
    "Nut": EntityInfo("ingredient"),
    **{name: EntityInfo("person") for name in ("Myllarguten", "Bull", "Sarasate")},
    "fiddler": EntityInfo("occupation"),
    "Cold War": EntityInfo("war"),
    "Cod War": EntityInfo("war"),
    "German president": EntityInfo("position"),
    "Song Contest": EntityInfo("competition"),
}
LITERALS = {
    **{river: {"length": Literal(str(length), "km")} for river, length in RIVERS.items()},
    "Wagner": {"born": Literal("1813-05-22"), "died": Literal("1883-02-13")},
    "Myllarguten": {"born": Literal("1801")},
    "Bull": {"born": Literal("1810-02-05")},
    "Heinemann": {"born": Literal("1899-07-23"), "died": Literal("1976-07-07")},
    "Cold War": {"began": Literal("1947"), "ended": Literal("1991-12-26")},
    "Cod War": {"began": Literal("1958-09-01"), "ended": Literal("1961-03-11")},
    "Lohengrin": {"acts": Literal("3")},
    **{evening: {"order": Literal(str(number), "in order")} for number, evening in enumerate(EVENINGS, 1)},
    "Germany": {"ports": Literal("30", "ports")},
    "Norway": {"ports": Literal("0", "ports")},
    "Heuss": {"took office": Literal("1949-09-12"), "left office": Literal("1959-09-12")},
    "Lübke": {"took office": Literal("1959-09-13"), "left office": Literal("1969-06-30")},
}
INVERSES = {
    "shows": "shown by",
    "won by": "won",
    "class": "includes",
    "located in": "contains",
    "crossed by river": "flows through",
    "composed": "composed by",
    "part of": "consists of",
    "instance of": "has instance",
    "gender": "gender of",
    "occupation": "has practitioner",
    "born in": "birthplace of",
    "citizen of": "has citizen",
}


def world() -> SimpleNamespace:
    """A graph with values, and a verifier that reads the triples by itself."""
    kg = KnowledgeGraph.from_triples(TRIPLES, inverse_labels=INVERSES, info=INFO, literals=LITERALS)
    stated = [(e, a, v.value, v.unit) for e, own in LITERALS.items() for a, v in own.items()]
    stated += [(e, "type", known.type, "") for e, known in INFO.items()]
    model = SimpleNamespace(style=PromptStyle())
    return SimpleNamespace(
        kg=kg,
        model=model,
        verifier=Verifier(StatedFacts(TRIPLES, INVERSES, statements=stated)),
        embedder=SpellingEmbedder(),
    )


WORLD = world()


def ask(
    question: str, topics: list[str], *paths: tuple[str, ...], cited: int = 1, vocabulary: str = ""
) -> tuple[AnswerFinal, list[Operation]]:
    """The answer where the method finds these paths, the first ones cited."""

    def method(query):
        for index, labels in enumerate(paths, 1):
            path = Path.from_labels(labels)
            yield PathFound(True, index, str(path), 0.0, path)
            yield PathVerified(True, index, WORLD.verifier.verify(path))
        yield AnswerFinal("found", (paths[0][-1],), (tuple(range(1, cited + 1)),), "")

    def link(text):
        return [name for name in WORLD.kg.entities if name.lower() in text.lower()]

    query = understand(question, topics, WORLD.kg)
    events = list(answer(query, method, WORLD, link, False, frozenset(vocabulary.split())))
    operations = [event for event in events if isinstance(event, Operation)]
    assert all(operation.verified for operation in operations)
    (final,) = [event for event in events if isinstance(event, AnswerFinal)]
    return final, operations


RIVER = ("Germany", "crossed by river", "Elbe")
PRESIDENT = ("German president", "held by", "Lübke")
OPERA = ("Wagner", "composed", "Lohengrin")


@pytest.mark.parametrize(
    ("question", "topics", "path", "answers"),
    [
        ("how many rivers flow through Germany", ["Germany"], RIVER, {"4"}),
        ("how many operas did Wagner compose", ["Wagner"], OPERA, {"3"}),  # an overture is none
        ("which operas did Wagner compose after 1849", ["Wagner"], OPERA, {"Lohengrin", "Parsifal"}),
        ("which operas by Wagner are set in Antwerp", ["Wagner", "Antwerp"], OPERA, {"Lohengrin"}),
        ("what is the longest river in Germany", ["Germany"], RIVER, {"Rhine"}),
        ("what is the shortest river in the world", [], RIVER, {"Weser"}),
        ("which is longer, the Elbe or the Oder", ["Elbe", "Oder"], RIVER, {"Elbe"}),
        ("is the Elbe longer than the Rhine", ["Elbe", "Rhine"], RIVER, {"No"}),
        ("how long is the Oder", ["Oder"], RIVER, {"866 km"}),
        ("what was the second opera Wagner composed", ["Wagner"], OPERA, {"Lohengrin"}),
        ("who was the third president of Germany", ["Germany"], ("Germany", "president", "Heuss"), {"Heinemann"}),
        ("how old was Wagner when he died", ["Wagner"], OPERA, {"69"}),
        ("was Wagner born in Germany", ["Wagner", "Germany"], ("Wagner", "born in", "Leipzig"), {"Yes"}),
        ("was Wagner born in Norway", ["Wagner", "Norway"], ("Wagner", "born in", "Leipzig"), {"No"}),
        ("is Marburg in Germany", ["Marburg", "Germany"], ("Marburg", "located in", "Hesse"), {"Yes"}),
        ("what is the second longest river in Germany", ["Germany"], RIVER, {"Elbe"}),
        ("what are the rivers of the world", [], RIVER, set(RIVERS)),
        ("who lived longer, Wagner or Heinemann", ["Wagner", "Heinemann"], OPERA, {"Heinemann"}),
        ("which operas by Wagner are not set in Antwerp", ["Wagner", "Antwerp"], OPERA, {"Tannhäuser", "Parsifal"}),
        ("who was German president in 1955", ["German president"], PRESIDENT, {"Heuss"}),
        ("which was the first Song Contest", ["Song Contest"], OPERA, {"1956 Song Contest"}),
        ("is Oslo a city", ["Oslo"], ("Oslo", "located in", "Norway"), {"Yes"}),
        ("is Oslo a river", ["Oslo"], ("Oslo", "located in", "Norway"), {"No"}),
        ("is Oslo a German city", ["Oslo", "Germany"], ("Oslo", "located in", "Norway"), {"No"}),
        ("is Marburg a German city", ["Marburg", "Germany"], ("Marburg", "located in", "Hesse"), {"Yes"}),
        ("did Wagner live longer than Heinemann", ["Wagner", "Heinemann"], OPERA, {"No"}),
        ("which lasted longer, the Cold War or the Cod War", ["Cold War", "Cod War"], OPERA, {"Cold War"}),
        ("which war lasted the longest", [], OPERA, {"Cold War"}),
        ("who was the longest-serving German president", ["German president"], PRESIDENT, {"Heuss"}),
        ("the two longest rivers in Germany", ["Germany"], RIVER, {"Rhine", "Elbe"}),
        ("who was German president during the Cod War", ["German president"], PRESIDENT, {"Heuss", "Lübke"}),
        ("who was German president for most of the Cod War", ["German president"], PRESIDENT, {"Lübke"}),
        ("who was German president when the Cod War began", ["German president"], PRESIDENT, {"Heuss"}),
        ("which city has won the most Song Contests", ["1956 Song Contest"], OPERA, {"Oslo"}),
        ("which river has the length of 866 km", [], RIVER, {"Oder"}),
        (
            "who won the Song Contest since 1957",
            ["1956 Song Contest"],
            ("1957 Song Contest", "won by", "Marburg"),
            {"Marburg", "Oslo"},
        ),
        ("how many acts does Lohengrin have", ["Lohengrin"], OPERA, {"3"}),
        ("how many ports of Germany are there", ["Germany"], RIVER, {"30"}),
        ("which country has the most ports", ["Germany"], RIVER, {"Germany"}),
        ("which country has the fewest ports", ["Germany"], RIVER, {"Norway"}),
        ("who has won more ports, Norway or Germany", ["Norway", "Germany"], RIVER, {"Germany"}),
        ("does Norway have any ports", ["Norway"], RIVER, {"No"}),
        ("does Germany have any ports", ["Germany"], RIVER, {"Yes"}),
        ("how many Twin Cities are there", [], RIVER, {"2"}),
        ("name all Twin Cities", [], RIVER, {"Oslo", "Leipzig"}),
        ("what is the longest northern river", [], RIVER, {"Elbe"}),
        ("what rivers in Germany are northern", ["Germany"], RIVER, {"Elbe", "Weser"}),
        ("who was the first Contest winner", ["First Contest winner"], RIVER, {"Oslo"}),
        ("what is the third part of the Ring", ["Ring"], ("Ring", "played in", "Bayreuth"), {"Third Evening"}),
        (
            "when was the last time Oslo won the Song Contest",
            ["Oslo", "Song Contest"],
            ("Oslo", "won", "1956 Song Contest"),
            {"1958 Song Contest"},
        ),
        ("are there more ports in Norway or in Germany", ["Norway", "Germany"], RIVER, {"Germany"}),
        ("are the Elbe and the Elbe the same river", ["Elbe"], RIVER, {"Yes"}),
        ("does Germany have 30 ports", ["Germany"], RIVER, {"Yes"}),
        ("does Lohengrin have 2 acts", ["Lohengrin"], OPERA, {"No"}),
        ("which countries in the world don't have any port", ["Norway"], RIVER, {"Norway"}),
        ("which operas did Wagner compose in 1850", ["Wagner"], OPERA, {"Lohengrin"}),
        ("what are the northern rivers", ["northern river"], ("northern river", "part of", "Elbe"), {"Elbe", "Weser"}),
        ("were Wagner and Heuss both born in Oslo", ["Wagner", "Heuss", "Oslo"], ("Heuss", "born in", "Oslo"), {"No"}),
        ("is the Elbe longer or shorter than the Oder", ["Elbe", "Oder"], RIVER, {"longer"}),
        ("was Tannhäuser composed before or after Parsifal", ["Tannhäuser", "Parsifal"], OPERA, {"before"}),
        ("which of Wagner's operas start with the letter L", ["Wagner"], OPERA, {"Lohengrin"}),
        ("rivers that begin with E", [], RIVER, {"Elbe"}),
        ("how many rivers start with an O", [], RIVER, {"1"}),
        ("who played Mime in Rheingold", ["Mime", "Rheingold"], ("Mime", "portrayed by", "Bob"), {"Ann"}),
        ("who played Alberich in the films", ["Alberich"], ("Alberich", "portrayed by", "Bob"), {"Bob"}),
        ("who were Wagner's daughters", ["Wagner"], ("Wagner", "child", "Siegfried"), {"Eva", "Isolde"}),
        ("who was the son of Wagner", ["Wagner"], ("Wagner", "child", "Eva"), {"Siegfried"}),
        ("was Wagner alive at the same time as Heinemann", ["Wagner", "Heinemann"], OPERA, {"No"}),
        ("were Cold War and Cod War contemporaries", ["Wagner", "Heinemann"], OPERA, {"No"}),
        ("was Olav born in Agder", ["Olav", "Agder"], ("Olav", "born in", "Bergen"), {"No"}),
        ("was Olav born in Vestland", ["Olav", "Vestland"], ("Olav", "born in", "Bergen"), {"Yes"}),
        ("out of the Elbe and the Oder, which is longer?", ["Elbe", "Oder"], RIVER, {"Elbe"}),
        ("who was president first, Heuss or Lübke", ["Heuss", "Lübke"], OPERA, {"Heuss"}),
        ("which fiddlers were born in Norway", ["Norway"], RIVER, {"Myllarguten"}),
        ("fiddlers from Norway", ["Norway"], RIVER, {"Myllarguten", "Bull"}),
        ("how many fiddlers from Norway are there", ["Norway"], RIVER, {"2"}),
        ("fiddlers from Norway born in the 1810s", ["Norway"], RIVER, {"Bull"}),
        ("list all fiddlers", [], RIVER, {"Myllarguten", "Bull", "Sarasate"}),
        ("which rivers are longer than 1,000 km", [], RIVER, {"Elbe", "Rhine"}),
        ("rivers in Germany shorter than 500 miles", ["Germany"], RIVER, {"Weser"}),
        ("rivers with a length of at least 1,094 km", [], RIVER, {"Elbe", "Rhine"}),
        ("rivers longer than 1093.5 km", [], RIVER, {"Elbe", "Rhine"}),
        ("how many rivers are longer than 400 kilometres", [], RIVER, {"4"}),
        ("operas by Wagner released between 1840 and 1860", ["Wagner"], OPERA, {"Tannhäuser", "Lohengrin"}),
        ("operas by Wagner from the 19th century", ["Wagner"], OPERA, set(YEARS)),
        ("is Wagner still alive?", ["Wagner"], OPERA, {"No"}),
        ("is Wagner dead", ["Wagner"], OPERA, {"Yes"}),
        ("who lost the First Contest final", ["First Contest"], ("First Contest", "won by", "Oslo"), {"Bergen"}),
        (
            "which operas by Wagner don't have to do with Antwerp",
            ["Wagner", "Antwerp"],
            OPERA,
            {"Tannhäuser", "Parsifal"},
        ),
        ("was Parsifal or Lohengrin released first", ["Parsifal", "Lohengrin"], OPERA, {"Lohengrin"}),
        ("did Wagner die before Heinemann was born", ["Wagner", "Heinemann"], OPERA, {"Yes"}),
        ("did Heinemann die before Wagner was born", ["Wagner", "Heinemann"], OPERA, {"No"}),
        ("was Heinemann born after Wagner died", ["Wagner", "Heinemann"], OPERA, {"Yes"}),
        ("how many years after Wagner died was Heinemann born", ["Wagner", "Heinemann"], OPERA, {"16"}),
        ("how long after the Cod War did the Cold War end", ["Cold War", "Cod War"], OPERA, {"30"}),
        ("how many years lie between Wagner's death and the birth of Heinemann", ["Wagner"], OPERA, {"16"}),
        ("how old was Wagner when he composed Parsifal", ["Wagner", "Parsifal"], OPERA, {"68 or 69"}),
        ("did the Cod War or the Cold War end first", ["Cold War", "Cod War"], OPERA, {"Cod War"}),
        ("when did Oslo win the Song Contest", ["Oslo", "Song Contest"], OPERA, {"1956", "1958"}),
        ("did Bergen join Vestland", ["Bergen"], ("Bergen", "located in", "Vestland"), {"Yes"}),
    ],
)
def test_it_is_computed_and_verified(question, topics, path, answers):
    final, operations = ask(question, topics, path)
    assert set(final.answers) == answers
    assert operations


@pytest.mark.parametrize(
    ("question", "topics", "path", "why"),
    [
        ("was Wagner born in Hesse", ["Wagner", "Hesse"], ("Wagner", "born in", "Leipzig"), "neither yes nor no"),
        ("which operas by Wagner are set in Oslo", ["Wagner", "Oslo"], OPERA, "links none of them to Oslo"),
        ("which is deeper, the Elbe or the Oder", ["Elbe", "Oder"], RIVER, "holds no depth"),
        ("how old was Heuss when he died", ["Heuss"], OPERA, "does not hold when Heuss born and died"),
        ("who lived longer, Wagner or Heuss", ["Wagner", "Heuss"], OPERA, "does not hold when Heuss was born"),
        ("who was German president in 1940", ["German president"], PRESIDENT, "none was in office in 1940"),
        ("operas of Wagner from his last years", ["Wagner"], OPERA, "which of them “last” means"),
        ("what is the longest holy river", [], RIVER, "does not tell “holy river” from others"),
        (
            "how many marches did Wagner compose",
            ["Wagner"],
            ("Wagner", "composed", "March No. 7 (Wagner)"),
            "more than",
        ),
        ("does Germany show the lion", ["Germany", "lion"], ("lion", "shown by", "Norway"), "neither yes nor no"),
        ("did Heuss win the Cod War", ["Heuss", "Cod War"], ("Heuss", "took part in", "Cod War"), "does not decide"),
        ("is the Nut a fruit", ["Nut"], ("Nut", "has taste", "nutty"), "calls Nut an ingredient"),
        ("which river has won the most Cod Wars", ["Cod War"], OPERA, "one by one"),
        ("who was German president during the Boer War", ["German president"], PRESIDENT, "when this was"),
        ("how many singers are in an opera", ["Wagner"], OPERA, "in general"),
        ("how many volcanoes are there", [], RIVER, "no kind of thing called"),
        ("what is the fastest river in Germany", ["Germany"], RIVER, "no speed of them"),
        ("who was the first woman president of Germany", ["Germany"], ("Germany", "president", "Heuss"), "by “woman”"),
        ("who was the first chancellor of Norway", ["Norway"], ("Norway", "monarch", "Haakon"), "none as chancellor"),
        ("which volcanoes begin with V", [], RIVER, "no kind of thing called “volcanoes”"),
        ("rivers that start with Q", [], RIVER, "begins with Q"),
        ("were Wagner and Heuss alive at the same time", ["Wagner", "Heuss"], OPERA, "until when both of them lived"),
        ("which animals are little cats", ["cat"], ("cat", "class", "mammal", "includes", "dog"), "not what is one"),
        ("what is a young cat called", ["cat"], ("cat", "class", "mammal"), "leaves out “young”"),
        ("which bavarian operas did Wagner compose", ["Wagner"], OPERA, "which of them “bavarian” means"),
        ("which operas did Wagner never like", ["Wagner"], OPERA, "which of them “never” means"),
        ("which rivers are longer than 1,000 kg", [], RIVER, "no length of them in kg"),
        ("fiddlers from Norway born in the 1700s", ["Norway"], RIVER, "none of them born between 1700 and 1709"),
        ("the oldest opera to have been staged by Wagner", ["Wagner"], OPERA, "how old they were when they did it"),
        ("how many oceans does Atlantis have", [], OPERA, "which oceans are meant"),
        ("how many years after Heinemann died was Wagner born", ["Wagner"], OPERA, "other way round"),
        ("how many years after Wagner died was Heuss born", ["Wagner", "Heuss"], OPERA, "when this was: “Heuss born”"),
        ("how old was Wagner when he travelled to Oslo", ["Wagner", "Oslo"], OPERA, "when this was: “he travelled"),
        ("how old was Heinemann when he composed Parsifal", ["Heinemann", "Parsifal"], OPERA, "when this was"),
        ("when did Heuss lose the Cod War", ["Heuss", "Cod War"], OPERA, "no date for"),
        ("did Wagner die before Heuss was born", ["Wagner", "Heuss"], OPERA, "when this was: “Heuss was born”"),
        ("who was the fifth king of Germany", ["Germany"], ("Germany", "president", "Heuss"), "not the order"),
    ],
)
def test_what_cannot_be_computed_is_refused_with_the_reason(question, topics, path, why):
    final, _ = ask(question, topics, path)
    assert final.refusal
    assert why in final.text
    assert not final.answers


@pytest.mark.parametrize(
    ("question", "topic", "path", "why"),
    [
        ("when did Wagner visit Leipzig", "Wagner", ("Wagner", "born in", "Leipzig"), "does not say “visit”"),
        ("which cheeses squirt oil", "oil", ("oil", "eaten by", "Feta"), "leaves out “squirt”"),
        ("which opera by Wagner has active volcanoes", "Wagner", OPERA, "which of them “volcanoes” means"),
        ("which vulgar operas did Wagner compose", "Wagner", OPERA, "which of them “vulgar” means"),
    ],
)
def test_a_word_that_nothing_found_is_like_is_named(question, topic, path, why):
    final, _ = ask(question, [topic], path, vocabulary="visit squirt volcanoes vulgar")
    assert final.refusal
    assert why in final.text


@pytest.mark.parametrize(
    ("question", "topic", "path"),
    [
        ("which cheeses are eaten with oil", "oil", ("oil", "eaten by", "Feta")),
        ("which operas by Wagner have been composed", "Wagner", OPERA),
        ("which studio operas did Wagner compose", "Wagner", OPERA),
        ("what other animals are in the class of the cat", "cat", ("cat", "class", "mammal", "includes", "dog")),
    ],
)
def test_a_word_that_acted_or_says_little_refuses_nothing(question, topic, path):
    final, _ = ask(question, [topic], path, vocabulary="eaten composed studio class")
    assert final.text == "found"


def test_who_won_for_a_work_is_not_told_by_who_was_in_it():
    paths = (("Prize", "awarded to", "Ann"), ("Tosca", "starring", "Ann"))
    final, _ = ask("who won the Prize for Tosca", ["Prize", "Tosca"], *paths, cited=2)
    assert "does not say who of them won for it" in final.refusal


def test_what_is_called_by_the_adjective_of_a_place_lies_in_it():
    final, _ = ask("which bohemian cities did Wagner see", ["Wagner"], ("Wagner", "travelled to", "Oslo"))
    assert set(final.answers) == {"Pilsen"}


def test_a_number_that_is_counted_says_that_the_graph_need_not_hold_all():
    assert "need not be all" in ask("how many operas did Wagner compose", ["Wagner"], OPERA)[0].text


def test_a_question_that_lists_is_the_methods_own():
    final, operations = ask("which operas did Wagner compose", ["Wagner"], OPERA)
    assert (final.text, operations) == ("found", [])


# the verifier against a slow reading -------------------------------------------------------------

values = st.dictionaries(st.sampled_from(sorted(RIVERS)), st.integers(-50, 50), min_size=2)


def verifier_of(lengths: dict[str, int]) -> Verifier:
    """Of a graph that states these lengths."""
    triples = [("Germany", "crossed by river", river) for river in RIVERS]
    stated = [(river, "length", str(length), "km") for river, length in lengths.items()]
    return Verifier(StatedFacts(triples, {}, statements=stated))


@given(values, st.sampled_from(["greatest", "least", "count", "nth", "filter", "initial"]), st.data())
def test_only_what_follows_from_the_values_verifies(lengths, kind, data):
    operands = tuple(Operand(river, (), "length", str(n), "km") for river, n in lengths.items())
    place = data.draw(st.integers(1, len(operands)))
    ordered = sorted(lengths, key=lambda river: lengths[river])
    alone = sorted(lengths.values()).count(lengths[ordered[place - 1]]) == 1
    right = {
        "greatest": [r for r in lengths if lengths[r] == max(lengths.values())],
        "least": [r for r in lengths if lengths[r] == min(lengths.values())],
        "count": [str(len(lengths))],
        "nth": [ordered[place - 1]] if alone else [],
        "filter": [r for r in lengths if lengths[r] < 10],
        "initial": [r for r in lengths if r.startswith("O")],
    }[kind]
    argument = {"nth": str(place), "filter": "< 10", "initial": "O"}.get(kind, "")
    claimed = data.draw(st.lists(st.sampled_from([*RIVERS, "2", "3", "4"]), unique=True, max_size=4) | st.just(right))
    operation = Operation(kind, "", operands, tuple(claimed), argument)
    holds = set(claimed) == set(right) and (kind != "nth" or alone)
    assert verify_operation(operation, verifier_of(lengths)) == holds


@given(values, st.data())
def test_a_value_that_is_not_stated_verifies_nothing(lengths, data):
    river = data.draw(st.sampled_from(sorted(lengths)))
    stated = Operand(river, (), "length", str(lengths[river]), "km")
    right = Operation("value", "", (stated,), (f"{lengths[river]} km",))
    verifier = verifier_of(lengths)
    assert verify_operation(right, verifier)
    (operand,) = right.operands
    for wrong in (
        replace(operand, value=str(lengths[river] + 1)),
        replace(operand, unit="m"),
        replace(operand, attribute="depth"),
        replace(operand, entity="Nile"),
        replace(operand, paths=(Path(("Germany", river), ("borders",)),)),
    ):
        result = (f"{wrong.value} {wrong.unit}",)
        assert not verify_operation(replace(right, operands=(wrong,), result=result), verifier)
    assert not verify_operation(replace(right, kind="guess"), verifier)


@given(st.dates(), st.dates())
def test_an_age_is_counted_as_people_count_it(one, other):
    earlier, later = sorted((one, other))
    years = range(earlier.year + 1, later.year + 1)
    birthdays = sum((year, earlier.month, earlier.day) <= (later.year, later.month, later.day) for year in years)
    stated = [("X", "born", earlier.isoformat(), ""), ("X", "died", later.isoformat(), "")]
    operands = (Operand("X", (), "born", earlier.isoformat()), Operand("X", (), "died", later.isoformat()))
    operation = Operation("difference", "", operands, (str(birthdays),), "age")
    verifier = Verifier(StatedFacts([("X", "r", "Y")], {}, statements=stated))
    assert verify_operation(operation, verifier)
    assert not verify_operation(replace(operation, result=(str(birthdays + 1),)), verifier)


# values in files ---------------------------------------------------------------------------------


def test_values_are_read_from_a_table(tmp_path):
    file = tmp_path / "a.literals.tsv"
    file.write_text("K2\theight\t8611\tm\n\nCaesar\tdied\t-0044-03-15\t\nK2\theight\t1\tm\n", "utf-8")
    found = read_literals([file])
    assert found == {"K2": {"height": Literal("8611", "m")}, "Caesar": {"died": Literal("-0044-03-15")}}
    assert str(found["K2"]["height"]) == "8,611 m"
    assert str(found["Caesar"]["died"]) == "15 March 44 BC"
    assert [str(Literal(value, "degrees")) for value in ("-0.18", "-33.87", "0")] == [
        "-0.18 degrees", "-33.87 degrees", "0 degrees"
    ]  # fmt: skip


@pytest.mark.parametrize("line", ["K2\theight", "K2\theight\thigh\tm", "K2\tborn\t1.5\t", "K2\t\t1\tm"])
def test_a_line_that_is_no_value_is_named(tmp_path, line):
    (file := tmp_path / "a.literals.tsv").write_text(f"A\tb\t1\tm\n{line}\n", "utf-8")
    with pytest.raises(GraphFormatError, match=r"a\.literals\.tsv, line 2: "):
        read_literals([file])


@pytest.mark.parametrize("value", ["1900-13", "1900-01-32", "soon", ""])
def test_what_is_no_date_is_told(value):
    with pytest.raises(ValueError, match="is no date"):
        date_parts(value)


def test_on_a_graph_that_abstention_was_not_fitted_on_a_word_that_is_left_over_is_told():
    final, _ = ask("operas of Wagner from his last years", ["Wagner"], OPERA)
    assert final.refusal
    WORLD.model.style = PromptStyle(abstention_graph="another")
    try:
        final, _ = ask("operas of Wagner from his last years", ["Wagner"], OPERA)
    finally:
        WORLD.model.style = PromptStyle()
    assert final.text == "found"


def test_what_is_left_out_is_looked_for_in_the_sources():
    composed = {opera: Path(("Wagner", opera), ("composed",)) for opera in YEARS}
    set_in = Sets(WORLD.kg).joined("Lohengrin", "Antwerp")
    honest = [Operand(o, (path, set_in) if o == "Lohengrin" else (path,)) for o, path in composed.items()]
    kept = tuple(opera for opera in YEARS if opera != "Lohengrin")
    assert verify_operation(Operation("without", "", tuple(honest), kept), WORLD.verifier)
    assert not verify_operation(Operation("without", "", tuple(honest), tuple(YEARS)), WORLD.verifier)
    other = Operand("Tannhäuser", (composed["Tannhäuser"], set_in))
    assert not verify_operation(Operation("without", "", (other,), ()), WORLD.verifier), "a path to another end"
    triples = [*TRIPLES, ("Parsifal", "premiered in", "Antwerp")]  # a path that the operation does not tell of
    hidden = Verifier(StatedFacts(triples, INVERSES))
    assert not verify_operation(Operation("without", "", tuple(honest), kept), hidden)
