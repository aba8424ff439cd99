"""What every search shares: its settings, its hypotheses, and the steps that it yields."""

from __future__ import annotations

from dataclasses import dataclass

from kgdemo.constraint.base import State
from kgdemo.events import Fate
from kgdemo.models.base import PROMPT_END


@dataclass(frozen=True, slots=True)
class BeamSettings:
    """How to search.

    Attributes:
        beams: paths wanted (K), and live beams kept at each step.
        max_tokens: longest path in tokens, end mark included.
        length_penalty: a finished score is divided by its length, end mark included, to this power, as
            transformers does (with ``early_stopping="never"``); 0 ranks by probability.
        graph_normalised: inside entity labels, score tokens by their probability among those the graph
            allows. Which tail exists is the graph's to say, so a long or rare name costs a path nothing,
            and beams are spent on relations. False: full-vocabulary scores throughout, as in the papers.
        masked: how many of the most probable forbidden tokens to report for each beam; 0 saves the time.
        keep: how many complete paths to find; 0: as many as ``beams``. Whoever orders them by more than the
            score wants more than K to choose from; the live beams stay K.
        forced: tokens that every path begins with: scored and reported like any others, but not chosen by
            the search. ``beam.check_forced`` tells beforehand whether a constraint allows them.
        late_ends: let a path end wherever its end mark is among the 2K best continuations of a step, which are looked
            at so that K beams go on. False: only among the K best, as transformers' ``generate`` does, which so
            misses paths that are more probable than those it returns.
        look_ahead: None reads one token of each beam in a forward pass; 0 reads along with it what is certain to
            be asked for (forced runs, all that can follow where that is not too much); more is a budget of likely
            tokens scored ahead. What the search finds and yields is the same; see ``look_ahead``.
    """

    beams: int = 10
    max_tokens: int = 256
    length_penalty: float = 0.0
    graph_normalised: bool = False
    masked: int = 0
    keep: int = 0
    forced: tuple[int, ...] = ()
    late_ends: bool = True
    look_ahead: int | None = 0

    @property
    def wanted(self) -> int:
        """How many complete paths the search is for."""
        return self.keep or self.beams


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A beam: the tokens after ``<PATH>``, their log-probabilities and where the constraint stands."""

    tokens: tuple[int, ...]
    log_probs: tuple[float, ...]
    state: State
    node: int = PROMPT_END  # the last token's; the last but one's until it has been scored
    score: float = 0.0  # what the search ranks by; see BeamSettings

    @property
    def total(self) -> float:
        """Sum of the log-probabilities."""
        return sum(self.log_probs)


@dataclass(frozen=True, slots=True)
class Choice:
    """One token considered at a step.

    Attributes:
        parent: index of the beam it continues, among the step's ``beams``.
        token: token id.
        log_prob: of this token, full vocabulary.
        score: total so far.
        fate: ``kept``, ``pruned`` or ``finished``.
    """

    parent: int
    token: int
    log_prob: float
    score: float
    fate: Fate


@dataclass(frozen=True, slots=True)
class BeamView:
    """What the constraint did to one live beam at one step.

    Attributes:
        hypothesis: the beam before the step.
        allowed: number of tokens that could follow; -1 where all could.
        forbidden_mass: the probability that the constraint took away, 0..1.
        masked: the most probable forbidden tokens with their log-probabilities.
        top: the most probable allowed tokens with theirs.
    """

    hypothesis: Hypothesis
    allowed: int
    forbidden_mass: float
    masked: tuple[tuple[int, float], ...] = ()
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the search: the beams it started from and what became of the tokens considered."""

    number: int
    beams: tuple[BeamView, ...]
    choices: tuple[Choice, ...]
    live: tuple[Hypothesis, ...]
    finished: tuple[Hypothesis, ...]  # all so far, best first
