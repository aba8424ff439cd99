"""A question taken apart: its form, what it is computed from, the words around it, and the words wrong in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.kg.io.catalogue import open_graph
from kgdemo.linking.words import common_words, frequent_words
from kgdemo.query.form import plan_of
from kgdemo.query.measures import bound_of
from kgdemo.query.nested import two_steps
from kgdemo.query.query import Form, Plan, vocabulary_of
from kgdemo.query.spelling import corrected, without_slips
from kgdemo.query.wording import beyond_graphs, in_plain_verbs, plain_question

PLANS = [
    ("Who directed Jaws?", Plan()),
    (
        "Who is the wife of the Trojan prince who abducted Helen?",
        Plan(
            base="Who is the wife of the Trojan prince who abducted Helen",
            inner="who is the Trojan prince who abducted Helen",
            outer="Who is the wife of {}",
        ),
    ),
    (
        "Where was the composer of Carmen born?",
        Plan(),  # a walk of two relations, which the path model takes by itself
    ),
    (
        "what films did Hitchcock make before 1950?",
        Plan(base="what films did Hitchcock make", noun="films", bound="< 1950"),
    ),
    ("How many countries border Chad?", Plan(Form.COUNT, base="which countries border Chad", noun="countries")),
    ("number of continents", Plan(Form.COUNT, noun="continents")),
    (
        "what temperature does gold melt at",
        Plan(Form.VALUE, things=("gold",), attributes=("melting_point", "melting point")),
    ),
    ("when did Singapore split from Malaysia", Plan(Form.VALUE, things=("Singapore",), attributes=("independence",))),
    ("the running time of Jaws", Plan(Form.VALUE, things=("Jaws",), attributes=("duration",))),
    (
        "average distance between Earth and Sun",
        Plan(Form.VALUE, things=("Earth",), attributes=("distance from the Sun",)),
    ),
    (
        "when was the last time London hosted the Games",
        Plan(Form.ORDINAL, "which Games did London host", "Games", attributes=("date",), place=-1),
    ),
    (
        "when did London last host the Games",
        Plan(Form.ORDINAL, "which Games did London host", "Games", attributes=("date",), place=-1),
    ),
    ("which spice is the most expensive", Plan(Form.SUPERLATIVE, noun="spice", attributes=("how expensive",))),
    (
        "Reagan or Carter: who was president for longer",
        Plan(Form.COMPARISON, things=("Reagan", "Carter"), span=("in office from", "in office until")),
    ),
    (
        "of Uranus and Neptune, which takes longer to orbit the Sun",
        Plan(Form.COMPARISON, things=("Uranus", "Neptune"), attributes=("orbital period",)),
    ),
    (
        "who discovered Neptune's largest moon",
        Plan(
            base="who discovered Neptune's largest moon",
            inner="what is Neptune's largest moon",
            outer="who discovered {}",
        ),
    ),
    (
        "who was the father of Zeus's father",
        Plan(
            base="who was the father of Zeus's father", inner="who is Zeus's father", outer="who was the father of {}"
        ),
    ),
    ("how many metres tall is Big Ben", Plan(Form.VALUE, things=("Big Ben",), attributes=("height",))),
    ("give me the height of Big Ben", Plan(Form.VALUE, things=("Big Ben",), attributes=("height", "elevation"))),
    ("for how many minutes does Jaws run", Plan(Form.VALUE, things=("Jaws",), attributes=("duration",))),
    (
        "boiling point of ethanol celcius",
        Plan(Form.VALUE, things=("ethanol",), attributes=("boiling_point", "boiling point")),
    ),
    ("on what date did Apollo 11 land on the moon", Plan(Form.VALUE, things=("Apollo 11",), attributes=("landed",))),
    (
        "when did Beethoven publish his Fifth Symphony",
        Plan(Form.VALUE, things=("Fifth Symphony",), attributes=("released",)),
    ),
    (
        "did Federer or Nadal win more Slams",
        Plan(Form.COMPARISON, "which Slams did {} win", "Slams", ("Federer", "Nadal"), ("number",)),
    ),
    ("what lives longer, a dog or a cat", Plan(Form.COMPARISON, things=("dog", "cat"), attributes=("lifespan",))),
    (
        "which swimmer has the most Olympic gold medals",
        Plan(Form.SUPERLATIVE, "", "swimmer", ("Olympic gold medals",), ("number",)),
    ),
    (
        "what is the second biggest city in Spain",
        Plan(
            Form.SUPERLATIVE,
            "which cities are in Spain",
            "city",
            attributes=(
                *("area", "population", "diameter", "weight", "volume", "height", "length", "capacity", "followers"),
            ),
            place=2,
        ),
    ),
    (
        "the first woman to become president of Chad",
        Plan(Form.ORDINAL, "who were the president of Chad", "woman president of Chad", place=1),
    ),
    ("how many moons are there in the solar system", Plan(Form.COUNT, noun="moons")),
    ("How many Dune books are there?", Plan(Form.COUNT, base="which books are part of Dune", noun="books")),
    (
        "how many times did Brazil win the World Cup",
        Plan(Form.COUNT, base="which World Cups did Brazil win", noun="World Cups"),
    ),
    ("Is Oslo the capital of Norway?", Plan(Form.YES_NO, base="Is Oslo the capital of Norway")),
    ("is a bat a bird", Plan(Form.YES_NO, base="is a bat a bird", noun="bird", things=("a bat",))),
    (
        "Which is higher, K2 or Mont Blanc?",
        Plan(Form.COMPARISON, things=("K2", "Mont Blanc"), attributes=("height", "elevation")),
    ),
    (
        "Who was born first: Bach or Verdi?",
        Plan(Form.COMPARISON, things=("Bach", "Verdi"), attributes=("born",), greatest=False),
    ),
    (
        "Who won more cups, Ann or Bob?",
        Plan(Form.COMPARISON, "which cups did {} win", "cups", ("Ann", "Bob"), ("number",)),
    ),
    (
        "was Emma published before or after Persuasion",
        Plan(
            Form.COMPARISON,
            things=("Emma", "Persuasion"),
            attributes=("date",),
            greatest=False,
            words=("before", "after"),
        ),
    ),
    (
        "how far is Mars from the Earth",
        Plan(Form.VALUE, things=("Mars",), attributes=("distance from the Earth",)),
    ),
    ("what planet has the most moons", Plan(Form.SUPERLATIVE, "", "planet", ("moons",), ("number",))),
    ("Is Chad more populous than Mali?", Plan(Form.YES_NO, things=("Chad", "Mali"), attributes=("population",))),
    (
        "which has fewer people, Chad or Mali",
        Plan(Form.COMPARISON, things=("Chad", "Mali"), attributes=("population",), greatest=False),
    ),
    (
        "What is the deepest lake in Africa?",
        Plan(Form.SUPERLATIVE, base="which lakes are in Africa", noun="lake", attributes=("depth",)),
    ),
    ("Which country has the largest population?", Plan(Form.SUPERLATIVE, noun="country", attributes=("population",))),
    (
        "who was the third president of France",
        Plan(Form.ORDINAL, base="who were the presidents of France", noun="president", attributes=("date",), place=3),
    ),
    (
        "what was the last film Kubrick directed",
        Plan(Form.ORDINAL, base="which films were directed by Kubrick", noun="film", attributes=("date",), place=-1),
    ),
    (
        "which mountain is the second highest",
        Plan(Form.SUPERLATIVE, noun="mountain", attributes=("height", "elevation"), place=2),
    ),
    (
        "fourth planet from the sun",
        Plan(Form.SUPERLATIVE, noun="planet", attributes=("distance from the Sun",), greatest=False, place=4),
    ),
    ("what are the oceans of the world", Plan(Form.ALL, base="what are the oceans of the world", noun="oceans")),
    (
        "Was Chad founded before Mali?",
        Plan(Form.YES_NO, things=("Chad", "Mali"), attributes=("founded",), greatest=False),
    ),
    ("who lived longer, Bach or Verdi?", Plan(Form.COMPARISON, things=("Bach", "Verdi"), span=("born", "died"))),
    (
        "who has won more World Cups, Brazil or Italy",
        Plan(Form.COMPARISON, "which World Cups did {} win", "World Cups", ("Brazil", "Italy"), ("number",)),
    ),
    (
        "who was president of France in 1962",
        Plan(base="who was president of France", bound="= 1962"),
    ),
    (
        "which countries in Africa do not speak French",
        Plan(base="which countries are in Africa", noun="countries", without="speak French"),
    ),
    (
        "capital of the largest country in Africa",
        Plan(
            base="capital of the largest country in Africa",
            inner="what is the largest country in Africa",
            outer="capital of {}",
        ),
    ),
    (
        "what is the capital of the country where Bach was born",
        Plan(
            base="what is the capital of the country where Bach was born",
            inner="in which country was Bach born",
            outer="what is the capital of {}",
        ),
    ),
    ("How high is K2?", Plan(Form.VALUE, things=("K2",), attributes=("height", "elevation"))),
    ("population of Chad", Plan(Form.VALUE, things=("Chad",), attributes=("population",))),
    ("when did the Thirty Years' War end", Plan(Form.VALUE, things=("the Thirty Years' War",), attributes=("ended",))),
    ("did Bach live longer than Verdi?", Plan(Form.YES_NO, things=("Bach", "Verdi"), span=("born", "died"))),
    (
        "which lasted longer, the Crimean War or the Boer War",
        Plan(Form.COMPARISON, things=("Crimean War", "the Boer War"), span=("began", "ended")),
    ),
    (
        "the shortest-reigning king of Spain",
        Plan(
            Form.SUPERLATIVE,
            "who were the kings of Spain",
            "king",
            span=("in office from", "in office until"),
            greatest=False,
        ),
    ),
    (
        "the three deepest lakes in Africa",
        Plan(Form.SUPERLATIVE, "which lakes are in Africa", "lakes", attributes=("depth",), number=3),
    ),
    ("Who was king of Spain during the Crimean War", Plan(base="Who was king of Spain", during="the Crimean War")),
    (
        "who was pope for most of the Boer War",
        Plan(base="who was pope", during="the Boer War", moment="most"),
    ),
    (
        "who was chancellor when the Boer War broke out",
        Plan(base="who was chancellor", during="the Boer War", moment="start"),
    ),
    (
        "the first feature-length film produced by Ghibli",
        Plan(Form.ORDINAL, "which films were produced by Ghibli", "film", attributes=("date",), place=1),
    ),
    (
        "who is the mother of the Norse god of thunder",
        Plan(
            base="who is the mother of the Norse god of thunder",
            inner="who is the Norse god of thunder",
            outer="who is the mother of {}",
        ),
    ),
    ("what did the Romans call Hera", Plan(base="who is the counterpart of Hera", things=("Hera",))),
    ("how many gases are in the periodic table", Plan(Form.COUNT, noun="gases")),
    ("are bats birds", Plan(Form.YES_NO, "are bats birds", "birds", ("bats",))),
    (
        "How high is Ben Nevis in metres",
        Plan(Form.VALUE, things=("Ben Nevis",), attributes=("height", "elevation"), unit="metres"),
    ),
    ("what language is spoken in Chad right now", Plan(base="what language is spoken in Chad", noun="language")),
    (
        "which city has hosted the most Winter Games",
        Plan(
            Form.SUPERLATIVE,
            "which Winter Games did it host",
            "city",
            ("Winter Games",),
            ("number",),
            outer="hosted by",
        ),
    ),
    ("how long is an elephant pregnant", Plan(Form.VALUE, things=("elephant",), attributes=("gestation",))),
    ("how much money did Jaws make", Plan(Form.VALUE, things=("Jaws",), attributes=("box office",))),
    (
        "Spielberg's highest-grossing film",
        Plan(Form.SUPERLATIVE, "which films by Spielberg", "film", attributes=("box office",)),
    ),
    (
        "countries with over 2 million people",
        Plan(Form.ALL, noun="countries", attributes=("population",), bound="> 2000000", unit="people"),
    ),
    ("how old was Mozart when he died", Plan(Form.SPAN, things=("Mozart",), attributes=("born", "died"))),
]


@pytest.mark.parametrize(
    ("question", "steps"),
    [
        ("population of the capital of Chad", ("what is the capital of Chad", "population of {}")),
        ("who is the mother of Bob's wife", ("who is Bob's wife", "who is the mother of {}")),
        (
            "where was the author of the book that Jaws is based on born",
            ("which book Jaws is based on", "where was the author of {} born"),
        ),
        ("who rules the country where jazz was invented", None),  # what stands before it is no joining word
        (
            "who is king of the country where jazz was invented",
            ("in which country was jazz invented", "who is king of {}"),
        ),
        (
            "what is the anthem of the country whose capital is Oslo",
            ("of which country is Oslo the capital", "what is the anthem of {}"),
        ),
        ("who is the wife of the man who wrote Emma", ("who wrote Emma", "who is the wife of {}")),
        (
            "what is the symbol of the element with atomic number 79",
            ("which element has atomic number 79", "what is the symbol of {}"),
        ),
        ("which planets are in the solar system that don't have a moon", None),  # it is said of the planets
        (
            "when did the films directed by Ida Lupino come out",
            ("which films was directed by Ida Lupino", "when did {} come out"),
        ),
        ("who wrote Emma", None),
        ("what is the capital of Chad", None),
    ],
)
def test_what_is_described_may_be_asked_first(question, steps):
    assert two_steps(question) == steps


@given(st.text(max_size=200))
def test_a_question_is_put_into_the_gap_that_another_one_leaves(text):
    steps = two_steps(text)
    if steps is not None:
        assert len(steps[0]) < len(text) + 20
        assert "Oslo" in steps[1].format("Oslo")


@pytest.mark.parametrize(("text", "plan"), PLANS, ids=[text for text, _ in PLANS])
def test_a_question_is_taken_apart(text, plan):
    assert plan_of(text) == plan


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("why is the sky blue?", "reason"),
        ("what is my neighbour's dog called?", "about you"),
        ("How do I bake bread?", "how something is done"),
        ("who is the best singer", "opinions"),
        ("what is the Best way to cook rice", "opinions"),
        ("what's the weather in Rome", "up to the day"),
        ("who will be the next pope?", "yet to come"),
        ("when is the next Olympics", "yet to come"),
        ("Will Brazil win again?", "yet to come"),
        ("wer hat den Faust geschrieben", "English"),
        ("кто написал Войну и мир", "English"),
        ("which country borders the most countries", "count for one"),
    ],
)
def test_what_no_graph_answers_is_refused_with_its_reason(text, reason):
    plan = plan_of(text)
    assert plan.form is Form.UNANSWERABLE
    assert reason in plan.reason


@pytest.mark.parametrize(
    "text",
    [
        "how did Caesar die",
        "what is Wien called now",
        "who had the best selling album",
        "which films did Will Ferrell star in",
        "who was the next president after Lincoln",
        "when was Will Rogers born",
        "who was said to be the most beautiful woman",
    ],
)
def test_a_graph_may_answer_what_only_sounds_like_more(text):
    assert not beyond_graphs(text)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (
            "Sorry to bother you, I cannot find my notes: could you remind me in which year the war began?",
            "in which year the war began",
        ),
        (
            "theres this film with a boy left alone at home, whats it called",
            "what is the film with a boy left alone at home",
        ),
        ("who's that guy who pushes a rock uphill", "who is the guy who pushes a rock uphill"),
        ("How many lines should a limerick have?", "How many lines does a limerick have"),
        ("How far is the moon from the Earth, on average?", "How far is the moon from the Earth"),
        ("whats a young hare called again? it has gone from my head", "whats a young hare called"),
        ("people on the moon, how many?", "people on the moon, how many"),  # nothing is cut to a word or two
    ],
)
def test_the_question_is_found_among_polite_words(text, asked):
    assert plain_question(text) == asked


def test_what_changes_is_not_told_by_what_stands_before_the_question():
    assert not beyond_graphs("My exam is tomorrow: could you remind me when the Boer War began?")


@given(st.integers(1, 20))
def test_a_century_is_a_hundred_years(century):
    bound, without = bound_of(f"composers born in the {century}th century")
    first, last = (int(part.split()[1]) for part in bound.split(" and "))
    assert (first, last, without) == (100 * century - 99, 100 * century, "composers")


def test_the_question_is_found_in_a_long_text():
    story = "I was in Vienna last year with my whole family and we saw so many beautiful old houses there. " * 3
    asked = plain_question(f"{story}Who designed the Karlskirche? Thank you!")
    assert asked == "Who designed the Karlskirche"


@given(st.text(max_size=300))
def test_any_text_has_a_plan_and_keeps_a_question(text):
    assert isinstance(plan_of(text), Plan)
    assert bool(plain_question(text)) == bool(text.split())


@given(st.integers(100, 2100), st.sampled_from([("before", "<"), ("after", ">"), ("since", ">=")]))
def test_a_bound_is_cut_out_of_the_question(year, pair):
    word, sign = pair
    assert bound_of(f"films by Ford made {word} {year} with Wayne") == (
        f"{sign} {year}",
        "films by Ford with Wayne",
    )


WORDS = vocabulary_of(open_graph("chemistry"))


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("who wrot Hamlet", "who wrote Hamlet"),
        ("wher was Mozart borne", "where was Mozart born"),
        ("Waht is teh capitl of Chad", "What is the capital of Chad"),
        ("who directd Titanic", "who directed Titanic"),
        ("who composed Carmen", "who composed Carmen"),
        ("Who married Kane", "Who married Kane"),  # a capital letter makes a name of it
    ],
)
def test_mistyped_words_are_put_right(typed, meant):
    assert corrected(typed, [], WORDS, lambda word: False) == meant


def test_names_are_not_put_right():
    assert corrected("who is capitl", [(7, 13)], WORDS, lambda word: False) == "who is capitl"
    assert corrected("films by gren", [], WORDS, lambda word: word == "gren") == "films by gren"
    assert corrected("capitl of Oslo", [], WORDS, lambda word: word == "capitl") == "capital of Oslo"  # named nothing


def test_english_words_stay_and_slips_go():
    common = common_words()
    assert {"arrow", "sword"} <= common
    assert corrected("an arrow", [], WORDS | {"narrow"}, lambda word: False) != "an arrow"
    assert corrected("an arrow", [], WORDS | {"narrow"}, lambda w: False, lambda w, to: w in common) == "an arrow"
    assert "hill" in frequent_words()
    assert "borne" in common - frequent_words()  # which may be mistyped
    assert corrected("directly bremoved words", [], {"direct", "removed"}, lambda w: False) == "directly removed words"
    assert without_slips("captial of Chad", WORDS, lambda word: False) == "capital of Chad"
    assert without_slips("captial of Chad", WORDS, lambda word: word == "captial") == "captial of Chad"
    usual = frozenset(("that", "born", "torn"))
    assert without_slips("the city htat Bob owns", WORDS, lambda word: False, usual=usual) == "the city that Bob owns"
    assert without_slips("a bodn or a xorn", WORDS, lambda word: False, usual=usual) == "a born or a xorn"  # or torn


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz ", max_size=60))
def test_only_strange_words_are_touched(text):
    mended = corrected(text, [], WORDS, lambda word: False)
    for before, after in zip(text.split(), mended.split(), strict=True):
        assert before == after or (before not in WORDS and after in WORDS)


@pytest.mark.parametrize(
    ("question", "attribute", "bound", "unit"),
    [
        ("Which planets have more than fifty moons?", "moons", "> 50", ""),
        ("Which films have won at least 10 Academy Awards?", "Academy Awards", ">= 10", ""),
        ("Which birds weigh more than 100 kg?", "mass", "> 100", "kg"),
        ("Which planets are over 100,000 km in diameter?", "diameter", "> 100000", "km"),
        ("Which statues by Rodin are taller than two metres?", "elevation", "> 2", "metres"),
        ("Which men have won at least 20 titles?", "titles", ">= 20", ""),
    ],
)
def test_a_number_bounds_what_is_counted_or_measured(question, attribute, bound, unit):
    plan = plan_of(question)
    assert (plan.form, plan.attributes[-1], plan.bound, plan.unit) == (Form.ALL, attribute, bound, unit)


@pytest.mark.parametrize(
    ("question", "bound"),
    [
        ("Which albums came out in the sixties?", ">= 1960 and <= 1969"),
        ("Which novels by Orwell were published after the year 1940?", "> 1940"),
        ("Which films were released between 1990 and 1995?", ">= 1990 and <= 1995"),
    ],
)
def test_a_time_is_read_however_it_is_said(question, bound):
    assert plan_of(question).bound == bound


@pytest.mark.parametrize(
    "question",
    [
        "Which countries in Asia have no coast?",
        "Which countries are in Africa and do not border the sea?",
        "which countries without access to the sea are in Europe",
    ],
)
def test_countries_without_a_coast_are_landlocked(question):
    assert "landlocked" in in_plain_verbs(question)
