"""Events go to JSON and back without loss; a file that is no trace is refused."""

from __future__ import annotations

import json
import typing
from pathlib import Path as FilePath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgdemo import events
from kgdemo.errors import UserError
from kgdemo.kg.path import Path
from kgdemo.verify import Hop, HopVerdict, Verdict
from kgdemo.view import page_records

ASSETS = FilePath(__file__).resolve().parents[2] / "assets"
RECORDS = page_records.record_adapter()

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


@pytest.mark.parametrize("kind", typing.get_args(events.Event), ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_what_the_page_is_sent_of_an_event_fits_the_schema_of_records(kind, data):
    event = data.draw(st.builds(kind))
    RECORDS.validate_json(json.dumps(page_records.record(event)))


def test_the_schema_beside_the_scripts_is_that_of_the_records():
    written = (ASSETS / page_records.SCHEMA_FILE).read_text("utf-8")
    assert written == page_records.schema_script(), "run: python -m kgdemo.view.page_records"


@pytest.mark.parametrize("file", sorted(ASSETS.glob("*/*.jsonl")), ids=lambda file: file.stem)
def test_every_shipped_recording_fits_the_schema(file):
    for line in file.read_text("utf-8").split("\n")[:-1]:
        RECORDS.validate_json(line)


def test_a_trace_is_one_event_a_line():
    trace = [events.Notice("a\nb\u2028c\x85"), events.AnswerDelta("<b>"), events.RunFailed("no")]
    lines = list(map(events.to_json, trace))
    assert not any("\n" in line for line in lines)
    assert list(map(events.from_json, lines)) == trace


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"event": "Nothing"}', "there is no event called 'Nothing'"),
        ('{"event": "Notice", "text": 3}', "Notice.text is '3': input should be a valid string"),
        ('{"event": "Notice", "text": "a", "words": "a"}', "Notice has no field 'words'"),
        ('{"event": "Notice"}', "Notice.text is missing"),
        ('{"event": "RunFinished", "seconds": 1, "lm_calls": true}', "RunFinished.lm_calls is 'True'"),
        ('{"text": "a"}', "a line names no event"),
    ],
)
def test_of_a_line_that_cannot_be_read_the_field_is_named(line, says):
    with pytest.raises(UserError) as told:
        events.from_json(line)
    assert says in str(told.value)


@given(st.lists(st.builds(events.LMCall, purpose=st.sampled_from(["plan", "answer"]), seconds=st.floats(0, 1e6))))
def test_the_totals_of_a_run_are_the_sums_over_its_calls(calls):
    totals = events.RunTotals()
    for call in (*calls, events.EntitiesLinked((), (), ms=3.0), events.Notice("said")):
        totals.see(call)
    end = totals.finished(1.5, "off")
    assert (end.lm_calls, end.tokens_in, end.tokens_out) == tuple(
        sum(getattr(call, name) for call in calls) for name in ("calls", "tokens_in", "tokens_out")
    )
    stages = {c.purpose: 1000 * sum(o.seconds for o in calls if o.purpose == c.purpose) for c in calls}
    assert end.stage_ms == pytest.approx({**stages, "linking": 3.0})


@pytest.mark.parametrize(
    "line",
    ["", "{}", "[]", "null", "{", '{"event": "Nothing"}', '{"event": "Notice"}', '{"event": "Notice", "text": 3}',
     '{"event": "Notice", "text": "a", "extra": 1}', '{"event": "PathFound", "path": {"entities": ["a"]}}'],
)  # fmt: skip
def test_what_is_no_event_is_refused(line):
    with pytest.raises(UserError, match="not a recorded trace"):
        events.from_json(line)
