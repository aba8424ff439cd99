"""Token trees: a beam is a node, and what has been read of a prompt and its continuations is read once.

``PooledTokenTree`` is one KV pool with a batch of one. Each new token is one more query row that may look at the
prompt, at its ancestors and at itself; rows of other beams lie in the same pool behind the mask. Nothing is ever
copied or reordered when beams are. The prompt is read with the first tokens asked for, so that a beginning that is
known costs no pass of its own. Works for every model that takes a 4-D attention mask and explicit positions.

For models that take no such mask ``PlainTokenTree`` reads whole texts anew, in a right-padded batch. It is slower
(the prompt is read again with every text) and exact: padding stands behind the text, where a causal model cannot see
it. ``fits_pool`` tries a model out and says which it needs.

A search may also go on behind text already written: a token tree seen from one of its nodes, without reading anything
again.

One model serves everybody who asks at the same time (``BatchedForward``): threads take turns at it, a forward pass a
turn, so that two questions never fight for the same cores; where a pass uses one core of several, as many passes are
under way as there are cores. Whoever gets a turn does all that is waiting at this moment: nobody waits longer than for
a pass under way and the next, and with few rows each, one pass over the rows of several questions costs little more
than over those of one, since the weights are moved once.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from kgdemo.errors import ModelError
from kgdemo.models.base import PROMPT_END, TokenTree, extend_chain
from kgdemo.models.courtesy import COURTESY, IDLE_PROCESSORS

if TYPE_CHECKING:
    from transformers import Cache


class KeyValues:
    """Keys and values of one text's tokens so far, layer by layer: what the lean models need of a cache.

    They stand in tensors with room for more, so that what is there already is seldom copied.
    """

    def __init__(self) -> None:
        self._layers: list[tuple[Tensor, Tensor]] = []  # (1, heads, room, each)
        self._tokens: list[int] = []  # in each layer

    def update(self, key: Tensor, value: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Append to a layer's keys and values, ``(1, heads, n, each)``; returns all of them."""
        if layer == len(self._layers):
            self._layers.append((key[:, :, :0], value[:, :, :0]))
            self._tokens.append(0)
        before, new = self._tokens[layer], key.shape[2]
        self._tokens[layer] = have = before + new
        if have > self._layers[layer][0].shape[2]:
            keys, values = self._layers[layer]
            self._layers[layer] = _with_room(keys, before, 2 * have), _with_room(values, before, 2 * have)
        held_keys, held_values = self._layers[layer]
        held_keys[:, :, before:have] = key
        held_values[:, :, before:have] = value
        return held_keys[:, :, :have], held_values[:, :, :have]


def _with_room(held: Tensor, tokens: int, room: int) -> Tensor:
    """The first ``tokens`` of keys or values in a larger tensor, ``(1, heads, room, each)``."""
    larger = held.new_empty(*held.shape[:2], room, held.shape[3])
    larger[:, :, :tokens] = held[:, :, :tokens]
    return larger


@dataclass(frozen=True, slots=True)
class Pass:
    """A forward pass over n tokens of one text, in transformers' names.

    Attributes:
        input_ids, position_ids: ``(1, n)``.
        attention_mask: added to the attention scores, ``(1, 1, n, pool)``.
        cache: keys and values so far; those of these tokens are added.
        logits_to_keep: for how many of the last tokens logits are wanted.
    """

    input_ids: Tensor
    attention_mask: Tensor
    position_ids: Tensor
    cache: KeyValues | Cache
    logits_to_keep: int


@dataclass(slots=True, eq=False)
class PendingForward:
    """A pass somebody waits for, and what came of it."""

    wanted: Pass
    log_probs: Tensor | None = None
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)


class BatchedForward(nn.Module):
    """A model as all threads share it.

    Args:
        model: a transformers causal language model, or its lean form.
        read: reads several passes in one and returns the logits of each; None: they are done one after another.
        turns: how many threads may read at the same time.
    """

    def __init__(
        self, model: nn.Module, read: Callable[[Sequence[Pass]], list[Tensor]] | None = None, turns: int = 1
    ) -> None:
        super().__init__()
        self.model = model
        self.dtype = model.dtype
        self.device = next(model.parameters()).device
        self._read = read
        # transformers 5.24 gives the argument another name; earlier releases are the newest that Python 3.10 can have
        self._cache_name = "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"
        self._turns, self._guard = threading.Semaphore(turns), threading.Lock()
        self._waiting: list[PendingForward] = []

    def new_cache(self) -> KeyValues | Cache:
        """An empty cache of the kind that the model reads with."""
        if self._read is not None:
            return KeyValues()
        from transformers import DynamicCache  # only models of transformers come here; its import takes seconds

        return DynamicCache()

    def forward(self, wanted: Pass) -> Tensor:
        """fp32 log-probabilities of what follows the pass's last tokens, ``(kept, V)``.

        What other threads wait for is done along with it.

        Raises:
            Exception: whatever the model raised over this pass, or over one read together with it.
        """
        pending = PendingForward(wanted)
        with self._guard:
            self._waiting.append(pending)
        with self._turns:
            with self._guard:  # what another thread has taken is done, or under way there
                batch, self._waiting = (self._waiting, []) if pending in self._waiting else ([], self._waiting)
            for group in [batch] if self._read and batch else [[one] for one in batch]:
                self._serve(group)
        pending.done.wait()
        if pending.error is not None:
            raise pending.error
        assert pending.log_probs is not None
        return pending.log_probs

    def _serve(self, group: Sequence[PendingForward]) -> None:
        try:
            found = IDLE_PROCESSORS.run(lambda: self._log_probs([one.wanted for one in group]))
            COURTESY.has_read()
            for one, log_probs in zip(group, found, strict=True):
                one.log_probs = log_probs
        except Exception as error:  # noqa: BLE001  # handed to those who asked, whichever thread did the work
            for one in group:
                one.error = error
        finally:
            for one in group:
                one.done.set()

    @torch.inference_mode()
    def _log_probs(self, wanted: Sequence[Pass]) -> list[Tensor]:
        """What the model makes of some passes, of one alone where it cannot read several at once."""
        logits = self._read(wanted) if self._read else [self._alone(one) for one in wanted]
        return [torch.log_softmax(rows.float(), dim=-1) for rows in logits]

    def _alone(self, wanted: Pass) -> Tensor:
        result: Tensor = self.model(
            input_ids=wanted.input_ids,
            attention_mask=wanted.attention_mask,
            position_ids=wanted.position_ids,
            **{self._cache_name: wanted.cache},
            use_cache=True,
            logits_to_keep=wanted.logits_to_keep,
        ).logits[0]
        return result


class PooledTokenTree:
    """See ``base.TokenTree``.

    Args:
        model: a transformers causal language model in evaluation mode, or one that threads share.
        prompt: token ids.
        bidirectional: let the prompt's tokens see one another in both directions.
        context: positions that the model knows.
    """

    def __init__(
        self, model: torch.nn.Module, prompt: Sequence[int], bidirectional: bool, context: int = sys.maxsize
    ) -> None:
        self.model = model if isinstance(model, BatchedForward) else BatchedForward(model)
        self.device = self.model.device
        self.prompt = tuple(prompt)
        self.bidirectional = bidirectional
        self.context = context
        self.cache = self.model.new_cache()
        self.depths: list[int] = []  # position of each node, counted from the start of the prompt
        self.calls = 0
        self._visible = np.zeros((64, 64), bool)  # (nodes, nodes): ancestors and self; on the host, sent row by row
        self._first: Tensor | None = None

    @property
    def size(self) -> int:
        """See ``base.TokenTree``."""
        return len(self.depths)

    def prompt_log_probs(self) -> Tensor:
        """See ``base.TokenTree``."""
        if self._first is None:
            self._read([], [])
        assert self._first is not None
        return self._first

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self.depths)
        log_probs = self._read(parents, tokens)
        return list(range(first, len(self.depths))), log_probs

    def _read(self, parents: Sequence[int], tokens: Sequence[int]) -> Tensor:
        """Append tokens, and read the prompt along with them if it has not been read; ``(n, V)``."""
        first, begun = len(self.depths), self._first is not None
        self._append(parents)
        _check_length(max(self.depths[first:], default=len(self.prompt) - 1) + 1, self.context)
        prompt = () if begun else self.prompt
        mask = np.ones((len(prompt) + len(tokens), len(self.prompt) + len(self.depths)), bool)
        mask[len(prompt) :, len(self.prompt) :] = self._visible[first : len(self.depths), : len(self.depths)]
        if prompt:
            mask[: len(prompt), len(prompt) :] = False
            if not self.bidirectional:
                mask[: len(prompt), : len(prompt)] = np.tri(len(prompt), dtype=bool)
        positions = [*range(len(prompt)), *self.depths[first:]]
        log_probs = self._forward([*prompt, *tokens], positions, mask, len(tokens) + (not begun))
        if not begun:
            self._first, log_probs = log_probs[0], log_probs[1:]
        return log_probs

    def _append(self, parents: Sequence[int]) -> None:
        """Add a node behind each parent: its depth and what it may look at."""
        self._reserve(len(self.depths) + len(parents))
        for parent in parents:
            node = len(self.depths)
            if parent == PROMPT_END:
                self.depths.append(len(self.prompt))
            else:
                self.depths.append(self.depths[parent] + 1)
                self._visible[node] = self._visible[parent]
            self._visible[node, node] = True

    def _reserve(self, nodes: int) -> None:
        have = len(self._visible)
        if nodes > have:
            size = max(nodes, 2 * have)
            larger = np.zeros((size, size), bool)
            larger[:have, :have] = self._visible
            self._visible = larger

    @torch.inference_mode()
    def _forward(self, ids: list[int], positions: list[int], may_look: NDArray[np.bool_], keep: int) -> Tensor:
        """Run n tokens that may look as ``may_look`` (n, pool) says.

        Returns:
            fp32 log-probabilities of what follows each of the last ``keep`` tokens, ``(keep, V)``.
        """
        self.calls += 1
        dtype: torch.dtype = self.model.dtype  # type: ignore[assignment]  # of any module torch says Tensor | Module
        mask = np.where(may_look, 0.0, torch.finfo(dtype).min)  # doubles: numpy knows no bfloat16
        wanted = Pass(
            input_ids=torch.tensor([ids], device=self.device),
            attention_mask=torch.from_numpy(mask).to(self.device, dtype)[None, None],
            position_ids=torch.tensor([positions], device=self.device),
            cache=self.cache,
            logits_to_keep=keep,
        )
        found: Tensor = self.model(wanted)
        return found


class WholeTexts:
    """See ``base.TokenTree``: each node is a text, and is read as one; subclasses say how.

    Args:
        prompt: token ids.
        context: positions that the model knows.
    """

    def __init__(self, prompt: Sequence[int], context: int = sys.maxsize) -> None:
        self.prompt = tuple(prompt)
        self.context = context
        self.calls = 0
        self._texts: list[tuple[int, ...]] = []  # of each node: the tokens behind the prompt
        self._first: Tensor | None = None

    @property
    def size(self) -> int:
        """See ``base.TokenTree``."""
        return len(self._texts)

    def prompt_log_probs(self) -> Tensor:
        """See ``base.TokenTree``."""
        if self._first is None:
            self._first = self._read_checked([()])[0]
        return self._first

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``base.TokenTree``."""
        first = len(self._texts)
        for parent, token in zip(parents, tokens, strict=True):
            before = () if parent == PROMPT_END else self._texts[parent]
            self._texts.append((*before, token))
        wanted = self._texts[first:]
        nodes = list(range(first, len(self._texts)))
        if self._first is not None:
            return nodes, self._read_checked(wanted)
        self._first, *_ = log_probs = self._read_checked([(), *wanted])
        return nodes, log_probs[1:]

    def _read_checked(self, texts: Sequence[tuple[int, ...]]) -> Tensor:
        self.calls += 1
        _check_length(len(self.prompt) + max(map(len, texts)), self.context)
        return self._read(texts)

    def _read(self, texts: Sequence[tuple[int, ...]]) -> Tensor:
        """fp32 log-probabilities of what follows each of some texts behind the prompt, ``(texts, V)``."""
        raise NotImplementedError


class PlainTokenTree(WholeTexts):
    """See ``base.TokenTree``.

    Args:
        model: a transformers causal language model in evaluation mode.
        prompt: token ids.
        context: positions that the model knows.
    """

    def __init__(self, model: torch.nn.Module, prompt: Sequence[int], context: int = sys.maxsize) -> None:
        super().__init__(prompt, context)
        self.model = model
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def _read(self, texts: Sequence[tuple[int, ...]]) -> Tensor:
        # a text that another one begins with is read along with it
        rows: dict[tuple[int, ...], int] = {}
        whole: list[tuple[int, ...]] = []
        for text in sorted(set(texts), key=len, reverse=True):
            if text not in rows:
                rows.update({text[:end]: len(whole) for end in range(len(text) + 1)})
                whole.append(text)
        width = len(self.prompt) + max(map(len, whole))
        ids = torch.zeros(len(whole), width, dtype=torch.long)
        look = torch.zeros(len(whole), width, dtype=torch.long)
        for row, text in enumerate(whole):
            length = len(self.prompt) + len(text)
            ids[row, :length] = torch.tensor([*self.prompt, *text])
            look[row, :length] = 1
        output = self.model(input_ids=ids.to(self.device), attention_mask=look.to(self.device), use_cache=False)
        places = [(rows[text], len(self.prompt) + len(text) - 1) for text in texts]
        at_rows, at_columns = torch.tensor(places, device=self.device).unbind(1)
        return torch.log_softmax(output.logits[at_rows, at_columns].float(), dim=-1)


def _check_length(positions: int, context: int) -> None:
    """Refuse a text that the model has no positions for.

    Searches keep to the room there is, so that this is a last resort; an index error would say nothing to anyone.
    """
    if positions > context:
        raise ModelError(
            f"The model reads {context:,} tokens at a time and this text has {positions:,}; "
            "ask with fewer hops, or on a graph with shorter labels."
        )


def fits_pool(model: torch.nn.Module) -> bool:
    """Whether a model reads forked texts right through one pool and a 4-D mask; tried on a few tokens.

    Models that ignore the mask, take positions from elsewhere or keep a state of their own do not: they raise,
    or see the tokens of other beams.
    """
    prompt, forks = [1, 2, 3], ([PROMPT_END, PROMPT_END, 0, 1], [4, 5, 6, 6])
    plain = PlainTokenTree(model, prompt).extend(*forks)[1]
    try:
        pooled = PooledTokenTree(model, prompt, False)
        first = pooled.extend(forks[0][:2], forks[1][:2])[1]
        second = pooled.extend(forks[0][2:], forks[1][2:])[1]
    except (TypeError, ValueError, RuntimeError, IndexError, AttributeError, NotImplementedError, KeyError):
        return False  # whatever its code makes of a mask and a cache that it does not know
    split = torch.cat([first, second])
    if split.shape != plain.shape:
        return False
    # one beam's tokens leaking into another's change far more than rounding does
    apart = (split.exp() - plain.exp()).abs().max()
    return bool(apart < (1e-4 if model.dtype == torch.float32 else 2e-2))


_CACHED_ROWS = 64  # a row of log-probabilities is as long as the vocabulary


class RootedTree:
    """See ``models.base.TokenTree``: ``tree`` with ``root`` in the prompt's place.

    Args:
        tree: the whole tree.
        root: the node where the search begins.
        log_probs: of what follows it, ``(V,)``.
    """

    def __init__(self, tree: TokenTree, root: int, log_probs: Tensor) -> None:
        self.tree = tree
        self.root = root
        self._log_probs = log_probs

    @property
    def size(self) -> int:
        """See ``TokenTree``."""
        return self.tree.size

    @property
    def calls(self) -> int:
        """See ``TokenTree``."""
        return self.tree.calls

    def prompt_log_probs(self) -> Tensor:
        """See ``TokenTree``."""
        return self._log_probs

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Tensor]:
        """See ``TokenTree``."""
        return self.tree.extend([self.root if p == PROMPT_END else p for p in parents], tokens)


class Writer:
    """Walks a token tree along given tokens and remembers the nodes, so that hardly a token is read twice.

    Args:
        tree: the tree of one prompt.
    """

    def __init__(self, tree: TokenTree) -> None:
        self.tree = tree
        self._nodes: dict[tuple[int, ...], int] = {(): PROMPT_END}
        self._rows: OrderedDict[tuple[int, ...], Tensor] = OrderedDict()

    def behind(self, tokens: tuple[int, ...]) -> RootedTree:
        """The tree seen from behind ``tokens``, which are counted from the end of the prompt."""
        if not tokens:
            return RootedTree(self.tree, PROMPT_END, self.tree.prompt_log_probs())
        if tokens not in self._rows:
            # a node whose log-probabilities have been dropped is read again: one token
            known = next(n for n in range(len(tokens) - 1, -1, -1) if tokens[:n] in self._nodes)
            nodes, row = extend_chain(self.tree, self._nodes[tokens[:known]], tokens[known:])
            self._nodes.update((tokens[: known + count], node) for count, node in enumerate(nodes, 1))
            self._rows[tokens] = row
            while len(self._rows) > _CACHED_ROWS:
                self._rows.popitem(last=False)
        return RootedTree(self.tree, self._nodes[tokens], self._rows[tokens])
