"""Question templates: sentences with a slot ``{e}`` that turn one edge of a graph into a question.

Files under ``templates/``: ``relation, direction, kind, text`` and, where a wording fits only some
heads, the type of the entity on the relation's head side; tab-separated. ``kind`` is *question* or
*noun*; a noun phrase denotes the answer and stands in for the entity of another question, which is
how two-hop questions are made.

Files that end in ``-chains`` hold wordings of several hops at once: ``readings apart by " -> ", text``.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "templates"


@dataclass(frozen=True, slots=True)
class Template:
    """One wording; ``head_type`` is empty when it fits every head."""

    text: str
    head_type: str = ""

    def fits(self, head_type: str) -> bool:
        """Whether the wording suits an edge whose head has this type."""
        return not self.head_type or self.head_type == head_type

    def fill(self, entity: str) -> str:
        """The wording with ``entity`` in its slot."""
        return self.text.replace("{e}", entity)


@dataclass(slots=True)
class StepTemplates:
    """All wordings of one relation walked in one direction."""

    questions: list[Template] = field(default_factory=list)
    nouns: list[Template] = field(default_factory=list)


def load_templates(name: str) -> dict[tuple[str, bool], StepTemplates]:
    """Read one template file: (relation, walked backwards) -> its wordings.

    Raises:
        ValueError: a line that does not follow the format, with its number.
    """
    templates: dict[tuple[str, bool], StepTemplates] = defaultdict(StepTemplates)
    for number, line in enumerate((FOLDER / f"{name}.tsv").read_text("utf-8").splitlines(), 1):
        columns = line.split("\t")
        if len(columns) not in (4, 5) or columns[3].count("{e}") != 1:
            raise ValueError(f"{name}.tsv, line {number}: not relation, direction, kind, text with one slot")
        relation, direction, kind, text = columns[:4]
        wordings = templates[relation, {"forward": False, "inverse": True}[direction]]
        target = {"question": wordings.questions, "noun": wordings.nouns}[kind]
        target.append(Template(text, columns[4] if len(columns) == 5 else ""))
    return dict(templates)


def load_chains(name: str) -> dict[tuple[str, ...], list[str]]:
    """Read one file of chains: readings of the relations, in the order they are walked -> wordings.

    Raises:
        ValueError: a line that does not follow the format, with its number.
    """
    chains: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for number, line in enumerate((FOLDER / f"{name}.tsv").read_text("utf-8").splitlines(), 1):
        columns = line.split("\t")
        if len(columns) != 2 or columns[1].count("{e}") != 1:
            raise ValueError(f"{name}.tsv, line {number}: not readings, text with one slot")
        chains[tuple(columns[0].split(" -> "))].append(columns[1])
    return dict(chains)
