"""Token ids of large graphs' labels, kept on disk: a graph is tokenised once, not once a start.

A file is found by what it was made from, the labels and the tokeniser, so nothing is ever out of date. A
damaged file is made anew (the zip format carries checksums), a folder that cannot be written to is done
without. The least recently used files go when the folder holds more than it may.
"""

from __future__ import annotations

import logging
import os
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgdemo.constraint.pieces import Pieces
from kgdemo.constraint.tables import TokenTable
from kgdemo.kg.labels import LabelTable

logger = logging.getLogger(__name__)
LEAST_LABELS = 50_000  # fewer are spelled in half a second
MOST_BYTES = 1_000_000_000
_VERSION = 1
_ARRAYS = ("offsets", "ids", "rank")


@dataclass(frozen=True, slots=True)
class SpelledLabels:
    """The token ids of a table of labels, and each label's rank in the order of these; int64, ``(labels,)``."""

    table: TokenTable
    rank: NDArray[np.int64]


class TokenStore:
    """A folder of spelled labels.

    Args:
        folder: made when something is kept.
        least_labels: tables of fewer labels are not worth a file.
        most_bytes: size of all files together.
    """

    def __init__(self, folder: Path, least_labels: int = LEAST_LABELS, most_bytes: int = MOST_BYTES) -> None:
        self.folder = folder
        self.least_labels = least_labels
        self.most_bytes = most_bytes

    def get(self, labels: LabelTable, pieces: Pieces, build: Callable[[], SpelledLabels]) -> SpelledLabels:
        """The spelled labels from their file, else what ``build`` makes, which is kept from then on."""
        tokenizer = pieces.fingerprint() if len(labels) >= self.least_labels else ""
        if not tokenizer:
            return build()
        file = self.folder / f"{_digest(labels, tokenizer)}.npz"
        spelled = _read(file, len(labels))
        if spelled is None:
            spelled = build()
            self._write(file, spelled)
        return spelled

    def _write(self, file: Path, spelled: SpelledLabels) -> None:
        """Keep a file; written beside its place first, so that nobody ever finds half of it there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".npz.part", delete=False) as stream:
                try:
                    np.savez(stream, offsets=spelled.table.offsets, ids=spelled.table.ids, rank=spelled.rank)
                    stream.close()
                    os.replace(stream.name, file)
                finally:
                    Path(stream.name).unlink(missing_ok=True)
            self._make_room()
        except OSError as error:
            logger.warning("Token ids are not kept in %s (%s); set KGDEMO_CACHE to another folder.", self.folder, error)

    def _make_room(self) -> None:
        """Delete what was used longest ago until the rest is within bounds."""
        files = [(file.stat(), file) for file in self.folder.glob("*.npz*")]
        size = sum(stat.st_size for stat, _ in files)
        for stat, file in sorted(files, key=lambda entry: entry[0].st_mtime_ns):
            if size <= self.most_bytes:
                return
            file.unlink(missing_ok=True)
            size -= stat.st_size


def _digest(labels: LabelTable, tokenizer: str) -> str:
    """What a file is called: all that its content follows from."""
    digest = blake2b(f"{_VERSION} {tokenizer}".encode(), digest_size=20)
    for array in (labels.offsets, labels.blob):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _read(file: Path, labels: int) -> SpelledLabels | None:
    """The content of a file that is whole; else None."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            offsets, ids, rank = (stored[name] for name in _ARRAYS)
        os.utime(file)  # most recently used now
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, zipfile.BadZipFile) as error:
        logger.warning("%s is damaged (%s); the token ids are made anew.", file, error)
        return None
    fits = len(offsets) == labels + 1 and len(rank) == labels and offsets[-1] == len(ids)
    return SpelledLabels(TokenTable(offsets, ids), rank) if fits else None
