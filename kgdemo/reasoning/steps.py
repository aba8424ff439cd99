"""From steps of the search to events: tokens as text, beams with ids, reasons in words."""

from __future__ import annotations

import math

from kgdemo.constraint.automaton import AutomatonState, KGAutomaton
from kgdemo.constraint.base import Constraint, State
from kgdemo.constraint.reasons import reason
from kgdemo.constraint.triples import TripleState
from kgdemo.decoding.beam import BeamView, Hypothesis, Step
from kgdemo.events import AllowedToken, BeamWatch, DecodeStep, MaskedToken, TokenChoice
from kgdemo.models.base import PathModel


class StepReader:
    """Gives every beam of one search an id and turns each step into an event.

    Args:
        model: for the text of tokens.
        constraint: for counts and reasons.
        constrained: which branch the events belong to.
    """

    def __init__(self, model: PathModel, constraint: Constraint, constrained: bool) -> None:
        self.model, self.constraint, self.constrained = model, constraint, constrained
        self._ids: dict[tuple[int, ...], int] = {(): 0}

    def beam_id(self, tokens: tuple[int, ...]) -> int:
        """The id of the beam that these tokens make; 0 is the empty one."""
        return self._ids.setdefault(tokens, len(self._ids))

    def read(self, step: Step) -> DecodeStep:
        """The event of one step."""
        choices = []
        for choice in step.choices:
            parent = step.beams[choice.parent].hypothesis
            choices.append(
                TokenChoice(
                    self.beam_id((*parent.tokens, choice.token)),
                    self.beam_id(parent.tokens),
                    choice.token,
                    self.model.token_text(choice.token),
                    choice.log_prob,
                    choice.score,
                    choice.fate,
                )
            )
        left = sum(self.constraint.paths_left(h.state) for h in step.live)
        watched = tuple(self._watch(view) for view in step.beams) if self.constrained else ()
        return DecodeStep(self.constrained, step.number, tuple(choices), watched, left)

    def text(self, hypothesis: Hypothesis) -> str:
        """What a beam has written so far."""
        return self.model.pieces.tokenizer.decode(list(hypothesis.tokens), skip_special_tokens=False)

    def _watch(self, view: BeamView) -> BeamWatch:
        state = view.hypothesis.state
        allowed_mass = max(1.0 - view.forbidden_mass, 1e-12)
        masked = []
        for token, log_prob in view.masked:
            text = self.model.token_text(token)
            masked.append(MaskedToken(text, math.exp(log_prob), self._reason(state, token, text)))
        top = tuple(
            AllowedToken(token, self.model.token_text(token), math.exp(p), min(1.0, math.exp(p) / allowed_mass))
            for token, p in view.top
        )
        return BeamWatch(
            self.beam_id(view.hypothesis.tokens),
            self.text(view.hypothesis),
            view.allowed,
            self.constraint.paths_left(state),
            view.forbidden_mass,
            tuple(masked),
            top,
        )

    def _reason(self, state: State, token: int, text: str) -> str:
        """Why the constraint forbids a token; empty where nothing is forbidden."""
        if isinstance(self.constraint, KGAutomaton) and isinstance(state, AutomatonState):
            return reason(self.constraint, state, token, text)
        return state.trie.reason(state, text) if isinstance(state, TripleState) else ""
