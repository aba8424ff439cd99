"""The one place where text becomes safe HTML or safe JSON inside HTML; everything in ``view/`` goes through it."""

from __future__ import annotations

import html
import json
import re
from typing import Any

# controls that turn text round or hide it: shown as nothing, so that a label cannot reorder what stands beside it
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]"
)


def visible(value: object, limit: int = 0) -> str:
    """Text without control and direction marks, cut to ``limit`` characters where that is not 0."""
    text = _INVISIBLE.sub("", str(value))
    return text if not limit or len(text) <= limit else text[: limit - 1].rstrip() + "…"


def escaped(value: object, limit: int = 0) -> str:
    """Text for an HTML element or a quoted attribute."""
    return html.escape(visible(value, limit), quote=True)


def json_in_html(value: Any) -> str:
    """JSON for a ``<script type="application/json">`` element; nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
