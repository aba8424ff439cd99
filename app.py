"""Starts the page: ``python app.py [--host HOST] [--port PORT]``. Everything else is in ``kgdemo``."""

from __future__ import annotations

from kgdemo.ui.serve import main

if __name__ == "__main__":
    main()
