"""What the page is sent: small, escaped, in place, and the same every time."""

from __future__ import annotations

import json

import pytest

from kgdemo.events import BeamWatch, DecodeStep, EntitiesLinked, MaskedToken, PathFound, PathVerified, TokenChoice
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.path import Path
from kgdemo.verify import Verifier
from kgdemo.view.escape import escaped, json_in_html, visible
from kgdemo.view.frame import VIS, frame_document
from kgdemo.view.picture import MOST_NODES, Picture
from kgdemo.view.surroundings import MOST, neighbours_of
from kgdemo.view.wire import EXPLAINED, PRUNED, TOKENS, record

KG = KnowledgeGraph.from_triples(
    [("Inception", "directed by", "Nolan"), ("Nolan", "born in", "London"), ("Inception", "genre", "film")]
    + [("Inception", "starring", f"Actor {n:03}") for n in range(30)],
)


def grown(texts: list[tuple[bool, str]]) -> tuple[Picture, list[dict]]:
    """A picture after paths, and the records it gave."""
    picture, verifier = Picture(KG), Verifier(KG)
    given = [picture.see(EntitiesLinked((), ("Inception",)))]
    for index, (constrained, text) in enumerate(texts, 1):
        path, verdict = verifier.verify_text(text)
        picture.see(PathFound(constrained, index, text, -1.0, path))
        given.append(picture.see(PathVerified(constrained, index, verdict)))
    return picture, [one for one in given if one is not None]


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
        for gone in one["gone"]:
            places.pop(gone, None)
        for node in one["nodes"]:
            assert places.setdefault(node["id"], (node["x"], node["y"])) == (node["x"], node["y"])
    assert places["London"][0] > places["Nolan"][0] > places["Inception"][0]
    assert grown(texts)[1] == given


def test_no_two_nodes_share_a_place():
    _, given = grown([(True, f"Inception -> starring -> Actor {n:03}") for n in range(30)])
    nodes = {node["id"]: (node["x"], node["y"]) for one in given for node in one["nodes"]}
    for gone in (name for one in given for name in one["gone"]):
        assert gone in nodes  # it came back with a place of its own
    assert len(set(nodes.values())) == len(nodes)


def test_invented_hops_are_ghosts_in_the_same_picture():
    _, given = grown([(True, "Inception -> directed by -> Nolan"), (False, "Inception -> directed by -> Spielborg")])
    edges = {edge["id"]: edge for one in given for edge in one["edges"]}
    ghosts = [edge for edge in edges.values() if edge["kind"] == "ghost"]
    assert [(edge["from"], edge["to"], edge["paths"]) for edge in ghosts] == [("Inception", "Spielborg", ["x2"])]
    assert any(edge["kind"] == "grounded" and edge["paths"] == ["g1"] for edge in edges.values())
    groups = {node["id"]: node["group"] for one in given for node in one["nodes"]}
    assert groups["Spielborg"] == "ghost"


def test_neighbours_fade_and_the_rest_is_counted():
    _, given = grown([])
    groups = [node["group"] for node in given[0]["nodes"]]
    more = [node["label"] for node in given[0]["nodes"] if node["group"] == "more"]
    assert more == [f"+{32 - groups.count('neighbour')} more"]


def test_the_picture_never_holds_more_nodes_than_agreed():
    kg = KnowledgeGraph.from_triples([("a", "r", f"b{n}") for n in range(400)])
    picture, verifier = Picture(kg), Verifier(kg)
    picture.see(EntitiesLinked((), ("a",)))
    shown: set[str] = set()
    for n in range(400):
        path = Path(("a", f"b{n}"), ("r",))
        picture.see(PathFound(True, n, str(path), -1.0, path))
        given = picture.see(PathVerified(True, n, verifier.verify(path)))
        shown |= {node["id"] for node in given["nodes"]}
    assert len(shown) <= MOST_NODES
    assert given["left_out"] == 400 - len(shown)


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
    assert len(found["near"]) == MOST
    assert found["more"] == 3000 - MOST
    assert "hub" not in {one["id"] for one in found["near"]}
    assert neighbours_of(hub, "no such entity") == {"near": [], "more": 0}
