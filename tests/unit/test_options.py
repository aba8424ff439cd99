"""A method's options: declared with its registration, given as text, bounded, and refused in one sentence."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgdemo.errors import UserError
from kgdemo.events import CandidatesScored, RunFailed, Thought
from kgdemo.methods import METHODS
from kgdemo.pipeline import Pipeline
from kgdemo.settings import LOCAL, PUBLIC, ChatSettings, Profile, Settings, chosen, options_of, pairs
from tests.helpers.reasoning import film_world, of, run
from tests.helpers.reasoning import given as as_given
from tests.helpers.small import SmallPipeline

QUESTION = "Where was the director of Inception born?"
WITH_OPTIONS = [card for card in METHODS.values() if card.options]


def refusal(method: str, written: str, profile: Profile = LOCAL) -> str:
    """What the pipeline says to a method's options."""
    settings = Settings(method=method, options=pairs([written]))
    last = list(Pipeline(profile, ChatSettings()).run(QUESTION, settings, ["The Magic Flute"]))[-1]
    assert isinstance(last, RunFailed)
    return last.message


def test_the_methods_with_settings_of_their_own_declare_them():
    assert [card.name for card in WITH_OPTIONS] == [
        *(
            "self-consistency",
            "direct-graph",
            "dog",
            "fidelis",
            "gcr",
            "agent-cot",
            "agent-tot",
            "agent-got",
            "explore-cot",
            "explore-tot",
            "explore-got",
            "graph-cot",
        )
    ]
    assert all(option.help and option.default for card in WITH_OPTIONS for option in card.options)


@pytest.mark.parametrize("card", WITH_OPTIONS, ids=lambda card: card.name)
def test_defaults_are_values_and_survive_being_written(card):
    written = tuple((option.name, option.default) for option in card.options)
    assert chosen(card.declared, written) == card.declared()
    card.check(written, PUBLIC)
    assert chosen(card.declared, as_given(card.declared())) == card.declared()


@given(data=st.data())
def test_any_value_allowed_survives_being_written(data):
    card = data.draw(st.sampled_from(WITH_OPTIONS))
    values = {}
    for option in card.options:
        kinds = {
            bool: st.sampled_from(["yes", "no"]),
            int: st.integers(int(option.minimum), int(option.maximum)).map(str),
            float: st.floats(option.minimum, max(option.maximum, option.minimum), allow_nan=False).map(repr),
            str: st.sampled_from([*option.choices] or [""]),
        }
        values[option.name] = data.draw(kinds[option.kind])
    made = chosen(card.declared, tuple(values.items()))
    assert chosen(card.declared, as_given(made)) == made
    assert {f.name for f in dataclasses.fields(made)} >= set(values)


@pytest.mark.parametrize(
    ("method", "written", "words"),
    [
        ("dog", "wide=3", "no option 'wide'; it knows width=3, steps=0, triples=auto"),
        ("kaping", "width=3", "The method kaping has no option 'width'; it has none."),
        ("dog", "width=0", "choose a whole number from 1 to 50 (the default is 3)"),
        ("dog", "width=2.5", "choose a whole number"),
        ("dog", "script=free", "choose one of auto, path, chain (the default is auto)"),
        ("dog", "triples=some", "from 0 to 5000, or auto (the default is auto)"),
        ("dog", "width", "write each as name=value"),
        ("fidelis", "alpha=nan", "choose a number from 0 to 10"),
        ("fidelis", "verifier=maybe", "choose yes or no (the default is yes)"),
        ("fidelis", "retriever=google", "choose one of path-rag, vanilla, tog"),
        ("agent-cot", "branches=2", "no option 'branches'; it knows steps=10."),
        ("agent-tot", "search_depth=2", "no option 'search_depth'"),
        ("explore-got", "evaluator=vote", "choose one of select, score"),
    ],
)
def test_what_cannot_be_chosen_is_refused_in_one_sentence(method, written, words):
    try:
        said = refusal(method, written)
    except UserError as error:
        said = str(error)
    assert words in said
    assert len(said.splitlines()) == 1


def test_a_public_server_keeps_searches_narrow():
    assert "from 1 to 4" in refusal("dog", "width=20", PUBLIC)
    assert "from 1 to 3" in refusal("explore-tot", "search_depth=5", PUBLIC)
    bounded = [o for card in WITH_OPTIONS for o in card.options if o.kind is int]
    assert all(o.public is not None and o.public < o.maximum for o in bounded)


def test_pairs_are_read_from_a_field_or_from_repeated_arguments():
    expected = (("width", "2"), ("verifier", "no"))
    assert pairs(["width=2, verifier=no"]) == pairs(["width=2", "verifier=no"]) == pairs(["width=2;\n verifier=no "])
    assert pairs(["width=2, verifier=no"]) == expected
    assert pairs([" "]) == ()


def test_an_option_given_as_text_changes_the_run():
    resources = film_world()
    for method, text, kind in (("dog", "width=1", Thought), ("fidelis", "retriever=vanilla", CandidatesScored)):
        settings = Settings(method=method, compare=False, explain=0)
        plain = list(run(method, QUESTION, ["Inception"], resources, settings))
        told = dataclasses.replace(settings, options=pairs([text]))
        changed = list(run(method, QUESTION, ["Inception"], resources, told))
        assert of(plain, kind) != of(changed, kind)


def test_the_pipeline_hands_options_to_the_method():
    settings = Settings(method="dog", compare=False, options=(("width", "1"), ("steps", "1")))
    events = list(SmallPipeline().run(QUESTION, settings, ["Inception"]))
    assert len([t for t in of(events, Thought) if t.kind == "thought"]) == 1


def test_every_field_of_a_declaration_is_an_option():
    for card in WITH_OPTIONS:
        every = {option.name for option in options_of(card.declared)}
        assert every == {field.name for field in dataclasses.fields(card.declared)}
        assert set(card.without) <= every
