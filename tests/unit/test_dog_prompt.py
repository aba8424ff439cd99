"""What DoG's model reads: the graph in the prompt, as much of it as it should see and can read."""

from __future__ import annotations

import numpy as np
import pytest

from kgdemo.constraint.label_tokens import PATH_END, PATH_START
from kgdemo.errors import UserError
from kgdemo.events import LMCall, PathFound
from kgdemo.methods.dog import DogOptions, Visibility
from kgdemo.settings import Settings
from tests.helpers.reasoning import film_world, of, run

QUESTION = "Where was the director of Inception born?"


@pytest.mark.parametrize("visibility", [Visibility.FULL, Visibility.LOCAL, Visibility.HIDDEN])
def test_the_prompt_shows_as_much_of_the_graph_as_it_should(visibility):
    resources = film_world()
    options = Settings(method="dog", beams=3, hops=2, compare=False)
    dog = DogOptions(script="chain", free_tokens=0, visibility=visibility, width=1, steps=2)
    events = list(run("dog", QUESTION, ["Inception"], resources, options, dog))
    first, *later = [call.prompt for call in of(events, LMCall) if call.purpose == "triples"]
    near, far = "Inception -> directed by -> Christopher Nolan", "Christopher Nolan -> born in -> London"
    graph = first.rsplit("Graph:", 1)[1]
    assert (near in graph) == (visibility is not Visibility.HIDDEN)
    assert (far in graph) == (visibility is Visibility.FULL)
    assert later
    if visibility is Visibility.LOCAL:
        assert later[0].rsplit("Graph:", 1)[1].count(" | ") > graph.count(" | "), "it grows with the chain"


def test_a_large_graph_is_cut_to_what_the_model_can_read():
    triples = [("Inception", f"relation number {i}", f"some thing {i}") for i in range(400)]
    resources = film_world(triples=triples)
    options = Settings(method="dog", beams=2, hops=1, compare=True, explain=0)
    for script in ("chain", "path"):
        dog = DogOptions(script=script, free_tokens=4, triples=300, visibility=Visibility.FULL, width=2, steps=1)
        events = list(run("dog", QUESTION, ["Inception"], resources, options, dog))
        calls = [call for call in of(events, LMCall) if call.purpose == "triples"]
        assert calls
        assert all(0 < call.tokens_in + 64 <= resources.model.context for call in calls)
        assert of(events, PathFound)


def test_path_marks_are_what_the_prompts_say():
    resources = film_world()
    options = Settings(method="dog", beams=2, compare=False)
    events = list(run("dog", QUESTION, ["Inception"], resources, options, DogOptions(script="chain", free_tokens=4)))
    prompt = of(events, LMCall)[0].prompt
    assert prompt.rstrip().endswith(PATH_START)
    assert prompt.count(PATH_END) >= prompt.count(PATH_START) - 2
    assert np.isfinite([e.score for e in of(events, PathFound)]).all()


def test_endless_questions_are_refused_in_words():
    for script in ("path", "chain"):
        events = run(
            "dog", "why " * 2000, ["Inception"], film_world(), Settings(method="dog"), DogOptions(script=script)
        )
        with pytest.raises(UserError, match="too long"):
            list(events)
