"""Visitors' graphs: private, bounded, forgotten in time, and the same in both profiles but for their size."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest
from gradio_client.exceptions import AppError

from kgdemo.errors import UserError
from kgdemo.events import ConstraintReady, EntitiesLinked, PathFound, PathVerified, RunFailed, RunStarted
from kgdemo.settings import PUBLIC
from kgdemo.ui.asking import ask
from kgdemo.ui.session_graphs import MOST_KEPT, SECONDS_KEPT, Asked, Worlds
from tests.app.test_feed import fields
from tests.helpers.page import NASTY, TRIPLES, SmallPipeline
from tests.helpers.reasoning import of

FILMS = b"Heat\tdirected by\tMichael Mann\nHeat\tcast\tAl Pacino\nAl Pacino\tborn in\tNew York\n"
NO_NOLAN = {"edits": [["remove", "Inception", "directed by", "Christopher Nolan"]]}


class Clock:
    """A clock that stands still until it is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture(scope="module", params=["local", "public"])
def both(request) -> SmallPipeline:
    return SmallPipeline(PUBLIC if request.param == "public" else None)


@pytest.fixture
def worlds(both) -> Worlds:
    return Worlds(both, Clock())


def run(worlds: Worlds, world: dict | str, **changed) -> list:
    written = world if isinstance(world, str) else json.dumps(world)
    return list(ask(worlds.pipeline, fields(world=written, compare=False, **changed), worlds=worlds))


def test_a_removed_edge_is_on_no_path_and_the_graph_of_others_keeps_it(worlds):
    before = run(worlds, "")
    after = run(worlds, NO_NOLAN)
    again = run(worlds, "")
    assert of(before, RunStarted)[0].triples == of(after, RunStarted)[0].triples + 1
    assert of(after, ConstraintReady)[0].paths < of(before, ConstraintReady)[0].paths
    assert any("Christopher Nolan" in path.text for path in of(before, PathFound))
    assert not any("Inception -> directed by -> Christopher" in path.text for path in of(after, PathFound))
    assert all(e.verdict.faithful for e in of(after, PathVerified))
    assert [p.text for p in of(again, PathFound)] == [p.text for p in of(before, PathFound)]
    assert set(worlds.pipeline.graph("world").triples()) == set(TRIPLES)


def test_an_added_entity_is_linked_and_walked(worlds):
    added = {"edits": [["add", "Barbie", "directed by", "Greta Gerwig"], ["add", "Greta Gerwig", "born in", "London"]]}
    events = run(worlds, added, question="Where was the director of Barbie born?", beams=10)
    assert of(events, EntitiesLinked)[0].chosen == ("Barbie",)
    texts = [path.text for path in of(events, PathFound)]
    assert "Barbie -> directed by -> Greta Gerwig -> born in -> London" in texts
    assert all(e.verdict.faithful for e in of(events, PathVerified))


def test_a_brought_graph_is_asked_by_its_name_alone(worlds):
    brought = worlds.bring(FILMS, "films.tsv")
    assert (brought.triples, brought.entities, brought.relations) == (3, 4, 3)
    assert brought.rows[0] == ("Heat", "directed by", "Michael Mann")
    events = run(worlds, {"own": brought.own}, question=brought.starters[0])
    assert of(events, RunStarted)[0].graph == "films.tsv"
    assert of(events, PathFound)
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    edited = {"own": brought.own, "edits": [["remove", "Heat", "cast", "Al Pacino"]]}
    assert of(run(worlds, edited, question="Who directed Heat?"), RunStarted)[0].triples == 2


@pytest.mark.parametrize(
    ("world", "says"),
    [
        ({"own": "own:guessed"}, "forgotten"),
        ({"own": "/etc/passwd"}, "forgotten"),
        ({"own": "world"}, "forgotten"),
        ({"edits": [["remove", "Inception", "directed by", "Nobody"]]}, "no edge"),
        ({"edits": [["add", "Inception", "directed by", "Christopher Nolan"]]}, "already"),
        ({"edits": [["add", "a", "b", "c"]] * 51}, "50"),
        ({"edits": [["add", "a"]]}, "cannot be read"),
        ("[1]", "cannot be read"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_a_mistake_is_one_sentence(worlds, world, says):
    (failed,) = run(worlds, world)
    assert isinstance(failed, RunFailed)
    assert says in failed.message


def test_the_oldest_go_first_and_all_go_in_time(both):
    clock = Clock()
    worlds = Worlds(both, clock)
    names = [worlds.bring(FILMS, f"{number}.tsv").own for number in range(MOST_KEPT + 1)]
    with pytest.raises(UserError, match="forgotten"):
        worlds.source("world", Asked(names[0]))
    clock.now = SECONDS_KEPT - 1
    assert worlds.source("world", Asked(names[1])) == names[1]
    clock.now = SECONDS_KEPT + 1
    with pytest.raises(UserError, match="forgotten"):
        worlds.source("world", Asked(names[2]))
    assert worlds.source("world", Asked(names[1])) == names[1]
    clock.now = 3 * SECONDS_KEPT
    with pytest.raises(UserError, match="forgotten"):
        worlds.source("world", Asked(names[1]))
    assert not [key for key in both._loaded if key[1] in names]


def test_the_public_profile_takes_less_and_reads_no_file():
    worlds = Worlds(SmallPipeline(PUBLIC))
    assert "at most" in worlds.brought({"text": "x" * (PUBLIC.upload_bytes + 1)})["error"]
    packed = b64encode(b"x" * (PUBLIC.upload_bytes + 100)).decode()
    assert "at most" in worlds.brought({"name": "x.tsv", "base64": packed})["error"]
    assert "more than 20,000" in worlds.brought({"text": "a\tb\tc\n" * 20_001})["error"]
    assert "no known triple format" in worlds.brought({"name": "/etc/passwd", "base64": ""})["error"]
    (failed,) = run(worlds, "", graph="/etc/passwd")
    assert "This server knows the graphs" in failed.message


def test_hostile_labels_come_back_as_data(worlds):
    text = "".join(f"Nasty\tsays {n}\t{label}\n" for n, label in enumerate(NASTY))
    brought = worlds.brought({"text": text})
    assert brought["triples"] == len(NASTY)
    assert len(json.dumps(brought)) < 5000
    assert "\u202e" not in json.dumps(brought, ensure_ascii=False)
    events = run(worlds, {"own": brought["own"]}, question="What does Nasty say?", beams=10)
    assert of(events, PathFound)


def test_no_program_can_reach_a_visitors_graph(client):
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert not [name for name in named if "bring" in name or "world" in name]
    for name in ("own:guessed", "edited:guessed"):
        with pytest.raises(AppError, match="no graph"):
            client.predict("Who?", api_name="/ask", graph=name)
