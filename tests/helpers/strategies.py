"""Hypothesis strategies: small graphs with nasty labels."""

from __future__ import annotations

from hypothesis import strategies as st

from kgdemo.constraint.label_tokens import PathFormat
from kgdemo.lab.benchmarks.soak import NASTY, RELATIONS

labels = st.one_of(st.sampled_from(NASTY), st.text(min_size=1, max_size=6))
relations = st.one_of(st.sampled_from(RELATIONS), labels)


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[str, str, str]]:
    """Triples over few entities, so that cycles, self-loops and parallel relations are common."""
    entities = draw(st.lists(labels, min_size=1, max_size=6, unique=True))
    names = draw(st.lists(relations, min_size=1, max_size=4, unique=True))
    triple = st.tuples(st.sampled_from(entities), st.sampled_from(names), st.sampled_from(entities))
    return draw(st.lists(triple, min_size=1, max_size=10))


FORMATS = {
    "arrows": PathFormat(),
    "arrows, no space behind the mark": PathFormat(begin="<PATH>"),
    "arrows without spaces": PathFormat("<PATH>", "->", "->"),
    "two separators": PathFormat("<PATH> ", " --", "--> "),
    "triples": PathFormat("<PATH>(", ", ", ", ", "), (", ")</PATH>"),
    "triples on lines": PathFormat("<PATH>\n", " | ", " | ", "\n", "\n</PATH>"),
}
