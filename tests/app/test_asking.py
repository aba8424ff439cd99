"""A question asked again from the page: what may be changed, and what stays as the fields say."""

from __future__ import annotations

from dataclasses import replace

from kgdemo.ui.asking import Fields, changed_question

FIELDS = Fields("Where?", {"graph": "world", "method": "gcr", "beams": 10})


def test_entities_alone_leave_the_fields_as_they_are():
    assert changed_question(FIELDS, {"entities": ["London"]}) == (FIELDS, ["London"], [])


def test_question_and_method_are_those_of_the_page_and_nothing_else_can_be_changed():
    changed = {"question": "Who?", "method": "dog", "model": "/etc/passwd", "graph": "/etc/passwd", "beams": 10**9}
    values = {**FIELDS.values, "method": "dog"}
    assert changed_question(FIELDS, changed) == (replace(FIELDS, question="Who?", values=values), [], [])


def test_forced_tokens_are_numbers():
    assert changed_question(FIELDS, {"forced": ["7", 8]}) == (FIELDS, [], [7, 8])


def test_no_more_entities_than_a_question_can_name():
    assert len(changed_question(FIELDS, {"entities": range(1000)})[1]) == 20
