"""Beam search over a constraint, as a generator: one ``Step`` a yield, nothing runs in between.

The search of GCR section 4.3 (equations 6 and 9): scores are sums of *full-vocabulary* log-probabilities, of which the
constraint lets some be taken. Normalising over the allowed tokens would change which path wins. It fails closed: a beam
that nothing may follow is dropped, and a path cut off by the length limit is not a path.

``LookAhead`` scores nodes before the search asks for them, in fewer and wider forward passes. Most tokens of a path are
forced, having one allowed child, and read in one pass with the token before them (``forced``). Beyond that the search
is rehearsed over what is known: where every probability is known, or where no more tokens can follow than there are
beams, its next beams are certain and read right away. From there on they are guessed, as far as a budget allows. The
search itself is unchanged: it is replayed over log-probabilities that are known already, so sequences, order and steps
are those of the step-wise search (the pooled cache of ``models.token_tree`` makes it cheap). A processor that waits for
weights, as all do with few tokens, gains by every pass that is saved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kgdemo.constraint.automaton import AutomatonState, Constraint, State, Successors
from kgdemo.decoding.base import (
    BeamSettings,
    BeamView,
    Choice,
    Hypothesis,
    Ragged,
    Step,
    TokenCandidate,
    best_candidates,
    best_places,
    forbidden_mass,
    split_best,
)
from kgdemo.errors import UserError
from kgdemo.events import Fate
from kgdemo.models.base import PROMPT_END, JointTree, Reading, TokenTree


def beam_search(
    tree: TokenTree, constraint: Constraint[Any], settings: BeamSettings
) -> Generator[Step, None, list[Hypothesis]]:
    """Search for the ``settings.wanted`` best complete paths.

    Searches that are given one ``JointTree`` and run in step share their forward passes.

    Yields:
        each step, after its pruning.

    Returns:
        finished hypotheses, best first, all different; fewer than asked when no more exist.
    """
    first = Hypothesis((), (), constraint.start())
    scorer = LookAhead(tree, constraint, settings)
    scorer.begin(first.state)  # here, so that searches made one after another read their beginnings together
    return _steps(first, scorer, settings)


def _steps(first: Hypothesis, scorer: LookAhead, settings: BeamSettings) -> Generator[Step, None, list[Hypothesis]]:
    """The steps of a beam search."""
    live = [first] if first.state.alive else []  # later ones are alive, or they were not kept
    finished: list[Hypothesis] = []
    for number in range(settings.max_tokens):
        if not live:
            break
        log_probs = scorer.rows()  # (beams, V)
        followers = [scorer.followers(beam) for beam in live]
        candidates = _candidates(live, followers, log_probs, settings, number)
        choices, next_live, ended = split_candidates(live, followers, candidates, settings)
        if number + 1 < len(settings.forced):
            ended = []  # an end mark spelled in plain letters inside what is forced: shorter than asked for
        finished = sorted([*finished, *ended], key=lambda h: -h.score)[: settings.wanted]
        choices, next_live = prune_hopeless(choices, next_live, finished, settings)
        views = views_of(live, followers, log_probs, settings.masked)
        if next_live and number + 1 < settings.max_tokens:
            nodes = scorer.ask_for(next_live)
            next_live = [replace(beam, node=node) for beam, node in zip(next_live, nodes, strict=True)]
        yield Step(number, views, tuple(choices), tuple(next_live), tuple(finished))
        live = next_live
    return finished


def _candidates(
    live: Sequence[Hypothesis],
    followers: Sequence[Successors[Any]],
    log_probs: Tensor,
    settings: BeamSettings,
    number: int,
) -> list[TokenCandidate]:
    """The best continuations over all beams; where a token is forced, those by this token alone."""
    forced = settings.forced[number] if number < len(settings.forced) else None
    limit = 2 * settings.beams if forced is None else log_probs.shape[1]
    found = best_candidates(log_probs, followers, [h.score for h in live], limit, settings.graph_normalised)
    if forced is None:
        return found
    return [c for c in found if c.index in _places(followers[c.beam], forced)]


def _places(allowed: Successors[Any], token: int) -> list[int]:
    """Where a token stands among the successors: one index, or none when it may not follow."""
    return [token] if allowed.tokens is None else np.flatnonzero(allowed.tokens == token).tolist()


def split_candidates(
    live: Sequence[Hypothesis],
    followers: Sequence[Successors[Any]],
    candidates: Sequence[TokenCandidate],
    settings: BeamSettings,
) -> tuple[list[Choice], list[Hypothesis], list[Hypothesis]]:
    """Split candidates into those kept as beams, those finished and those pruned."""
    choices: list[Choice] = []
    kept: list[Hypothesis] = []
    ended: list[Hypothesis] = []
    for place, candidate in enumerate(candidates):
        score, index, log_prob = candidate.score, candidate.index, candidate.log_prob
        allowed, parent = followers[candidate.beam], live[candidate.beam]
        token = index if allowed.tokens is None else int(allowed.tokens[index])
        state = allowed.take(index)
        tokens, log_probs = (*parent.tokens, token), (*parent.log_probs, log_prob)
        fate: Fate = "pruned"
        if state.complete and (settings.late_ends or place < settings.beams):
            fate = "finished"
            penalty = len(tokens) ** settings.length_penalty
            ended.append(Hypothesis(tokens, log_probs, state, parent.node, score / penalty))
        if state.alive and len(kept) < settings.beams:
            fate = "kept"
            kept.append(Hypothesis(tokens, log_probs, state, parent.node, score))
        choices.append(Choice(candidate.beam, token, log_prob, score, fate))
    return choices, kept, ended


def is_settled(live: Sequence[Hypothesis], finished: Sequence[Hypothesis], settings: BeamSettings) -> bool:
    """Whether no live beam can still enter the best that are wanted."""
    return not any(_may_enter(beam, finished, settings) for beam in live)


def _may_enter(beam: Hypothesis, finished: Sequence[Hypothesis], settings: BeamSettings) -> bool:
    """Whether a live beam can still enter the best that are wanted.

    Totals only fall. With a length penalty a longer path may yet gain, so its best case is the score it
    would have at full length; a negative one favours the shortest.
    """
    if len(finished) < settings.wanted:
        return True
    longest = settings.max_tokens if settings.length_penalty > 0 else len(beam.tokens) + 1
    result: bool = beam.score / longest**settings.length_penalty > finished[-1].score
    return result


def prune_hopeless(
    choices: list[Choice], live: list[Hypothesis], finished: Sequence[Hypothesis], settings: BeamSettings
) -> tuple[list[Choice], list[Hypothesis]]:
    """Prune the beams that can no longer enter the best: what follows them would be read for nothing.

    They rank behind all that can, so nothing else changes.
    """
    hopeful = [_may_enter(beam, finished, settings) for beam in live]
    if all(hopeful):
        return choices, live
    left = iter(hopeful)  # choices that are kept stand in the order of the beams they make
    fates = [choice if choice.fate != "kept" or next(left) else replace(choice, fate="pruned") for choice in choices]
    return fates, [beam for beam, hope in zip(live, hopeful, strict=True) if hope]


def views_of(
    live: Sequence[Hypothesis], followers: Sequence[Successors[Any]], log_probs: Tensor, masked: int
) -> tuple[BeamView, ...]:
    """What was allowed and forbidden, for those who watch."""
    if not masked:
        return tuple(
            BeamView(h, -1 if f.tokens is None else len(f.tokens), 0.0) for h, f in zip(live, followers, strict=True)
        )
    constrained = [i for i, allowed in enumerate(followers) if allowed.tokens is not None]
    views = [BeamView(hypothesis, -1, 0.0) for hypothesis in live]
    if len(constrained) < len(live):
        values, ids = (t.tolist() for t in log_probs.topk(masked, dim=-1))
        views = [
            BeamView(view.hypothesis, -1, 0.0, (), tuple(zip(i, v, strict=True)))
            for view, i, v in zip(views, ids, values, strict=True)
        ]
    if constrained:
        rows = log_probs[constrained]
        ragged = Ragged.of([followers[i] for i in constrained])
        taken = forbidden_mass(rows, ragged)
        for i, mass, top, left in zip(constrained, taken, *split_best(rows, ragged, masked), strict=True):
            views[i] = BeamView(live[i], len(followers[i].tokens), mass, tuple(left), tuple(top))
    return tuple(views)


def continuations(
    tree: JointTree,
    starts: Sequence[Hypothesis],
    suffix: Sequence[int],
    stop: frozenset[int],
    max_tokens: int,
    drafts: Sequence[Sequence[int]] = (),
) -> Reading[list[tuple[int, ...]]]:
    """Continue each finished path freely, the most probable token at a time: the hypothesis answers.

    A draft is read together with what stands before it, and taken as far as each of its tokens is the most probable
    (speculative decoding, Leviathan et al. 2023, at temperature 0): a good one saves a pass a token, and no draft
    changes an answer.

    Args:
        tree: the tree the paths were found in.
        starts: finished hypotheses; their ``node`` is that of the last token but one.
        suffix: tokens to put after each path first (the mark that announces the answer).
        stop: tokens that end an answer.
        max_tokens: longest answer.
        drafts: for each start what its answer may be; none saves nothing.

    Returns:
        the answer's tokens for each start, without the stop token.
    """
    if not starts:
        return []
    before = len(suffix) + 1  # tokens of each start that are given
    chains = [
        (start.tokens[-1], *suffix, *draft[:max_tokens])
        for start, draft in zip(starts, drafts or [()] * len(starts), strict=True)
    ]
    ways = [tree.add_chain(start.node, chain) for start, chain in zip(starts, chains, strict=True)]
    yield
    log_probs = tree.read([node for way in ways for node in way[before - 1 :]])  # what is given is known
    likeliest = iter(log_probs.argmax(dim=-1).tolist())
    answers: list[list[int]] = []
    following: list[tuple[int, int]] = []  # for each start its last node and the token that follows it
    for chain, way in zip(chains, ways, strict=True):
        after = [next(likeliest) for _ in way[before - 1 :]]
        taken = 0
        while taken < len(after) - 1 and after[taken] == chain[before + taken] and after[taken] not in stop:
            taken += 1
        answers.append(list(chain[before : before + taken]))
        following.append((way[before - 1 + taken], after[taken]))
    active = list(range(len(starts)))
    while active := [i for i in active if following[i][1] not in stop and len(answers[i]) < max_tokens]:
        for i in active:
            answers[i].append(following[i][1])
        active = [i for i in active if len(answers[i]) < max_tokens]
        if active:
            nodes = [tree.add(*following[i]) for i in active]
            yield
            for i, node, token in zip(active, nodes, tree.read(nodes).argmax(dim=-1).tolist(), strict=True):
                following[i] = node, token
    return [tuple(answer) for answer in answers]


def check_forced(constraint: Constraint[Any], tokens: Sequence[int], text_of: Callable[[int], str]) -> None:
    """Walk a constraint along forced tokens; the model is not asked.

    Args:
        constraint: what may be written.
        tokens: the forced tokens, counted from ``<PATH>``.
        text_of: a token as people read it, for the error.

    Raises:
        UserError: a token that may not follow those before it, with what was written up to there.
    """
    state = constraint.start()
    for place, token in enumerate(tokens):
        allowed = constraint.successors(state)
        found = _places(allowed, token)
        if not found:
            written = "".join(text_of(one) for one in tokens[:place]).strip()
            after = f"after “{written}”" if written else "at the start of a path"
            raise UserError(
                f"The graph does not allow “{text_of(token).strip()}” {after}; "
                "go back in the line of forced tokens and take one that it allows."
            )
        state = allowed.take(found[0])


_MIN_CHANCE = 0.05  # of a guess to be right; a row costs a CPU about that much of a pass


@dataclass(slots=True)
class _Node:
    """A token scored, or about to be, and what is known behind it.

    Attributes:
        parent: id of the node before it in the token tree.
        token: what it appends.
        depth: tokens of the path up to and with it.
        state: where the constraint stands behind it.
        score: as the search ranks it; an estimate while not all before it have been scored.
        chance: that the search comes by, where forks before it are unknown; 1 elsewhere.
        node: its own id, once planned.
        row: log-probabilities of what follows, ``(V,)``, once scored.
        gains: what each of its followers adds to the score, ``(followers,)``, once scored.
        children: those looked at, by token.
    """

    parent: int
    token: int
    depth: int
    state: State
    score: float
    chance: float = 1.0
    node: int = -1
    row: Tensor | None = None
    gains: NDArray[np.float64] | None = None
    children: dict[int, _Node] = field(default_factory=dict)
    followers: Successors[Any] | None = None


def _is_unread(node: _Node) -> bool:
    """Whether a store would have to be asked what may follow: looking ahead does not wait for that."""
    return node.followers is None and isinstance(node.state, AutomatonState) and node.state.unread


class LookAhead:
    """Answers the search from nodes scored ahead, and decides what to score along with what is missing.

    Args:
        tree: the token tree that reads.
        constraint: says which tokens may follow.
        settings: those of the search: how far to look, how continuations rank, where paths are cut off.
    """

    def __init__(self, tree: TokenTree, constraint: Constraint[Any], settings: BeamSettings) -> None:
        self.tree = JointTree.of(tree)
        self.constraint = constraint
        self.settings = settings
        self._wanted: list[_Node] = []  # asked for last
        self._planned: list[_Node] = []  # what was asked for and is not known, and what is scored along with it
        self._at: dict[int, _Node] = {}  # where the search stands, by id; empty where nothing is read ahead
        self._share, self._shares = 0.0, 0  # log of the probability left by the constraint: mean over so many nodes

    def begin(self, state: State) -> None:
        """Ask for what follows the prompt, and with it for the forced beginning of every path.

        Args:
            state: where the constraint starts.
        """
        root = _Node(PROMPT_END, -1, 0, state, 0.0, node=PROMPT_END)
        if self.settings.look_ahead is not None:
            self._rehearse([self._run(self._forced_beginning(root))])
            self._at = {PROMPT_END: root}
        self._wanted = [root]

    def followers(self, beam: Hypothesis) -> Successors[Any]:
        """What may follow a beam; it is often known from looking ahead."""
        node = self._at.get(beam.node)
        return self.constraint.successors(beam.state) if node is None else self._followers(node)

    def ask_for(self, beams: Sequence[Hypothesis]) -> list[int]:
        """Ask for the last token of each beam, whose ``node`` is still that of the token before, to be scored.

        Along with what is missing, what may be wanted next is planned.

        Returns:
            the new nodes' ids.
        """
        wanted = []
        for beam in beams:
            parent, token = self._at.get(beam.node), beam.tokens[-1]
            node = None if parent is None else parent.children.get(token)
            wanted.append(node or _Node(beam.node, token, len(beam.tokens), beam.state, beam.score))
            wanted[-1].score, wanted[-1].chance = beam.score, 1.0
        missing = [node for node in wanted if node.row is None]
        for node in missing:
            self._plan(node)
        if missing and self.settings.look_ahead is not None:
            for node in missing:
                self._run(node)
            self._rehearse(wanted)
        if self.settings.look_ahead is not None:
            self._at = {node.node: node for node in wanted}  # what the search has left behind is forgotten
        self._wanted = wanted
        return [node.node for node in wanted]

    def rows(self) -> Tensor:
        """Full-vocabulary log-probabilities of what follows each node that was asked for last, ``(n, V)``."""
        wanted, plan, self._planned = self._wanted, self._planned, []
        rows = self._read(plan)
        for node in wanted:
            if node.node == PROMPT_END:
                node.row = self.tree.prompt_log_probs()
        if len(plan) >= len(wanted) and all(one is other for one, other in zip(wanted, plan, strict=False)):
            return rows[: len(wanted)]
        return torch.stack([row for node in wanted if (row := node.row) is not None])  # all are scored by now

    def _read(self, plan: Sequence[_Node]) -> Tensor:
        """Score what is planned; its rows, ``(n, V)``."""
        if not plan:
            return torch.empty(0)
        rows = self.tree.read([node.node for node in plan])
        for node, row in zip(plan, rows, strict=True):
            node.row = row
        if self.settings.look_ahead is not None:
            read = [place for place, node in enumerate(plan) if not _is_unread(node)]
            self._weigh([plan[place] for place in read], rows if len(read) == len(plan) else rows[read])
        return rows

    def _weigh(self, nodes: Sequence[_Node], rows: Tensor) -> None:
        """Note what each follower of scored nodes adds to the score.

        Args:
            nodes: what may follow them need not be waited for.
            rows: of theirs, ``(n, V)``.
        """
        followers = [self._followers(node) for node in nodes]
        ragged = Ragged.of(followers)
        values = ragged.gather(rows).cpu().numpy().astype(np.float64)
        masses = np.log(np.maximum(ragged.sums(np.exp(values)), np.finfo(np.float64).tiny)).tolist()
        bounds = ragged.offsets.tolist()
        for place, (node, allowed) in enumerate(zip(nodes, followers, strict=True)):
            node.gains = values[bounds[place] : bounds[place + 1]]
            if self._is_normalised(allowed):
                node.gains -= masses[place]
            elif len(node.gains):
                self._shares += 1
                self._share += (masses[place] - self._share) / self._shares

    def _forced_beginning(self, node: _Node) -> _Node:
        """Plan the tokens that the settings force on every path, as far as the constraint allows them; the last."""
        for token in self.settings.forced:
            found = _places(self._followers(node), token)
            if not found or not self._worth_scoring(child := self._child(node, found[0])):
                break
            self._plan(child)
            node = child
        return node

    def _plan(self, node: _Node) -> None:
        node.node = self.tree.add(node.parent, node.token)
        self._planned.append(node)

    def _run(self, node: _Node) -> _Node:
        """Plan the forced run behind a node; its last node."""
        while (child := self._only_child(node)) is not None:
            self._plan(child)
            node = child
        return node

    def _only_child(self, node: _Node) -> _Node | None:
        """The one child that anything may follow; an end mark beside it needs no scoring."""
        if _is_unread(node):
            return None
        tokens = self._followers(node).tokens
        if tokens is None or len(tokens) > 2:
            return None
        found = None
        for index in range(len(tokens)):
            if self._worth_scoring(child := self._child(node, index)):
                if found is not None:
                    return None
                found = child
        return found

    def _rehearse(self, live: Sequence[_Node]) -> None:
        """Go through the search's next steps and plan what it will ask for; past what is certain, as the budget lasts.

        Args:
            live: the search's beams, scored or planned.
        """
        budget, beams, certain = self.settings.look_ahead or 0, self.settings.beams, True
        while live and (certain or budget > 0) and not any(map(_is_unread, live)):
            if any(self._followers(node).tokens is None for node in live):
                break
            late = [node for node in live if node.gains is None and node.row is not None]  # read since they were scored
            if late:
                self._weigh(late, torch.stack([row for node in late if (row := node.row) is not None]))
            known = all(node.gains is not None for node in live)
            following, count = self._continuations(live)
            certain = certain and (known or (count <= 2 * beams and len(following) <= beams))
            for child in following[:beams]:
                if child.node < 0 and (certain or (budget > 0 and child.chance >= _MIN_CHANCE)):
                    before = len(self._planned)
                    self._plan(child)
                    self._run(child)
                    budget -= 0 if certain else len(self._planned) - before
            live = [child for child in following[:beams] if child.node >= 0]

    def _continuations(self, live: Sequence[_Node]) -> tuple[list[_Node], int]:
        """Of the beams' 2K best continuations up to K + 1 that anything may follow; and how many there are in all."""
        gains = [self._gains(node) for node in live]
        starts = np.cumsum([0, *map(len, gains)])
        totals = np.concatenate([node.score + gain for node, gain in zip(live, gains, strict=True)])
        best = best_places(totals, 2 * self.settings.beams)
        owners = np.searchsorted(starts, best, side="right") - 1
        found: list[_Node] = []
        for place, owner in zip(best.tolist(), owners.tolist(), strict=True):
            if len(found) > self.settings.beams:
                break  # more than the search keeps, and that is all there is to know
            parent, index = live[owner], place - int(starts[owner])
            child = self._child(parent, index)
            child.score = parent.score + float(gains[owner][index])
            child.chance = parent.chance if parent.gains is not None else parent.chance / len(gains[owner])
            if self._worth_scoring(child):
                found.append(child)
        return found, int(starts[-1])

    def _gains(self, node: _Node) -> NDArray[np.float64]:
        """What each follower adds to the score; guessed, while it is not known, to be alike and what is usual."""
        if node.gains is not None:
            return node.gains
        allowed = self._followers(node)
        count = len(allowed.tokens)  # type: ignore[arg-type]  # the rehearsal ends where any token may follow
        share = 0.0 if self._is_normalised(allowed) else self._share
        return np.full(count, share - math.log(max(count, 1)))

    def _is_normalised(self, allowed: Successors[Any]) -> bool:
        return self.settings.graph_normalised and allowed.inside_entity

    def _worth_scoring(self, node: _Node) -> bool:
        """Whether anything may follow it, within the length limit (and so within the model's context)."""
        return node.state.alive and node.depth < self.settings.max_tokens

    def _followers(self, node: _Node) -> Successors[Any]:
        if node.followers is None:
            node.followers = self.constraint.successors(node.state)
        return node.followers

    def _child(self, node: _Node, index: int) -> _Node:
        allowed = self._followers(node)
        token = index if allowed.tokens is None else int(allowed.tokens[index])
        if token not in node.children:
            node.children[token] = _Node(node.node, token, node.depth + 1, allowed.take(index), node.score)
        return node.children[token]
