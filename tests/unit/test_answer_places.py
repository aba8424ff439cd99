"""A general model's answer stays its own: looked up on the paths it cites, with the graph's additions beside it."""

from __future__ import annotations

import pytest

from kgdemo.answering.answer_sets import conclude
from kgdemo.events import AnswerFinal, Notice, Operation
from kgdemo.kg.path import Path
from kgdemo.query.form import understand
from kgdemo.reasoners.base import Evidence
from kgdemo.settings import Settings
from tests.helpers.endpoint import Endpoint, serve
from tests.helpers.reasoning import Clerk, clerk_world, film_world
from tests.helpers.small import SmallPipeline

NOLAN = Path(("Christopher Nolan", "Inception"), ("directed",))
BORN = Path(("Inception", "Christopher Nolan", "London"), ("directed by", "born in"))


class Says(Clerk):
    """A clerk that answers one thing."""

    def __init__(self, reply: str) -> None:
        super().__init__()
        self.said = reply

    def reply(self, prompt: str) -> str:
        return self.said


def final(reply: str, path: Path = NOLAN, whole: bool = True) -> AnswerFinal:
    """The answer of a model that was given two paths and replied so."""
    resources = clerk_world(Says(reply))
    query = understand("Which films did Nolan direct?", path.entities[:1], resources.kg)
    evidence = [Evidence(1, path, path.end), Evidence(2, Path(("Titanic", "1997"), ("released in year",)), "1997")]
    return list(conclude(query, evidence, resources, directed=False, whole=whole))[-1]


def test_one_film_stays_one_film_and_the_others_stand_beside_it():
    made = final("Inception [1]")
    assert made.answers == ("Inception",)
    assert set(made.completed) == {"Interstellar", "Dunkirk"}
    assert made.places == ("path",)
    assert len(made.citations) == 1


def test_the_additions_can_be_left_out():
    made = final("Inception [1]", whole=False)
    assert (made.answers, made.completed) == (("Inception",), ())


@pytest.mark.parametrize(
    ("reply", "place"),
    [
        ("London [1]", "path"),
        ("The answer is **london** [1].", "path"),
        ("Los Angeles [1]", "graph"),
        ("1997 [1]", "graph"),
        ("London", "graph"),
        ("Atlantis [1]", "nowhere"),
    ],
)
def test_an_answer_is_on_its_path_elsewhere_in_the_graph_or_nowhere(reply, place):
    made = final(reply, BORN)
    assert made.places == (place,)
    assert len(made.answers) == 1
    assert made.completed == (), "where it is not on its path, nothing is put right in its name"


def test_our_own_reasoner_speaks_for_the_graph():
    resources = film_world()
    query = understand("Which films did Nolan direct?", ["Christopher Nolan"], resources.kg)
    made = list(conclude(query, [Evidence(1, NOLAN, "Inception")], resources, directed=False, whole=True))[-1]
    assert set(made.answers) == {"Inception", "Interstellar", "Dunkirk"}
    assert (made.places, set(made.completed)) == ((), {"Interstellar", "Dunkirk"})


def test_what_is_counted_from_the_graph_stands_beside_what_the_model_says():
    question = "How many people star in Inception?"
    with serve(Endpoint(replies=["7 [1]"])) as endpoint:
        asked = SmallPipeline(endpoint=endpoint.url).run(question, Settings(beams=10, compare=False, explain=0))
        events = list(asked)
    final = next(e for e in events if isinstance(e, AnswerFinal))
    assert final.answers == ("7",), "its answer stays its own"
    (notice,) = [e.text for e in events if isinstance(e, Notice) and "Computed" in e.text]
    assert "The graph holds 2 people" in notice, "the random path model finds no more"
    assert not [e for e in events if isinstance(e, Operation)]
    assert events.index(final) == len(events) - 2
