"""``python -m kgdemo``: see ``kgdemo.cli``."""

from __future__ import annotations

import sys

from kgdemo.cli import main

if __name__ == "__main__":
    sys.exit(main())
