"""Text-RAG, Graph-RAG and KAPING: what is retrieved, and how near it is."""

from __future__ import annotations

from kgdemo.events import CandidatesScored, PathFound
from kgdemo.kg.path import Path
from kgdemo.methods import retrieval
from kgdemo.methods.hop_lists import start
from kgdemo.query.form import understand
from kgdemo.settings import Settings
from tests.helpers.reasoning import Clerk, ask, clerk_world, film_world, of


def test_text_rag_finds_facts_by_their_words_alone():
    events = ask("text-rag", "Who starred in Titanic?", [], film_world(), beams=3)
    first = of(events, PathFound)[0].path
    assert first == Path(("Titanic", "Leonardo DiCaprio"), ("starring",))
    assert of(events, CandidatesScored)[0].by == "sentence embeddings"


def test_graph_rag_reaches_one_hop_further_than_text_rag():
    hops = {}
    for method in ("text-rag", "graph-rag"):
        events = ask(method, "director of Inception, born in which city", [], film_world(), beams=30)
        hops[method] = {len(e.path.relations) for e in of(events, PathFound)}
    assert hops == {"text-rag": {1}, "graph-rag": {1, 2}}


def test_kaping_takes_the_k_triples_of_the_topic_nearest_to_the_question():
    events = ask("kaping", "Who directed Dunkirk?", ["Inception"], film_world(), beams=3)
    found = [e.path for e in of(events, PathFound)]
    assert len(found) == 3
    assert {path.entities[0] for path in found} == {"Inception"}, "the topics decide, not the question's words"
    assert found[0].relations == ("directed by",)
    scores = [e.score for e in of(events, PathFound)]
    assert scores == sorted(scores, reverse=True)


def test_a_hub_is_cut_to_the_relations_near_the_question():
    triples = [("hub", "part", f"n{i}") for i in range(500)] + [("hub", "born in", "London")]
    resources = film_world(triples=triples)
    query = understand("where born", ["hub"], resources.kg)
    found = retrieval.facts(query, [start("hub")], resources, Settings(), limit=50)
    assert len(found) == 50
    assert found[0].end == "London"


def test_nodes_are_found_by_name():
    resources = film_world()
    assert retrieval.nodes("Tom Hardy", resources, 1) == ["Tom Hardy"]
    assert retrieval.nodes("what did hardy play in", resources, 1) == ["Tom Hardy"]
    assert retrieval.nodes("zzz", resources, 1) == []


def test_bm25_ranks_by_words_and_takes_nothing_that_shares_none():
    events = ask("bm25", "Who directed Dunkirk?", [], film_world(), beams=5)
    assert of(events, CandidatesScored)[0].by == "BM25"
    found = of(events, PathFound)
    assert found
    words = [set(retrieval.sentence(e.path).lower().split()) & {"who", "directed", "dunkirk"} for e in found]
    assert all(words)
    assert [e.score for e in found] == sorted((e.score for e in found), reverse=True)
    assert ask("bm25", "zzz", [], film_world())[-1].refusal


def test_the_graph_in_the_prompt_is_all_triples_within_l_hops_up_to_the_limit():
    clerk = Clerk()
    events = ask("direct-graph", "Where was the director of Inception born?", ["Inception"], clerk_world(clerk), hops=2)
    (prompt,) = clerk.prompts
    assert "Inception -> directed by -> Christopher Nolan\n" in prompt
    assert "Christopher Nolan -> born in -> London\n" in prompt
    found = [e.path for e in of(events, PathFound)]
    assert len(found) > 3, "K bounds the search, not what is shown to the model"
    assert all(len(path.relations) == 1 for path in found)
    few = ask(
        "direct-graph",
        "Where was he born?",
        ["Inception"],
        clerk_world(Clerk()),
        retrieval.DirectGraphOptions(triples=2),
        hops=1,
    )
    assert len(of(few, PathFound)) == 2
    assert {e.path.entities[0] for e in of(few, PathFound)} == {"Inception"}
