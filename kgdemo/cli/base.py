"""What a command is: a file here whose ``add(commands)`` names its arguments and the function that runs it.

That function takes the parsed arguments and returns the exit code. It imports the library inside itself, so that
``--help``, ``start`` and ``test`` work in a bare Python, and at once.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]
else:  # generic only to a type checker
    Commands: TypeAlias = argparse._SubParsersAction
