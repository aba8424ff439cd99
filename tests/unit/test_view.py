"""What the page is sent: small, escaped, in place, and the same every time."""

from __future__ import annotations

import json

import pytest

from kgdemo.events import (
    BeamWatch,
    CandidatesScored,
    DecodeStep,
    EntitiesLinked,
    Event,
    MaskedToken,
    Operand,
    Operation,
    PathFound,
    PathVerified,
    Picture,
    Thought,
    TokenChoice,
)
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.ui.assets import VIS, frame_document
from kgdemo.view.escape import escaped, json_in_html, visible
from kgdemo.view.page_records import EXPLAINED, OPERANDS, OPTIONS, PRUNED, TOKENS, record
from kgdemo.view.picture import MAX_LOOKED, MAX_NEIGHBOURS, MAX_NODES, PictureBuilder, Places, neighbours_of
from tests.helpers.oracles import verifier_of

KG = KnowledgeGraph.from_triples(
    [("Inception", "directed by", "Nolan"), ("Nolan", "born in", "London"), ("Inception", "genre", "film")]
    + [("Inception", "starring", f"Actor {n:03}") for n in range(30)],
)


def grown(texts: list[tuple[bool, str]]) -> tuple[PictureBuilder, list[Picture]]:
    """A picture after paths, and the records it gave."""
    picture, verifier = PictureBuilder(KG), verifier_of(KG)
    given = [picture.see(EntitiesLinked((), ("Inception",)))]
    for index, (constrained, text) in enumerate(texts, 1):
        path, verdict = verifier.verify_text(text)
        picture.see(PathFound(constrained, index, text, -1.0, path))
        given.append(picture.see(PathVerified(constrained, index, verdict)))
    return picture, [one for one in given if one is not None]


def after(events: list[Event], kg: KnowledgeGraph = KG) -> tuple[dict[str, dict], dict[str, dict]]:
    """Nodes and edges of the picture as the page has them after events."""
    picture, nodes, edges = PictureBuilder(kg), {}, {}
    for event in [EntitiesLinked((), ("Inception",)), *events]:
        given = picture.see(event) or Picture()
        for name in given.gone:
            del nodes[name]
        nodes |= {node["id"]: node for node in given.nodes}
        edges |= {edge["id"]: edge for edge in given.edges}
        edges = {key: edge for key, edge in edges.items() if edge["from"] in nodes and edge["to"] in nodes}
    return nodes, edges


def thought(number: int, *triples: tuple[str, str, str], fate: str = "open") -> Thought:
    return Thought("observation", number, (), "", triples=triples, fate=fate)


def path_events(text: str, index: int = 1) -> list[Event]:
    path, verdict = verifier_of(KG).verify_text(text)
    return [PathFound(True, index, text, -1.0, path), PathVerified(True, index, verdict)]


def kinds(edges: dict[str, dict]) -> set[tuple[str, str, str]]:
    return {(edge["from"], edge["to"], edge["kind"]) for edge in edges.values() if edge["kind"] != "neighbour"}


def test_what_a_thought_touched_is_in_the_picture_until_a_path_holds_it():
    touched = [thought(7, ("Inception", "directed by", "Nolan"), ("Nolan", "born in", "London"))]
    nodes, edges = after(touched)
    assert nodes["London"]["group"] == "looked"
    assert kinds(edges) == {("Inception", "Nolan", "looked"), ("Nolan", "London", "looked")}
    assert all(edge["paths"] == ["t7"] for edge in edges.values() if edge["kind"] == "looked")
    grown_nodes, grown_edges = after([*touched, *path_events("Inception -> directed by -> Nolan")])
    assert grown_nodes["Nolan"]["group"] == "end"
    assert kinds(grown_edges) == {("Inception", "Nolan", "grounded"), ("Nolan", "London", "looked")}
    assert (grown_nodes["Nolan"]["x"], grown_nodes["Nolan"]["y"]) == (nodes["Nolan"]["x"], nodes["Nolan"]["y"])


def test_a_fact_read_from_its_other_end_is_one_edge():
    kg = KnowledgeGraph.from_triples([("London", "birthplace of", "Nolan"), ("Inception", "directed by", "Nolan")])
    path = Path(("Inception", "Nolan", "London"), ("directed by", "~birthplace of"))
    found = [
        PathFound(True, 1, str(path), -1.0, path),
        PathVerified(True, 1, verifier_of(kg).verify(path)),
    ]
    seen = [
        thought(1, ("Inception", "directed by", "Nolan")),
        thought(2, ("London", "birthplace of", "Nolan")),
    ]
    expected = {("Inception", "Nolan", "grounded"), ("Nolan", "London", "grounded")}
    assert kinds(after([*seen, *found], kg)[1]) == expected
    assert kinds(after([*found, *seen], kg)[1]) == expected


def test_an_edge_walked_both_ways_is_drawn_once_and_two_facts_twice():
    kg = KnowledgeGraph.from_triples([("Inception", "likes", "Nolan"), ("Nolan", "loves", "Inception")])

    def drawn(*steps: tuple[str, str, str]) -> list[tuple[str, str, str]]:
        events: list[Event] = []
        for index, step in enumerate(steps):
            path = Path.from_labels(step)
            events += [PathFound(True, index, str(path), -1.0, path)]
            events += [PathVerified(True, index, verifier_of(kg).verify(path))]
        edges = after(events, kg)[1].values()
        return sorted((e["from"], e["label"], e["to"]) for e in edges if e["kind"] == "grounded")

    there, back = ("Inception", "likes", "Nolan"), ("Nolan", "~likes", "Inception")
    assert drawn(there, back) == [("Inception", "likes", "Nolan")]
    assert drawn(back, there) == [("Nolan", "~likes", "Inception")]
    assert drawn(there, ("Nolan", "loves", "Inception")) == [there, ("Nolan", "loves", "Inception")]


def test_what_only_dropped_thoughts_touched_is_marked_and_what_another_keeps_is_not():
    triple = ("Inception", "genre", "film")
    nodes, edges = after([thought(1, triple), thought(1, triple, fate="pruned")])
    assert (nodes["film"]["group"], kinds(edges)) == ("dropped", {("Inception", "film", "dropped")})
    nodes, edges = after([thought(1, triple), thought(2, triple), thought(1, triple, fate="pruned")])
    assert (nodes["film"]["group"], kinds(edges)) == ("looked", {("Inception", "film", "looked")})


def test_options_that_were_turned_down_are_nodes_where_they_are_paths_of_the_graph():
    options = ("Inception -> genre -> film", "Inception -> directed by -> Nolan", "Inception -> genre", "a -> b -> c")
    turned_down = CandidatesScored("entities", options, (0.9, 0.5, 0.4, 0.1), (True, False, False, False), "somebody")
    nodes, edges = after([turned_down])
    assert nodes["Nolan"]["group"] == "dropped"
    assert kinds(edges) == {("Inception", "Nolan", "dropped")}


def test_what_was_looked_at_does_not_fill_the_picture():
    nodes, _ = after([thought(n, ("Inception", "starring", f"Actor {n:03}")) for n in range(1, 30)])
    assert sum(node["group"] == "looked" for node in nodes.values()) == MAX_LOOKED
    picture = PictureBuilder(KG)
    picture.see(EntitiesLinked((), ("Inception",)))
    given = [picture.see(thought(n, ("Inception", "starring", f"Actor {n:03}"))) for n in range(1, 30)]
    assert given[-1].left_out == 29 - MAX_LOOKED


def test_children_lie_around_their_parent_and_what_is_invented_above_everything():
    places = Places()
    places.put_topic("a")
    rows = [places.put(f"b{n}", 1, "a")[1] for n in range(5)]
    assert rows[0] == 0
    assert sorted(rows) == [-2 * rows[1], -rows[1], 0, rows[1], 2 * rows[1]]
    assert places.put("ghost", 1, "a", up=True)[1] < min(rows)


def test_a_decision_is_trimmed_to_its_best_options():
    many = tuple(f"o{n}" for n in range(100))
    body = record(CandidatesScored("entities", many, (0.5,) * 100, (True,) * 100, "somebody"))
    assert body["options"] == list(many[:OPTIONS])
    assert len(body["scores"]) == len(body["kept"]) == OPTIONS


@pytest.mark.parametrize("text", ["<img onerror=x>", "a\"b'c", "</script>", "&amp;"])
def test_text_becomes_harmless_html(text):
    safe = escaped(text)
    assert not set("<>\"'") & set(safe)


def test_direction_marks_and_controls_vanish():
    assert visible("a\u202eb\u2066c\x00d\ufeff") == "abcd"
    assert len(visible("x" * 10_000, 50)) == 50


def test_json_in_html_cannot_end_its_element_and_reads_back():
    value = {"a": "</script><!-- <b> & ${x} {{y}}"}
    written = json_in_html(value)
    assert not set("<>&") & set(written)
    assert json.loads(written) == value


def step(beams: int = 10, discarded: int = 30) -> DecodeStep:
    masked = tuple(MaskedToken(f"t{n}", 0.1, "no edge") for n in range(9))
    watched = tuple(BeamWatch(b, "text", 3, 9, 0.123456789, masked) for b in range(beams))
    kept = tuple(TokenChoice(100 + b, b, 7, " tok", -0.123456, -1.0 - b, "kept") for b in range(beams))
    gone = tuple(TokenChoice(200 + n, 0, 7, " tok", -9.0, -99.0, "pruned") for n in range(discarded))
    return DecodeStep(True, 0, kept + gone, watched, 90)


def test_a_step_is_trimmed_to_what_the_page_shows():
    body = record(step())
    assert len(body["choices"]) == 10 + PRUNED
    assert sum("masked" in watch for watch in body["watched"]) == EXPLAINED
    assert all(len(watch.get("masked", [])) <= TOKENS for watch in body["watched"])
    assert body["watched"][0]["forbidden_mass"] == 0.1235


def test_ten_beams_and_forty_tokens_stay_under_600_kb():
    both = [record(step()), {**record(step()), "constrained": False, "watched": []}]
    assert 40 * sum(len(json.dumps(one)) for one in both) < 600_000


def test_a_node_keeps_its_place_while_the_picture_grows():
    texts = [
        (True, "Inception -> directed by -> Nolan"),
        (True, "Inception -> directed by -> Nolan -> born in -> London"),
    ]
    _, given = grown(texts)
    places: dict[str, tuple[int, int]] = {}
    for one in given:
        for gone in one.gone:
            places.pop(gone, None)
        for node in one.nodes:
            assert places.setdefault(node["id"], (node["x"], node["y"])) == (node["x"], node["y"])
    assert places["London"][0] > places["Nolan"][0] > places["Inception"][0]
    assert grown(texts)[1] == given


def test_no_two_nodes_share_a_place():
    _, given = grown([(True, f"Inception -> starring -> Actor {n:03}") for n in range(30)])
    nodes = {node["id"]: (node["x"], node["y"]) for one in given for node in one.nodes}
    for gone in (name for one in given for name in one.gone):
        assert gone in nodes  # it came back with a place of its own
    assert len(set(nodes.values())) == len(nodes)


def test_invented_hops_are_ghosts_in_the_same_picture():
    _, given = grown([(True, "Inception -> directed by -> Nolan"), (False, "Inception -> directed by -> Spielborg")])
    edges = {edge["id"]: edge for one in given for edge in one.edges}
    ghosts = [edge for edge in edges.values() if edge["kind"] == "ghost"]
    assert [(edge["from"], edge["to"], edge["paths"]) for edge in ghosts] == [("Inception", "Spielborg", ["x2"])]
    assert any(edge["kind"] == "grounded" and edge["paths"] == ["g1"] for edge in edges.values())
    groups = {node["id"]: node["group"] for one in given for node in one.nodes}
    assert groups["Spielborg"] == "ghost"


def test_neighbours_fade_and_the_rest_is_counted():
    _, given = grown([])
    groups = [node["group"] for node in given[0].nodes]
    more = [node["label"] for node in given[0].nodes if node["group"] == "more"]
    assert more == [f"+{32 - groups.count('neighbour')} more"]


def test_the_picture_never_holds_more_nodes_than_agreed():
    kg = KnowledgeGraph.from_triples([("a", "r", f"b{n}") for n in range(400)])
    picture, verifier = PictureBuilder(kg), verifier_of(kg)
    picture.see(EntitiesLinked((), ("a",)))
    shown: set[str] = set()
    for n in range(400):
        path = Path(("a", f"b{n}"), ("r",))
        picture.see(PathFound(True, n, str(path), -1.0, path))
        given = picture.see(PathVerified(True, n, verifier.verify(path)))
        shown |= {node["id"] for node in given.nodes}
    assert len(shown) <= MAX_NODES
    assert given.left_out == 400 - len(shown)


def test_the_frame_loads_nothing_from_elsewhere():
    document = frame_document("__BASE__v.js", "__BASE__f.js", "<Graph>", "__ORIGIN__")
    assert "://" not in document
    assert "&lt;Graph&gt;" in document
    assert (VIS / "vis-network.min.js").is_file()


def test_neighbours_come_once_each_the_rare_relations_first_and_say_how_many_are_left_out():
    found = neighbours_of(KG, "Inception", 5)
    names = [one["id"] for one in found["near"]]
    assert names[:2] == ["Nolan", "film"]
    assert len(names) == 5
    assert found["more"] == 32 - 5
    assert len(set(names)) == 5
    everything = neighbours_of(KG, "Inception")
    assert {one["id"] for one in everything["near"]} == {t for _, t in KG.neighbours("Inception")}
    assert everything["more"] == 0


def test_a_loop_or_an_unknown_entity_has_no_neighbours_and_a_hub_is_cut():
    hub = KnowledgeGraph.from_triples([("hub", "self", "hub")] + [("hub", "r", f"n{n}") for n in range(3000)])
    found = neighbours_of(hub, "hub")
    assert len(found["near"]) == MAX_NEIGHBOURS
    assert found["more"] == 3000 - MAX_NEIGHBOURS
    assert "hub" not in {one["id"] for one in found["near"]}
    assert neighbours_of(hub, "no such entity") == {"near": [], "more": 0}


def test_a_calculation_is_drawn_with_its_paths_and_values():
    path = Path(("Inception", "Nolan", "London"), ("directed by", "born in"))
    operands = (Operand("London", (path,), "population", "8866180", "people"), Operand("Inception", (), "type", "film"))
    nodes, edges = after([Operation("greatest", "", operands, ("London",))])
    drawn = {(e["from"], e["label"], e["to"]) for e in edges.values() if "o1" in e["paths"]}
    assert drawn == {
        ("Inception", "directed by", "Nolan"),
        ("Nolan", "born in", "London"),
        ("London", "population", "8,866,180 people"),
    }
    assert (nodes["London"]["group"], nodes["8,866,180 people"]["group"]) == ("end", "value")
    assert not any("o2" in edge["paths"] for edge in edges.values())


def test_of_a_large_calculation_the_result_is_sent_and_drawn():
    operands = tuple(Operand(f"E{n}", (), "height", str(n), "m") for n in range(2000))
    operation = Operation("greatest", "", operands, ("E1999",))
    sent = record(operation)
    assert (len(sent["operands"]), sent["left_out"]) == (OPERANDS, 2000 - OPERANDS)
    assert sent["operands"][-1] == {"number": 2000, "entity": "E1999", "paths": []} | {
        "attribute": "height",
        "value": "1999",
        "unit": "m",
    }
    nodes, _ = after([operation])
    assert "E1999" in nodes
    assert len(nodes) <= MAX_NODES


def test_of_many_operands_those_that_are_the_result_are_drawn_first():
    operands = tuple(Operand(f"E{n}", (), "height", str(n), "m") for n in range(40))
    nodes, edges = after([Operation("filter", "> 36", operands, ("E37", "E38", "E39"))])
    drawn = [name for name in nodes if name.startswith("E")]
    assert drawn[:3] == ["E37", "E38", "E39"]
    assert len(drawn) < len(operands)
    numbers = [edge["paths"] for edge in edges.values() if edge["paths"]]
    assert numbers[:3] == [["o38"], ["o39"], ["o40"]]  # as they were given
