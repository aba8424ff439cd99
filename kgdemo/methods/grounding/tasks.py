"""What a chat model is told at each decision (appendix F), in our own words."""

from __future__ import annotations

from collections.abc import Sequence

AGENT_THOUGHT = (
    "You answer a question with a knowledge graph that you can only see through actions: find a node, read a "
    "node's feature, list or count its neighbours by a relation, or finish with an answer. Say in one sentence "
    "what you still need to know, or that the answer has been found."
)
AGENT_ACTION = "Which action follows from the last thought? Finish as soon as the question can be answered."
SEARCH_THOUGHT = (
    "You answer a question step by step. After each thought a knowledge graph is searched around the entities "
    "that the thought names, and the triples found are shown. Write the next thought in one sentence, with the "
    "names of the entities to look at spelled as in the triples."
)
ENTITIES = (
    "List the entities named in this text that may be nodes of a knowledge graph, separated by semicolons; "
    "write a dash when there are none."
)
ATTRIBUTES = "Which of these attributes of entities help to answer the question?"
SELECT_STATE = (
    "Each option is a chain of thoughts with what the knowledge graph said. Which chains are the most likely to "
    "lead to the right answer?"
)
SCORE_STATE = (
    "Each option is a chain of thoughts with what the knowledge graph said; it may not be complete. Rate how "
    "likely it is to lead to the right answer, from 0 (not at all) to 10 (certainly)."
)
MERGE = (
    "Two chains of thoughts on the same question are put together below. Say in one sentence what they give "
    "together, setting right what is wrong or contradictory in either, and what to find out next."
)
ANSWER = "Which of these paths through the knowledge graph answer the question?"


def with_context(task: str, lines: Sequence[str]) -> str:
    """A task with the chain so far, for decisions whose prompt has no place for it."""
    return "\n".join([task, "So far:", *(lines or ["nothing yet"])])


def another(task: str, thoughts: Sequence[str]) -> str:
    """The task of thinking once more, of something else than before (the k samples of equation 1)."""
    if not thoughts:
        return task
    return "\n".join([task, "These were thought already; take another direction:", *(f"- {t}" for t in thoughts)])


def answer(lines: Sequence[str]) -> str:
    """The final answer from all thoughts and what the graph said to them."""
    intro = "Answer the question from the thoughts and the numbered paths below; both were read from a knowledge graph."
    return "\n".join([intro, "Thoughts:", *lines, ""])
