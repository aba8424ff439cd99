"""Question sets: JSONL files in the schema of RoG, which the papers share.

One object a line: ``id, question, q_entity [..], a_entity [..], answer [..]`` and optionally
``graph [[h, r, t], ..]`` (the subgraph this question is asked on), ``rel_path [..]`` (the relation
path that answers it, inverse steps written ``~relation``) and ``gold_paths [[[h, r, t], ..], ..]`` (paths
that somebody took to answer it).
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

from kgdemo.errors import UserError


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its topic entities and right answers, all as graph labels.

    Attributes:
        relation_path: the relations that answer it; empty where the set does not say.
        likely_paths: the relations of paths that may answer it.
    """

    id: str
    text: str
    topic_entities: tuple[str, ...] = ()
    answer_entities: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    graph: tuple[tuple[str, str, str], ...] = ()
    relation_path: tuple[str, ...] = ()
    likely_paths: frozenset[tuple[str, ...]] = frozenset()

    @property
    def gold(self) -> frozenset[str]:
        """The entities that count as right; the answer strings where no entities are given."""
        return frozenset(self.answer_entities or self.answers)


def read_questions(path: Path) -> list[Question]:
    """Read a question file, plain or gzip.

    Raises:
        UserError: the file is missing, or a line (named) is not a question.
    """
    if not path.is_file():
        raise UserError(f"There is no question file {path}; give a JSONL file with id, question, q_entity, answer.")
    opener = gzip.open if path.suffix == ".gz" else open
    questions = []
    try:
        with opener(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):
                if line.strip():
                    questions.append(_question(line, f"{path.name}, line {number}"))
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name} cannot be read ({error}); give a UTF-8 JSONL file.") from error
    return questions


def _question(line: str, where: str) -> Question:
    try:
        record = json.loads(line)
        return Question(
            id=str(record["id"]),
            text=str(record["question"]),
            topic_entities=_labels(record.get("q_entity")),
            answer_entities=_labels(record.get("a_entity")),
            answers=_labels(record.get("answer")),
            graph=tuple((str(h), str(r), str(t)) for h, r, t in record.get("graph") or ()),
            relation_path=_labels(record.get("rel_path")),
            likely_paths=frozenset(tuple(str(r) for _, r, _ in path) for path in record.get("gold_paths") or ()),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(
            f"{where}: not a question ({error}); write id, question, q_entity, a_entity, answer."
        ) from error


def _labels(value: object) -> tuple[str, ...]:
    if value is None:
        return ()
    if isinstance(value, str):
        return (value,)
    return tuple(str(item) for item in value)  # type: ignore[attr-defined]
