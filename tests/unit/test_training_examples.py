"""Where fine-tuning examples come from: only true paths, in as many wordings as people use."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.labels import relation_name
from kgdemo.lab.questions import Question
from kgdemo.lab.training import templates as template_files
from kgdemo.lab.training.examples import Example, QuestionSource, add_noise, draw_held_out, spoken_name
from kgdemo.lab.training.templates import ChainSource, TemplateSource, load_chains, load_templates
from tests.helpers.training import TEMPLATES, film_graph

KG = film_graph()
DRAWS = 300


def draw(source, count: int = DRAWS) -> list[Example]:
    """Many examples, each with a seed of its own."""
    return [source(Random(seed)) for seed in range(count)]


def hops_of(example: Example) -> list[tuple[str, str, str]]:
    """(entity, reading, entity) of each hop."""
    return [example.path[i : i + 3] for i in range(0, len(example.path) - 1, 2)]


def is_true(kg: KnowledgeGraph, example: Example) -> bool:
    """Whether every hop is in the graph."""
    return all((relation_label, tail) in kg.neighbours(head) for head, relation_label, tail in hops_of(example))


def test_templates_draw_only_true_paths_of_all_lengths():
    drawn = draw(TemplateSource(KG, TEMPLATES, hops=(0.4, 0.4, 0.2), two_topics=0.3))
    assert all(is_true(KG, example) for example in drawn)
    assert all(example.path[-1] == example.answer and example.path[0] in example.topic_entities for example in drawn)
    assert {len(hops_of(example)) for example in drawn} == {1, 2, 3}
    assert all("{e}" not in example.question for example in drawn)


def test_earlier_hops_stand_in_the_question_as_noun_phrases():
    drawn = draw(TemplateSource(KG, TEMPLATES, hops=(0.0, 1.0)))
    of_london = [e.question.lower() for e in drawn if e.path[-1] == "London" and e.path[0] == "Inception"]
    assert any("director of inception" in question for question in of_london)


def test_a_wording_fits_only_the_heads_it_names():
    only_films = {("born in", False): template_files.StepTemplates([template_files.Template("{e} born", "person")])}
    drawn = draw(TemplateSource(KG, only_films, hops=(1.0,)), 40)
    assert {example.path[0] for example in drawn} == {"Christopher Nolan", "Tom Hardy", "Steven Spielberg"}
    with pytest.raises(ValueError, match="no template fits"):
        TemplateSource(KG, {("painted by", False): TEMPLATES["born in", False]}, hops=(1.0,))


def test_two_topics_both_lead_to_the_answer():
    drawn = draw(TemplateSource(KG, TEMPLATES, hops=(1.0,), two_topics=1.0))
    two = [example for example in drawn if len(example.topic_entities) == 2]
    assert len(two) == len(drawn)
    for example in two:
        for topic in example.topic_entities:
            assert example.answer in {other for _, other in KG.neighbours(topic)}
    assert any(" and " in example.question for example in two)


def test_renamed_relations_bear_the_words_of_their_noun_phrases():
    drawn = draw(TemplateSource(KG, TEMPLATES, hops=(1.0,), renamed=1.0))
    assert {e.path[1] for e in drawn} == {"director of", "films by", "star of", "films with", "birthplace of"}
    assert all((e.path[0], e.path[2]) in {(h, t) for h, _, t in _both_ways()} for e in drawn)


def _both_ways() -> list[tuple[str, str, str]]:
    return [*KG.triples(), *((t, r, h) for h, r, t in KG.triples())]


def test_questions_are_paired_with_the_paths_that_explain_all_their_answers():
    both = Question("1", "films with michael caine", ("Michael Caine",), ("Inception", "Tenet"))
    two_hops = Question("2", "where was the director of Jaws born", ("Jaws",), ("Cincinnati",))
    nowhere = Question("3", "who painted Jaws", ("Jaws",), ("Rembrandt",))
    source = QuestionSource(KG, [both, two_hops, nowhere])
    assert len(source) == 2
    drawn = draw(source, 60)
    assert all(is_true(KG, example) for example in drawn)
    assert {e.answer for e in drawn} == {"Inception", "Tenet", "Cincinnati"}
    ways = {tuple(relation_label for _, relation_label, _ in hops_of(e)) for e in drawn}
    assert ways == {("~starring",), ("directed by", "born in")}


def test_a_relation_path_that_the_set_gives_is_believed():
    given = Question("1", "colleagues", ("Tom Hardy",), ("Michael Caine",), relation_path=("~starring", "starring"))
    for example in draw(QuestionSource(KG, [given]), 20):
        assert example.path == ("Tom Hardy", "~starring", "Inception", "starring", "Michael Caine")


def test_of_paths_to_the_same_answers_the_likely_one_is_drawn_more_often():
    triples = [(f"city {n}", name, f"state {n}") for n in range(3) for name in ("in", "capital of")]
    kg = KnowledgeGraph.from_triples(triples, "cities")
    asked = Question("1", "where is city 1", ("city 1",), ("state 1",), likely_paths=frozenset({("in",)}))
    drawn = [example.path[1] for example in draw(QuestionSource(kg, [asked]))]
    assert 1.5 * drawn.count("capital of") < drawn.count("in") < 4 * drawn.count("capital of")  # 1.5 squared, to 1


def test_what_leads_to_the_answer_by_accident_is_drawn_only_if_likely():
    kg = KnowledgeGraph.from_triples([("Hub", "made", f"thing {number}") for number in range(20)], "hub")
    asked = Question("1", "best of Hub", ("Hub",), ("thing 1",))
    assert len(QuestionSource(kg, [asked])) == 0
    assert len(QuestionSource(kg, [replace(asked, likely_paths=frozenset({("made",)}))])) == 1


def test_held_out_relations_are_never_drawn():
    held_out = {"born in", "starring"}
    left = {step: words for step, words in TEMPLATES.items() if step[0] not in held_out}
    step_labels = {
        relation_label for e in draw(TemplateSource(KG, left, (0.5, 0.5), 0.3)) for _, relation_label, _ in hops_of(e)
    }
    assert step_labels == {"directed by", "directed"}
    questions = [
        Question("1", "who directed Jaws", ("Jaws",), ("Steven Spielberg",)),
        Question("2", "where was the director of Jaws born", ("Jaws",), ("Cincinnati",)),
    ]
    source = QuestionSource(KG, questions, held_out)
    assert [question.id for question, *_ in source.items] == ["1"]


def test_a_name_is_held_out_in_every_graph_at_once():
    graphs = {
        "world": ["directed by", "genre", "born in", "author"],
        "freebase": ["/film/film/genre", "/tv/tv_program/genre", "/people/person/place_of_birth"],
        "metaqa": ["directed_by"],
    }
    assert relation_name("/film/film/directed_by") == relation_name("directed by")
    seen_both_ways = set()
    for seed in range(20):
        held_out = draw_held_out(graphs, 1 / 3, seed)
        assert held_out == draw_held_out(graphs, 1 / 3, seed)
        names = {relation_name(relation) for relations in held_out.values() for relation in relations}
        assert len(names) == 2  # of five
        for graph, relations in graphs.items():
            assert held_out[graph] == {r for r in relations if relation_name(r) in names}
        seen_both_ways.add("genre" in names)
    assert seen_both_ways == {True, False}
    assert not any(draw_held_out(graphs, 0.0, 1).values())


def test_people_shorten_names_and_type_fast():
    rng = Random(1)
    names = {spoken_name(rng, "Paris (city)", ["City of Light"]) for _ in range(60)}
    assert names == {"Paris", "Paris (city)", "City of Light"}
    assert {spoken_name(rng, "(sic)") for _ in range(20)} == {"(sic)"}
    typed = {add_noise(Random(seed), "Who directed Jaws?") for seed in range(400)}
    assert {"Who directed Jaws?", "who directed jaws?", "who directed jaws", "Who directed Jaws"} <= typed
    close = {text for text in typed if text.lower().rstrip("?") != "who directed jaws"}
    assert close
    assert all(abs(len("who directed jaws") - len(text.rstrip("?"))) <= 1 for text in close)


@pytest.mark.parametrize(
    "line", ["born in\tforward\tquestion\tno slot", "born in\tforward\tquestion", "a\tb\tc\td\te\tf"]
)
def test_a_bad_template_line_is_named(line: str, tmp_path, monkeypatch):
    monkeypatch.setattr(template_files, "FOLDER", tmp_path)
    (tmp_path / "mine.tsv").write_text(f"born in\tforward\tquestion\twhere was {{e}} born\n{line}\n", "utf-8")
    with pytest.raises(ValueError, match="line 2"):
        load_templates("mine")


@pytest.mark.parametrize("name", ["world", "freebase", "metaqa"])
def test_the_templates_that_ship_can_be_read(name: str):
    templates = load_templates(name)
    assert sum(len(words.questions) for words in templates.values()) > 50


def test_one_wording_may_stand_for_several_hops():
    chains = {("directed by", "born in"): ["where is the maker of {e} from"], ("born in", "painted by"): ["{e}?"]}
    source = ChainSource(KG, chains)
    drawn = draw(source, 60)
    assert all(is_true(KG, example) and len(set(example.path)) == len(example.path) for example in drawn)
    assert {tuple(relation_label for _, relation_label, _ in hops_of(example)) for example in drawn} == {
        ("directed by", "born in")
    }
    assert all(example.path[0] == example.topic_entities[0] and "{e}" not in example.question for example in drawn)
    starts = {head for head in KG.entities if _ends(KG, head, ("directed by", "born in"))}
    assert {example.path[0] for example in drawn} == starts
    with pytest.raises(ValueError, match="no chain"):
        ChainSource(KG, chains, frozenset({"born in"}))


def _ends(kg: KnowledgeGraph, entity: str, step_labels: tuple[str, ...]) -> set[str]:
    """The oracle: where the readings lead, hop by hop."""
    reached = {entity}
    for relation_label in step_labels:
        reached = {tail for one in reached for said, tail in kg.neighbours(one) if said == relation_label}
    return reached


def test_every_chain_of_the_files_can_be_walked(world):
    chains = load_chains("world-chains")
    assert len(ChainSource(world, chains).chains) == len(chains)


def test_a_damaged_chain_file_names_the_line(tmp_path, monkeypatch):
    (tmp_path / "bad-chains.tsv").write_text("a -> b\twho is {e}\na -> b\twho\n", "utf-8")
    monkeypatch.setattr(template_files, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match="line 2"):
        load_chains("bad-chains")
