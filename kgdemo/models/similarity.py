"""How similar a question and a relation path are, as learnt from questions with known paths.

A sentence encoder sees that *"who fathered X"* is near to *child of*, but also that it is near to X and to whatever
sounds alike. Two square matrices, one for questions and one for paths, keep of both embeddings what tells which path
is asked for. They are trained beside a path model (``training.similarity``) and lie beside its weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file

from kgdemo.kg.labels import spoken

SIMILARITY_FILE = "similarity.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class LearntSimilarity:
    """Two linear maps of sentence embeddings of width d.

    Attributes:
        question: for questions, ``(d, d)``.
        path: for relation paths, ``(d, d)``.
    """

    question: NDArray[np.float32]
    path: NDArray[np.float32]

    def of(self, question: NDArray[np.float32], paths: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosine of the mapped embeddings.

        Args:
            question: embedding, ``(d,)``.
            paths: embeddings of path sentences (``path_sentence``), ``(n, d)``.

        Returns:
            ``(n,)``, from -1 to 1.
        """
        asked, said = self.question @ question, paths @ self.path.T
        return (said @ asked) / (np.linalg.norm(said, axis=1) * np.linalg.norm(asked) + 1e-6)


def path_sentence(relations: Sequence[str]) -> str:
    """A relation path as it is put to the sentence encoder."""
    return " ".join(map(spoken, relations))


def read_similarity(folder: Path) -> LearntSimilarity | None:
    """What lies in a model's folder; None where it has none."""
    file = folder / SIMILARITY_FILE
    if not file.is_file():
        return None
    kept = load_file(file)
    return LearntSimilarity(kept["question"].astype(np.float32), kept["path"].astype(np.float32))


def write_similarity(folder: Path, similarity: LearntSimilarity) -> None:
    """Put it into a model's folder, in half precision."""
    halves = {"question": similarity.question.astype(np.float16), "path": similarity.path.astype(np.float16)}
    save_file(halves, folder / SIMILARITY_FILE)
