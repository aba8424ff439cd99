"""BERT on a CPU, its arithmetic alone, with the weights of a file or of a transformers model.

Two models of this project are BERTs: the embedded path model, which decodes, and all-MiniLM-L6-v2, which embeds
sentences. A search calls the first often, for a few tokens each time, and then a fifth of the time goes into what
transformers does around the arithmetic: hooks, dropout, chunking, building masks. Importing transformers takes longer
than a whole question, so both are also loaded without it, straight from ``model.safetensors`` and ``tokenizer.json``.
The forward pass is that of ``transformers.BertLMHeadModel`` in evaluation. Several texts are read at once; what they
do not share is attention.

Its linear layers are made for a handful of rows. A search reads few tokens at a time, so nearly all of its time is
spent moving weights through matrix products of 1 to 50 rows. PyTorch sends these to MKL in fp32, although it carries a
second library, oneDNN, whose kernels are made for the processor at hand: with few rows they take half the time, a third
with a hundred. A copy of the weights in the order in which these kernels read them (``pack``) saves up to half of that
again. Nothing is rounded differently but the order of the sums.

oneDNN compiles code for each number of rows that it meets, about half a megabyte for each layer's shape, and keeps that
of the last thousand: after some hundred questions more than the model and the graph take together. So rows are filled
up to one of ``ROWS`` and longer inputs multiplied part by part: what is kept is ``len(ROWS)`` for each shape.
"""

from __future__ import annotations

import copy
import json
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import tokenizers
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.functional import layer_norm, normalize, scaled_dot_product_attention

from kgdemo.models.courtesy import IDLE_PROCESSORS
from kgdemo.models.token_tree import Pass

_MAX_BYTES = 2_500_000_000  # of weights that are worth a second copy
_USUAL_ROWS = 16  # what the copy is laid out for; other numbers fare as well
ROWS = (
    1,
    2,
    3,
    4,
    *range(8, 33, 4),
    *range(40, 65, 8),
    *range(80, 129, 16),
    *range(160, 257, 32),
    *range(320, 513, 64),
)


class OneDNNLinear(nn.Linear):
    """A linear layer that computes with oneDNN whenever no gradient is wanted; it shares the given layer's weights.

    Args:
        layer: the layer whose place it takes.
    """

    def __init__(self, layer: nn.Linear) -> None:
        nn.Module.__init__(self)  # nn.Linear's own would make weights only to throw them away
        self.in_features, self.out_features = layer.in_features, layer.out_features
        self.weight, self.bias = layer.weight, layer.bias
        self.training = layer.training
        self._packed: Tensor | None = None
        self._packed_from = (0, 0)  # address and version of the weights that the copy is of

    def pack(self) -> None:
        """Keep a copy of the weights as the kernels read them; it is used until the weights change."""
        self._packed = torch.ops.mkldnn._reorder_linear_weight(self.weight.detach(), _USUAL_ROWS)
        self._packed_from = self._present()

    @property
    def quickest(self) -> Tensor:
        """The packed weights, while they are those of the layer; else the layer's own."""
        return self.weight if self._packed is None or self._packed_from != self._present() else self._packed

    def _present(self) -> tuple[int, int]:
        return self.weight.data_ptr(), self.weight._version

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002  # the name that nn.Linear gives it
        """``input @ weight.T + bias``, shape ``(..., in_features)`` -> ``(..., out_features)``."""
        if (
            torch.is_grad_enabled()
            or input.device.type != "cpu"
            or not input.dtype == self.weight.dtype == torch.float32
        ):
            return functional.linear(input, self.weight, self.bias)
        return product(self, input)


def product(layer: OneDNNLinear, rows: Tensor, activation: Literal["none", "gelu"] = "none") -> Tensor:
    """A linear layer of fp32 rows on a CPU by oneDNN, and what is applied to its output; no gradient."""
    how = "none" if activation == "gelu" else ""  # which gelu: the exact one
    weight, multiply = layer.quickest, torch.ops.mkldnn._linear_pointwise
    if rows.dim() == 2 and 0 < rows.shape[0] <= ROWS[-1] and row_count(rows.shape[0]) == rows.shape[0]:
        whole: Tensor = multiply(rows, weight, layer.bias, activation, [], how)
        return whole
    found = []
    for part in rows.reshape(-1, layer.in_features).split(ROWS[-1]):
        made: Tensor = multiply(filled(part), weight, layer.bias, activation, [], how)
        found.append(made[: len(part)])
    result = found[0] if len(found) == 1 else torch.cat(found)
    return result.reshape(*rows.shape[:-1], layer.out_features)


def filled(rows: Tensor) -> Tensor:
    """Rows with empty ones behind them up to one of ``ROWS``; more than the last of these stay as they are."""
    number = rows.shape[0]
    lacking = row_count(number) - number if number <= ROWS[-1] else 0
    return functional.pad(rows, (0, 0, 0, lacking)) if lacking else rows


def row_count(rows: int) -> int:
    """The number of ``ROWS`` that so many rows, at most the last of them, are filled up to; none stay none."""
    return ROWS[bisect_left(ROWS, rows)] if rows else 0


def has_onednn() -> bool:
    """Whether this PyTorch carries the kernels."""
    return torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")


def with_onednn(model: nn.Module) -> nn.Module:
    """Let a model's plain linear layers compute with oneDNN, in place; where PyTorch lacks it, nothing changes."""
    if has_onednn():
        for name, layer in [(n, m) for n, m in model.named_modules() if type(m) is nn.Linear]:
            model.set_submodule(name, OneDNNLinear(layer))
    return model


def pack(model: nn.Module) -> None:
    """Pack the ``OneDNNLinear`` layers of a model that computes in fp32 on a CPU and is not too large to have twice."""
    layers = [layer for layer in model.modules() if isinstance(layer, OneDNNLinear)]
    fit = all(layer.weight.dtype == torch.float32 and layer.weight.device.type == "cpu" for layer in layers)
    if fit and sum(layer.weight.nbytes for layer in layers) <= _MAX_BYTES:
        for layer in layers:
            layer.pack()


def without_onednn(model: nn.Module) -> nn.Module:
    """A copy of a model as transformers makes it, sharing all weights: what a benchmark compares with."""
    packed = [layer._packed for layer in model.modules() if isinstance(layer, OneDNNLinear)]
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers(), *packed)}
    plain = copy.deepcopy(model, shared)
    for name, layer in [(n, m) for n, m in plain.named_modules() if isinstance(m, OneDNNLinear)]:
        linear = nn.Linear(layer.in_features, layer.out_features, device="meta")
        linear.weight, linear.bias = layer.weight, layer.bias
        plain.set_submodule(name, linear)
    return plain


if TYPE_CHECKING:
    from transformers import BertLMHeadModel

WEIGHTS_FILE, CONFIG_FILE, TOKENIZER_FILE = "model.safetensors", "config.json", "tokenizer.json"


@dataclass(frozen=True, slots=True)
class BertConfig:
    """The part of a ``config.json`` that the arithmetic depends on, in transformers' names."""

    num_hidden_layers: int
    num_attention_heads: int
    layer_norm_eps: float
    max_position_embeddings: int
    vocab_size: int

    @classmethod
    def load(cls, folder: Path) -> BertConfig:
        """Read the configuration of a model folder.

        Raises:
            OSError, ValueError, KeyError: it is missing or damaged.
        """
        record = json.loads((folder / CONFIG_FILE).read_text("utf-8"))
        return cls(*(record[name] for name in cls.__dataclass_fields__))

    @classmethod
    def of(cls, config: Any) -> BertConfig:
        """The same of a transformers configuration."""
        return cls(*(getattr(config, name) for name in cls.__dataclass_fields__))


class _Layer(nn.Module):
    """One layer: attention of each text over itself and what it has in its cache, then the two inner products."""

    def __init__(self, weights: Mapping[str, Tensor], prefix: str, config: BertConfig) -> None:
        super().__init__()
        attention = f"{prefix}attention."
        self.heads = config.num_attention_heads
        self.query, self.key, self.value = (
            _linear(weights, f"{attention}self.{part}") for part in ("query", "key", "value")
        )
        self.attended = _linear(weights, f"{attention}output.dense")
        self.attended_norm = _norm(weights, f"{attention}output.LayerNorm", config)
        self.inner = _linear(weights, f"{prefix}intermediate.dense")
        self.outer = _linear(weights, f"{prefix}output.dense")
        self.outer_norm = _norm(weights, f"{prefix}output.LayerNorm", config)

    def read(self, rows: Tensor, number: int, texts: Sequence[_Text]) -> Tensor:
        """Rows of all texts, ``filled``, through layer ``number``, ``(n, width)`` -> ``(n, width)``."""
        rows = _normed(self.attended_norm, rows + product(self.attended, self._attend(rows, number, texts)))
        inner = product(self.inner, rows, "gelu")
        return _normed(self.outer_norm, rows + product(self.outer, inner))

    def _attend(self, rows: Tensor, number: int, texts: Sequence[_Text]) -> Tensor:
        """Self-attention of each text, ``(n, width)``."""
        parts = [
            product(linear, rows).view(1, rows.shape[0], self.heads, -1).transpose(1, 2)  # (1, heads, n, each)
            for linear in (self.query, self.key, self.value)
        ]
        attended, first = [], 0
        for text in texts:
            query, key, value = (part.narrow(2, first, text.tokens) for part in parts)
            first += text.tokens
            if text.cache is not None:
                key, value = text.cache.update(key, value, number)  # (1, heads, pool, each)
            found = scaled_dot_product_attention(query, key, value, attn_mask=text.mask)
            attended.append(found[0].transpose(0, 1).reshape(text.tokens, -1))
        return filled(attended[0] if len(attended) == 1 else torch.cat(attended))


@dataclass(frozen=True, slots=True)
class _Text:
    """How one text attends: ``mask`` is added to the scores; without one, every token sees every other."""

    tokens: int
    cache: Any = None  # a ``KeyValues``, or transformers' cache
    mask: Tensor | None = None


class _Body(nn.Module):
    """Embeddings and layers, which decoder and sentence encoder share."""

    def __init__(self, weights: Mapping[str, Tensor], prefix: str, config: BertConfig) -> None:
        super().__init__()
        embeddings = f"{prefix}embeddings."
        self.words = _parameter(weights[f"{embeddings}word_embeddings.weight"])
        self.places = _parameter(weights[f"{embeddings}position_embeddings.weight"])
        self.types = _parameter(weights[f"{embeddings}token_type_embeddings.weight"])
        self.norm = _norm(weights, f"{embeddings}LayerNorm", config)
        self.layers = nn.ModuleList(
            _Layer(weights, f"{prefix}encoder.layer.{number}.", config) for number in range(config.num_hidden_layers)
        )

    def read(self, ids: Tensor, positions: Tensor, texts: Sequence[_Text]) -> Tensor:
        """The last layer's rows for the tokens of all texts, one behind the other, ``(n, width)``."""
        for found in self.by_layer(ids, positions, texts):
            rows = found
        return rows[: ids.shape[0]]

    def by_layer(self, ids: Tensor, positions: Tensor, texts: Sequence[_Text]) -> Iterator[Tensor]:
        """The rows of the embeddings, then those of each layer; see ``read``. Behind them may be rows of no token."""
        rows = filled(_normed(self.norm, self.words[ids] + self.places[positions] + self.types[0]))
        yield rows
        for number, layer in enumerate(self.layers):
            rows = layer.read(rows, number, texts)  # type: ignore[operator]  # a ModuleList forgets what it holds
            yield rows


def _parameter(weights: Tensor) -> nn.Parameter:
    """The given parameter itself, so that a model in training is seen as it is; else one that is never trained."""
    return weights if isinstance(weights, nn.Parameter) else nn.Parameter(weights, requires_grad=False)


def _linear(weights: Mapping[str, Tensor], name: str) -> OneDNNLinear:
    weight = weights[f"{name}.weight"]
    layer = nn.Linear(weight.shape[1], weight.shape[0], device="meta")
    layer.weight, layer.bias = _parameter(weight), _parameter(weights[f"{name}.bias"])
    return OneDNNLinear(layer)


def _norm(weights: Mapping[str, Tensor], name: str, config: BertConfig) -> nn.LayerNorm:
    norm = nn.LayerNorm(weights[f"{name}.weight"].shape[0], config.layer_norm_eps, device="meta")
    norm.weight, norm.bias = _parameter(weights[f"{name}.weight"]), _parameter(weights[f"{name}.bias"])
    return norm


def _normed(norm: nn.LayerNorm, rows: Tensor) -> Tensor:
    return layer_norm(rows, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


class LeanBert(nn.Module):
    """A BERT decoder in fp32 on a CPU.

    Args:
        weights: tensors by the names that transformers gives them; parameters among them are shared, not copied.
        config: the sizes.
    """

    def __init__(self, weights: Mapping[str, Tensor], config: BertConfig) -> None:
        super().__init__()
        head = "cls.predictions."
        tied = {
            f"{head}decoder.weight": weights["bert.embeddings.word_embeddings.weight"],
            f"{head}decoder.bias": weights[f"{head}bias"],
        }
        weights = {**tied, **weights}
        self.config = config
        self.dtype = torch.float32
        self.body = _Body(weights, "bert.", config)
        self.transform = _linear(weights, f"{head}transform.dense")
        self.transform_norm = _norm(weights, f"{head}transform.LayerNorm", config)
        self.decoder = _linear(weights, f"{head}decoder")

    @classmethod
    def load(cls, folder: Path) -> LeanBert:
        """The decoder in a model folder, read without transformers.

        Raises:
            OSError, ValueError, KeyError, SafetensorError: a file is missing or damaged.
        """
        return cls(_weights(folder), BertConfig.load(folder))

    @classmethod
    def of(cls, model: BertLMHeadModel) -> LeanBert:
        """The arithmetic of a transformers model that ``suits``; they share all weights."""
        return cls(dict(model.named_parameters(remove_duplicate=False)), BertConfig.of(model.config))

    @staticmethod
    def suits(model: nn.Module) -> bool:
        """Whether a model is a BERT decoder in fp32 on a CPU whose linear layers are ``OneDNNLinear``."""
        any_model: Any = model
        config = getattr(model, "config", None)
        # the class is told by its name: importing it would import transformers
        return (
            type(model).__name__ == "BertLMHeadModel"
            and config is not None
            and config.hidden_act == "gelu"
            and not config.add_cross_attention
            and any_model.device.type == "cpu"
            and any_model.dtype is torch.float32
            and isinstance(any_model.cls.predictions.decoder, OneDNNLinear)
        )

    @torch.inference_mode()
    def read(self, passes: Sequence[Pass]) -> list[Tensor]:
        """Read tokens of several texts, each behind those in its own cache.

        Returns:
            for each pass the logits of its last tokens, ``(counts, V)``.
        """
        texts = [_Text(one.input_ids.shape[1], one.cache, one.attention_mask) for one in passes]
        ids = torch.cat([one.input_ids[0] for one in passes])
        positions = torch.cat([one.position_ids[0] for one in passes])
        rows = self.body.read(ids, positions, texts).split([text.tokens for text in texts])
        counts = [one.logits_to_keep for one in passes]
        last = torch.cat([part[len(part) - keep :] for part, keep in zip(rows, counts, strict=True)])
        return list(self._logits(last).split(counts))

    def _logits(self, rows: Tensor) -> Tensor:
        """What the head makes of rows, ``(n, width)`` -> ``(n, V)``."""
        return product(self.decoder, _normed(self.transform_norm, product(self.transform, rows, "gelu")))

    @torch.inference_mode()
    def logit_lens(self, prompt: Sequence[int], tokens: Sequence[int], bidirectional: bool) -> Tensor:
        """What would follow a text if the model ended after each of its layers: the head, put on every layer.

        That is the logit lens (nostalgebraist, *interpreting GPT: the logit lens*, 2020). It reads in earlier layers
        what the last one has learned to read, so it shows what is there in that form, not all that is there.

        Args:
            prompt: token ids.
            tokens: ids written behind it.
            bidirectional: the prompt's tokens see one another in both directions.

        Returns:
            log-probabilities, ``(layers + 1, V)``: of the embeddings, then of each layer.
        """
        size = len(prompt) + len(tokens)
        may_look = torch.ones(size, size, dtype=torch.bool).tril()
        if bidirectional:
            may_look[: len(prompt), : len(prompt)] = True
        mask = torch.zeros(size, size).masked_fill(~may_look, torch.finfo(self.dtype).min)[None, None]
        ids = torch.tensor([*prompt, *tokens])
        rows = self.body.by_layer(ids, torch.arange(size), [_Text(size, mask=mask)])
        return torch.log_softmax(self._logits(torch.stack([found[size - 1] for found in rows])), dim=-1)


_LONGEST = 256  # tokens of a sentence, as the model's own sentence_bert_config.json has it
_AT_ONCE = 64  # sentences


class SentenceBert:
    """A BERT whose mean last row is a sentence's embedding.

    Args:
        folder: a sentence-transformers model of the modules Transformer, mean Pooling and Normalize.

    Raises:
        OSError, ValueError, KeyError, SafetensorError: a file is missing or damaged.
    """

    def __init__(self, folder: Path) -> None:
        self._body = _Body(_weights(folder), "", BertConfig.load(folder))
        pack(self._body)
        self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / TOKENIZER_FILE))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(_LONGEST)

    @property
    def width(self) -> int:
        """Size d of an embedding."""
        return int(self._body.words.shape[1])

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts; ``(len(texts), d)``, every row of length 1."""
        batches = [texts[first : first + _AT_ONCE] for first in range(0, len(texts), _AT_ONCE)]
        parts = IDLE_PROCESSORS.run(lambda: [self._embed(batch) for batch in batches])
        return np.concatenate([np.empty((0, self.width), np.float32), *parts])

    def rows(self, texts: Sequence[str], layers: Sequence[int]) -> list[Tensor]:
        """What some of the layers make of each token, side by side: of each text ``(tokens, len(layers) * width)``."""
        batches = [texts[first : first + _AT_ONCE] for first in range(0, len(texts), _AT_ONCE)]
        return IDLE_PROCESSORS.run(lambda: [part for batch in batches for part in self._rows(batch, layers)])

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where each token of a text starts and ends in it, in letters; nowhere, (0, 0), for those put around it."""
        return list(self._tokenizer.encode(text).offsets)

    @torch.inference_mode()
    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        means = torch.stack([part.mean(dim=0) for part in self._rows(texts, (-1,))])
        return normalize(means, dim=1).numpy()

    @torch.inference_mode()
    def _rows(self, texts: Sequence[str], layers: Sequence[int]) -> Sequence[Tensor]:
        found = self._tokenizer.encode_batch_fast(list(texts))
        sizes = [len(one.ids) for one in found]
        ids = torch.tensor([token for one in found for token in one.ids])
        places = torch.cat([torch.arange(size) for size in sizes])
        made = list(self._body.by_layer(ids, places, [_Text(size) for size in sizes]))
        parts: Sequence[Tensor] = torch.cat([made[layer][: len(ids)] for layer in layers], dim=1).split(sizes)
        return parts


def _weights(folder: Path) -> dict[str, Tensor]:
    """The weights of a model folder in fp32."""
    return {name: tensor.float() for name, tensor in load_file(folder / WEIGHTS_FILE).items()}


class FileTokenizer:
    """The tokeniser in a model folder; see ``label_tokens.Tokenizer``, whose calls mean what they mean in transformers.

    Args:
        folder: holds ``tokenizer.json`` and, in ``tokenizer_config.json``, the name of the token that ends a text.

    Raises:
        OSError, ValueError, KeyError: a file is missing or damaged.
    """

    chat_template = None

    def __init__(self, folder: Path) -> None:
        try:
            described = (folder / TOKENIZER_FILE).read_bytes()
            self._literal = tokenizers.Tokenizer.from_buffer(described)  # special tokens in a text count
            self.backend_tokenizer = tokenizers.Tokenizer.from_buffer(described)  # they are spelled out
        except OSError:
            raise
        except Exception as error:  # the library raises nothing more special
            raise ValueError(f"{TOKENIZER_FILE}: {error}") from error
        self.backend_tokenizer.encode_special_tokens = True
        for backend in (self._literal, self.backend_tokenizer):
            backend.no_padding()
            backend.no_truncation()
        config = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
        self.eos_token: str = config["eos_token"]
        self.eos_token_id = int(self.convert_tokens_to_ids(self.eos_token))

    def __len__(self) -> int:
        return self._literal.get_vocab_size(with_added_tokens=True)

    def __call__(self, text: Any, add_special_tokens: bool = True, split_special_tokens: bool = False) -> Any:
        """Token ids of a text, or of each of a list of texts, under ``input_ids``."""
        backend = self.backend_tokenizer if split_special_tokens else self._literal
        if isinstance(text, str):
            return {"input_ids": backend.encode(text, add_special_tokens=add_special_tokens).ids}
        found = backend.encode_batch_fast(list(text), add_special_tokens=add_special_tokens)
        return {"input_ids": [one.ids for one in found]}

    def decode(self, token_ids: Sequence[int], skip_special_tokens: bool = False) -> str:
        """The text of token ids."""
        return self._literal.decode([int(token) for token in token_ids], skip_special_tokens=skip_special_tokens)

    def convert_tokens_to_ids(self, tokens: str) -> int:
        """The id of a token.

        Raises:
            KeyError: the vocabulary has none of that name.
        """
        found = self._literal.token_to_id(tokens)
        if found is None:
            raise KeyError(tokens)
        return found

    def convert_ids_to_tokens(self, ids: Any) -> Any:
        """The name of one token, or of each of several."""
        if isinstance(ids, int):
            return self._literal.id_to_token(ids)
        return [self._literal.id_to_token(int(token)) for token in ids]
