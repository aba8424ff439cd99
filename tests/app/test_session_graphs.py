"""Visitors' graphs: private, bounded, forgotten in time, and the same in both profiles but for their size."""

from __future__ import annotations

import json
from base64 import b64encode
from dataclasses import replace

import pytest
from gradio_client.exceptions import AppError

from kgdemo.errors import UserError
from kgdemo.events import ConstraintReady, EntitiesLinked, PathFound, PathVerified, RunFailed, RunStarted
from kgdemo.settings import PUBLIC
from kgdemo.ui.asking import Server, ask
from kgdemo.ui.guard import Visits
from kgdemo.ui.session_graphs import SECONDS_TO_LIVE, ClientGraph, SessionGraphs, Visitor, held_whole
from tests.app.test_event_stream import fields
from tests.helpers import sparql_server
from tests.helpers.reasoning import of
from tests.helpers.small import NASTY, TRIPLES, SmallPipeline

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
def session_graphs(both) -> SessionGraphs:
    return SessionGraphs(both, Clock())


def run(session_graphs: SessionGraphs, world: dict | str, **changed) -> list:
    written = world if isinstance(world, str) else json.dumps(world)
    return list(
        ask(
            Server(session_graphs.pipeline, graphs=session_graphs, visits=Visits(0)),
            fields(client_graph=written, compare=False, **changed),
        )
    )


def test_bad_lines_are_listed_and_the_good_ones_taken_on_request(session_graphs):
    text = "Heat\tdirected by\tMichael Mann\n" + "Heat\tcast\n" * 30 + "Heat\tcast\tAl Pacino\n"
    told = session_graphs.brought({"text": text})
    assert told["error"].startswith("pasted text, line 2:")
    assert (told["bad"], told["good"], len(told["faults"])) == (30, 2, 20)
    assert told["faults"][0].startswith("line 2: 2 columns")
    taken = session_graphs.brought({"text": text, "lenient": True})
    assert (taken["triples"], taken["left_out"]) == (2, 30)
    assert len(session_graphs.pipeline.graph(taken["own"])) == 2
    assert "good" not in session_graphs.brought({"text": "nothing\nof use"})


def test_a_removed_edge_is_on_no_path_and_the_graph_of_others_keeps_it(session_graphs):
    before = run(session_graphs, "")
    after = run(session_graphs, NO_NOLAN)
    again = run(session_graphs, "")
    assert of(before, RunStarted)[0].triples == of(after, RunStarted)[0].triples + 1
    assert of(after, ConstraintReady)[0].paths < of(before, ConstraintReady)[0].paths
    assert any("Christopher Nolan" in path.text for path in of(before, PathFound))
    assert not any("Inception -> directed by -> Christopher" in path.text for path in of(after, PathFound))
    assert all(e.verdict.faithful for e in of(after, PathVerified))
    assert [p.text for p in of(again, PathFound)] == [p.text for p in of(before, PathFound)]
    assert set(session_graphs.pipeline.graph("world").triples()) == set(TRIPLES)


def test_an_added_entity_is_linked_and_walked(session_graphs):
    added = {"edits": [["add", "Barbie", "directed by", "Greta Gerwig"], ["add", "Greta Gerwig", "born in", "London"]]}
    events = run(session_graphs, added, question="Where was the director of Barbie born?", beams=10)
    assert of(events, EntitiesLinked)[0].chosen == ("Barbie",)
    texts = [path.text for path in of(events, PathFound)]
    assert "Barbie -> directed by -> Greta Gerwig -> born in -> London" in texts
    assert all(e.verdict.faithful for e in of(events, PathVerified))


def test_a_brought_graph_is_asked_by_its_name_alone(session_graphs):
    brought = session_graphs.bring(FILMS, "films.tsv")
    assert (brought.triples, brought.entities, brought.relations) == (3, 4, 3)
    assert brought.rows[0] == ("Heat", "directed by", "Michael Mann")
    events = run(session_graphs, {"own": brought.own}, question=brought.starters[0])
    assert of(events, RunStarted)[0].graph == "films.tsv"
    assert of(events, PathFound)
    assert all(e.verdict.faithful for e in of(events, PathVerified))
    edited = {"own": brought.own, "edits": [["remove", "Heat", "cast", "Al Pacino"]]}
    assert of(run(session_graphs, edited, question="Who directed Heat?"), RunStarted)[0].triples == 2


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
def test_a_mistake_is_one_sentence(session_graphs, world, says):
    (failed,) = run(session_graphs, world)
    assert isinstance(failed, RunFailed)
    assert says in failed.message


def test_the_oldest_go_first_and_all_go_in_time(both):
    clock = Clock()
    session_graphs = SessionGraphs(both, clock)
    names = [session_graphs.bring(FILMS, f"{number}.tsv").own for number in range(both.profile.graphs + 1)]
    with pytest.raises(UserError, match="forgotten"):
        session_graphs.source("world", ClientGraph(names[0]))
    clock.now = SECONDS_TO_LIVE - 1
    assert session_graphs.source("world", ClientGraph(names[1])) == names[1]
    clock.now = SECONDS_TO_LIVE + 1
    with pytest.raises(UserError, match="forgotten"):
        session_graphs.source("world", ClientGraph(names[2]))
    assert session_graphs.source("world", ClientGraph(names[1])) == names[1]
    clock.now = 3 * SECONDS_TO_LIVE
    with pytest.raises(UserError, match="forgotten"):
        session_graphs.source("world", ClientGraph(names[1]))
    assert not [key for key in both._loaded if key[1] in names]


def test_nobody_loses_the_last_graph_to_another_and_a_full_server_says_so():
    profile = replace(PUBLIC, graphs=2, graphs_an_address=3, graphs_in_all=4)
    session_graphs = SessionGraphs(SmallPipeline(profile), Clock())

    def bring(address: str, name: str) -> str:
        return session_graphs.bring(FILMS, "films.tsv", Visitor(address, name)).own

    def kept(name: str) -> bool:
        return name in session_graphs._used_at

    stranger = bring("there", "s")
    hoard = [bring("here", "a") for _ in range(9)]
    assert [kept(name) for name in (stranger, *hoard[-3:])] == [True, False, True, True]
    other = bring("here", "b")
    third = bring("here", "c")  # the address is full: the one who has two makes room
    assert [kept(name) for name in (*hoard[-2:], other, third)] == [False, True, True, True]
    with pytest.raises(UserError, match="no room for another graph from your network"):
        bring("here", "d")
    with pytest.raises(UserError, match="no room for another graph from this server"):
        bring("elsewhere", "e")
    assert kept(stranger)
    again = bring("here", "b")
    assert [kept(name) for name in (other, again)] == [False, True]


def test_twenty_visitors_of_one_class_keep_twenty_graphs():
    session_graphs = SessionGraphs(SmallPipeline(PUBLIC), Clock())
    names = [session_graphs.bring(FILMS, "x.tsv", Visitor("school", str(number))).own for number in range(20)]
    assert [session_graphs.source("world", ClientGraph(name)) for name in names] == names


def test_the_public_profile_takes_less_and_reads_no_file():
    session_graphs = SessionGraphs(SmallPipeline(PUBLIC))
    assert "at most" in session_graphs.brought({"text": "x" * (PUBLIC.upload_bytes + 1)})["error"]
    packed = b64encode(b"x" * (PUBLIC.upload_bytes + 100)).decode()
    assert "at most" in session_graphs.brought({"name": "x.tsv", "base64": packed})["error"]
    assert "more than 20,000" in session_graphs.brought({"text": "a\tb\tc\n" * 20_001})["error"]
    assert "a name of 201 characters" in session_graphs.brought({"text": f"a\tb\t{'c' * 201}\n"})["error"]
    assert "no known triple format" in session_graphs.brought({"name": "/etc/passwd", "base64": ""})["error"]
    (failed,) = run(session_graphs, "", graph="/etc/passwd")
    assert "There is no graph '/etc/passwd' here" in failed.message


def test_hostile_labels_come_back_as_data(session_graphs):
    longest = session_graphs.pipeline.profile.label or 10_000
    text = "".join(f"Nasty\tsays {n}\t{label[:longest]}\n" for n, label in enumerate(NASTY))
    brought = session_graphs.brought({"text": text})
    assert brought["triples"] == len(NASTY)
    assert len(json.dumps(brought)) < 5000
    assert "\u202e" not in json.dumps(brought, ensure_ascii=False)
    events = run(session_graphs, {"own": brought["own"]}, question="What does Nasty say?", beams=10)
    assert of(events, PathFound)


def test_no_program_can_reach_a_visitors_graph(client):
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert not [name for name in named if "bring" in name or "world" in name]
    for name in ("own:guessed", "edited:guessed"):
        with pytest.raises(AppError, match="no graph"):
            client.predict("Who?", api_name="/ask", graph=name)


def test_a_graph_behind_a_store_is_neither_counted_nor_changed_and_says_so():
    small = SmallPipeline()
    with sparql_server.served(sparql_server.triples_of(small.graph("world"))) as endpoint:
        source = f"sparql:{endpoint.url}"
        kg = small.graph(source)
        graphs = SessionGraphs(small, Clock())
        with pytest.raises(UserError, match="lies behind a store"):
            held_whole(kg)
        told = graphs.tried(kg, json.dumps(NO_NOLAN))
        assert "bring that part as triples" in told["error"]
        with pytest.raises(UserError, match="lies behind a store"):
            graphs.source(source, ClientGraph.read(json.dumps(NO_NOLAN)))
        assert graphs.source(source, ClientGraph()) == source
