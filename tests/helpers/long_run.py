"""A search as large as the page is made for, without a model: ten beams, forty tokens, everything reported."""

from __future__ import annotations

from kgdemo.events import AllowedToken, BeamWatch, DecodeStep, Event, MaskedToken, RunFinished, RunStarted, TokenChoice


def long_run(beams: int = 10, tokens: int = 40) -> list[Event]:
    """What a search of this size reports at the most: all choices, four masked and four allowed tokens a beam."""
    reason = "the graph has The Unbearable Lightness of Being as “written by the author”, not “directed by”"
    masked = tuple(MaskedToken(f"token{i}", 0.1234, reason) for i in range(4))
    top = tuple(AllowedToken(1000 + i, f"token{i}", 0.1234, 0.4321) for i in range(4))
    events: list[Event] = [RunStarted("A question?", "gcr", "world", 77_645, "embedded", beams, 2)]
    for number in range(tokens):
        first, before = 1 + 2 * beams * number, 1 + 2 * beams * (number - 1)
        choices = tuple(
            TokenChoice(
                first + i,
                max(0, before + i % beams),
                12_345,
                "##token",
                -1.2345,
                -23.4567,
                "kept" if i < beams else "pruned",
            )
            for i in range(2 * beams)
        )
        text = "the unbearable lightness of being -> "
        watched = tuple(BeamWatch(max(0, before + i), text * 3, 4, 1203, 0.98765, masked, top) for i in range(beams))
        events += [DecodeStep(True, number, choices, watched, 1203), DecodeStep(False, number, choices)]
    return [*events, RunFinished(3.0, 2, 60, 500)]
