"""Training the learnt similarity of questions and relation paths (``models.prompt_style``) on a recipe's examples.

A contrastive loss: each question against the paths of its whole batch, of which its own is to be the nearest
(InfoNCE; van den Oord et al. 2018, equation 4). Both matrices begin as the identity and are drawn back to it, so
that of words no example has, the sentence encoder's own likeness is left.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor
from torch.nn import functional

from kgdemo.lab.training.loop import Share
from kgdemo.models.embedding import Embedder
from kgdemo.models.prompt_style import LearnedSimilarity, path_sentence

logger = logging.getLogger(__name__)
_DROPPED = 0.1  # of the features, while training


@dataclass(frozen=True, slots=True)
class SimilarityConfig:
    """How it is trained.

    Attributes:
        examples: drawn from the recipe's sources.
        epochs: times that each is seen.
        batch_size: questions a step; their paths are one another's negatives.
        learning_rate: Adam's, falling to 0 along a straight line.
        to_identity: weight of the squared distance of both matrices to the identity.
        seed: of examples and batches.
    """

    examples: int = 20_000
    epochs: int = 6
    batch_size: int = 512
    learning_rate: float = 1.5e-3
    to_identity: float = 1e-4
    seed: int = 5


def train_similarity(sources: Sequence[Share], embedder: Embedder, config: SimilarityConfig) -> LearnedSimilarity:
    """Learn from the examples of a mixture which paths questions ask for.

    Args:
        sources: of examples; drawn from by their shares.
        embedder: of questions and paths.
        config: how.
    """
    rng = Random(f"similarity-{config.seed}")
    shares = [share.share for share in sources]
    drawn = [rng.choices(sources, shares)[0].source(rng) for _ in range(config.examples)]
    sentences = [path_sentence(example.path[1::2]) for example in drawn]
    different = list(dict.fromkeys(sentences))
    place = {sentence: number for number, sentence in enumerate(different)}
    logger.info("the similarity is learnt from %d questions and %d different paths", len(drawn), len(different))
    questions = torch.from_numpy(embedder.encode([example.question for example in drawn]))
    paths = torch.from_numpy(embedder.encode(different))
    wanted = torch.tensor([place[sentence] for sentence in sentences])
    return _fitted(questions, paths, wanted, config)


def _fitted(questions: Tensor, paths: Tensor, wanted: Tensor, config: SimilarityConfig) -> LearnedSimilarity:
    """Adam over shuffled batches; ``wanted`` says which path each question asks for."""
    generator = torch.Generator().manual_seed(config.seed)
    identity = torch.eye(questions.shape[1])
    left, right = identity.clone().requires_grad_(), identity.clone().requires_grad_()
    sharpness = torch.tensor(3.0, requires_grad=True)  # logarithm of what multiplies a cosine
    optimiser = torch.optim.Adam([left, right, sharpness], lr=config.learning_rate)
    total = config.epochs * -(-len(wanted) // config.batch_size)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.0, 1 - step / total))
    for epoch in range(config.epochs):
        loss_sum = 0.0
        for batch in torch.randperm(len(wanted), generator=generator).split(config.batch_size):
            options, target = wanted[batch].unique(return_inverse=True)
            projected = functional.normalize(_dropped(questions[batch], generator) @ left.T, dim=1)
            said = functional.normalize(_dropped(paths[options], generator) @ right.T, dim=1)
            loss = functional.cross_entropy(sharpness.exp() * projected @ said.T, target)
            away = (left - identity).square().sum() + (right - identity).square().sum()
            optimiser.zero_grad()
            (loss + config.to_identity * away).backward()
            optimiser.step()
            falling.step()
            loss_sum += loss.item() * len(batch)
        logger.info("similarity, epoch %d: loss %.3f", epoch + 1, loss_sum / len(wanted))
    return LearnedSimilarity(left.detach().numpy(), right.detach().numpy())


def _dropped(vectors: Tensor, generator: torch.Generator) -> Tensor:
    mask = torch.rand(vectors.shape, generator=generator) >= _DROPPED
    return vectors * mask / (1 - _DROPPED)
