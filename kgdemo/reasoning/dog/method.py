"""DoG, decoding on graphs (Li et al. 2025): well-formed chains of triples by graph-aware constrained decoding.

The model writes one triple after another. Each must be a triple of the query-centric subgraph, which grows by
all triples around what has been written (section 2.3, equation 1). A triple-level beam search over the
token-level one keeps the chains with the highest scores (section 2.4, Algorithm 1). Beside it runs the same
prompt without the constraint, the paper's CoT baseline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kgdemo.events import Event
from kgdemo.reasoning.base import World, register
from kgdemo.reasoning.conclusion import conclude
from kgdemo.reasoning.dog.options import DogOptions
from kgdemo.reasoning.dog.paths import grounded
from kgdemo.reasoning.dog.search import Search
from kgdemo.reasoning.doubt import refusal
from kgdemo.reasoning.options import chosen
from kgdemo.settings import Settings


@register(
    "dog",
    "Decoding on graphs",
    "Li et al. 2025 (DoG), section 2",
    "Writes a chain of triples: each must touch what the chain has reached, and the graph in reach grows with it.",
    constrained=True,
    options=DogOptions,
)
def run(question: str, topics: Sequence[str], world: World, settings: Settings) -> Iterator[Event]:
    """Algorithm 1, its chains as verified paths, and an answer from them."""
    dog = chosen(DogOptions, settings.options)
    dog = replace(dog, width=min(dog.width, settings.beams))
    search = Search(question, topics, world, settings, dog)
    chains = yield from search.chains()
    evidence = yield from grounded(chains, search.topic_ids, world)
    if settings.compare:
        yield from search.unconstrained()
    refused = refusal(question, topics, evidence, world)
    if refused:
        yield refused
        return
    yield from conclude(question, evidence, world, directed=settings.directed, whole=settings.complete)
