"""What can be chosen about DoG, with the paper's defaults."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from kgdemo.reasoning.options import option

SCRIPTS = ("auto", "path", "chain")


class Visibility(str, Enum):
    """What of the graph stands in the prompt (DoG section 5.2)."""

    AUTO = "auto"
    FULL = "full"  # the question's whole graph: the model can plan ahead, and the prompt is read once
    LOCAL = "local"  # only what the chain may use next; the prompt is read again after each triple
    HIDDEN = "hidden"  # nothing: the constraint alone knows the graph


@dataclass(frozen=True, slots=True)
class DogOptions:
    """What can be chosen about DoG.

    ``triples`` is 120 by itself where the graph stands in the prompt, and 0 where it does not and so need not
    be small; ``script`` is ``path`` by itself for models that know the path marks as tokens.
    """

    width: int = option(3, "chains kept, and triples tried behind each (bs, table 2)", least=1, most=50, public=4)
    steps: int = option(0, "triples of a chain (T); 0: as the question's hops and entities allow", most=20, public=6)
    triples: int | None = option(None, "size of the question's graph (section 3.1); 0: whole", most=5000, public=500)
    visibility: Visibility = option(Visibility.AUTO, "what of the graph stands in the prompt (section 5.2)")
    script: str = option("auto", "write paths, or triples with text between (table 6)", choices=SCRIPTS)
    free_tokens: int = option(64, "longest text between two triples, in tokens", most=512, public=64)
