"""Events go to JSON and back without loss; a file that is no trace is refused."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo import events
from kgdemo.errors import UserError
from kgdemo.kg.path import Path
from kgdemo.verify import Hop, HopVerdict, Verdict

texts = st.text(max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
st.register_type_strategy(float, numbers)
st.register_type_strategy(Path, st.builds(lambda a, r, b: Path((a, b), (r,)), texts, texts, texts))
st.register_type_strategy(
    Verdict, st.builds(Verdict, st.tuples(st.builds(Hop, verdict=st.sampled_from(HopVerdict))), st.booleans())
)


@pytest.mark.parametrize("kind", typing.get_args(events.Event), ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_round_trip(kind, data):
    event = data.draw(st.builds(kind))
    assert events.from_json(events.to_json(event)) == event


def test_a_trace_is_one_event_a_line():
    trace = [events.Notice("a\nb\u2028c\x85"), events.AnswerDelta("<b>"), events.RunFailed("no")]
    text = events.write_trace(trace)
    assert text.count("\n") == 3
    assert list(events.read_trace(text)) == trace


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"event": "Nothing"}', "there is no event called 'Nothing'"),
        ('{"event": "Notice", "text": 3}', "Notice.text: '3' is not a str"),
        ('{"event": "Notice", "words": "a"}', "Notice has no field 'words'"),
        ('{"text": "a"}', "a line names no event"),
    ],
)
def test_of_a_trace_that_cannot_be_read_the_line_and_the_field_are_named(line, says):
    trace = events.write_trace([events.Notice("a"), events.Notice("b")]) + line
    with pytest.raises(UserError) as told:
        list(events.read_trace(trace))
    assert str(told.value).startswith("Line 3: ")
    assert says in str(told.value)


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", "{", '{"event": "Nothing"}', '{"event": "Notice"}', '{"event": "Notice", "text": 3}',
     '{"event": "Notice", "text": "a", "extra": 1}', '{"event": "PathFound", "path": {"entities": ["a"]}}'],
)  # fmt: skip
def test_what_is_no_event_is_refused(line):
    with pytest.raises(UserError, match="not a recorded trace"):
        events.from_json(line)
