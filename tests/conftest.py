"""Fixtures shared by all tests: no network, and small models made on the spot."""

from __future__ import annotations

import os

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TRANSFORMERS_OFFLINE"] = "1"
os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"  # as many processes as cores already; servers they start inherit it
for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "KGDEMO_CHAT_MODEL", "KGDEMO_PROFILE"):
    os.environ.pop(name, None)
