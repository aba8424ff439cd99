"""Arrays kept on disk: what follows from a large graph is made once, not once a start.

A file is found by what it was made from, so nothing is ever out of date. A damaged file is made anew (the zip format
carries checksums), and so is one that was made for another name; a folder that cannot be written to is done without.
The least recently used files go when the folder holds more than it may.
"""

from __future__ import annotations

import logging
import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

logger = logging.getLogger(__name__)
Arrays = Mapping[str, NDArray[Any]]
MIN_LABELS = 20_000  # what is made of fewer is there in a quarter of a second
MAX_BYTES = 1_000_000_000
_KEY = "made for"  # in each file, what it is called


class ArrayCache:
    """A folder of files of named arrays of one dimension.

    Args:
        folder: made when something is kept.
        min_labels: what is made of a table of fewer labels is not worth a file.
        max_bytes: size of all files together.
    """

    def __init__(self, folder: Path, min_labels: int = MIN_LABELS, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self.min_labels = min_labels
        self.max_bytes = max_bytes

    def get(self, key: str, build: Callable[[], Arrays]) -> Arrays:
        """The arrays from their file, else what ``build`` makes, which is kept from then on.

        Args:
            key: says what they follow from, see ``key_of``.
            build: makes them.
        """
        file = self.folder / f"{key}.npz"
        found = read_arrays(file)
        if found is None:
            found = build()
            self._write(file, found)
        return found

    def _write(self, file: Path, arrays: Arrays) -> None:
        """Keep a file; written beside its place first, so that nobody ever finds half of it there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, suffix=".npz.part", delete=False) as stream:
                try:
                    named: dict[str, Any] = {_KEY: np.array(file.stem), **arrays}
                    np.savez(stream, **named)
                    stream.close()
                    os.replace(stream.name, file)
                finally:
                    Path(stream.name).unlink(missing_ok=True)
            self._make_room()
        except OSError as error:
            logger.warning("Nothing is kept in %s (%s); set KGDEMO_CACHE to another folder.", self.folder, error)

    def _make_room(self) -> None:
        """Delete what was used longest ago until the rest is within bounds."""
        files = [(file.stat(), file) for file in self.folder.glob("*.npz*")]
        size = sum(stat.st_size for stat, _ in files)
        for stat, file in sorted(files, key=lambda entry: entry[0].st_mtime_ns):
            if size <= self.max_bytes:
                return
            file.unlink(missing_ok=True)
            size -= stat.st_size


def key_of(*parts: str | bytes | NDArray[Any]) -> str:
    """What a file is called: all that its content follows from."""
    digest = blake2b(digest_size=20)
    for part in parts:
        data = part.tobytes() if isinstance(part, np.ndarray) else part.encode() if isinstance(part, str) else part
        digest.update(b"%d " % len(data))
        digest.update(data)
    return digest.hexdigest()


def read_arrays(file: Path) -> Arrays | None:
    """The content of a file that is whole and is what its name says; else None."""
    try:
        with file.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
            found: dict[str, NDArray[Any]] = dict(stored.items())
        if str(found.pop(_KEY)) != file.stem:
            raise ValueError("it was made for another name")
        os.utime(file)  # most recently used now
        return found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, EOFError, RuntimeError, MemoryError, zipfile.BadZipFile) as error:
        logger.warning("%s is damaged (%s); it is made anew.", file, error)
        return None
