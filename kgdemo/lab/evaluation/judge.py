"""A chat model as the judge: how coherent paths are, from 1 to 5 (GCR appendix F.4), and whether an answer is right.

The second is GPT4Score (GRBench, Grounding section 5): the share of the answers that the model takes for correct.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from kgdemo.errors import EndpointError, UserError
from kgdemo.lab.evaluation.metrics import Prediction, interval
from kgdemo.lab.evaluation.predictions import append, resumed_records
from kgdemo.models.chat import ChatModel, LocalChat
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.base import SHIPPED
from kgdemo.reasoners.chat import ask_and_parse
from kgdemo.reasoners.parsing import coherence, yes_or_no
from kgdemo.settings import ChatSettings

logger = logging.getLogger(__name__)
_MAX_FAILURES = 5  # questions that fail one after another until the model counts as unreachable


@dataclass(frozen=True, slots=True)
class Judge:
    """A chat model, and what it judges.

    Attributes:
        model: the judge.
        paths: how many paths of each question are rated for coherence, best first; 0 for none.
        answers: whether it says which answers are right.
    """

    model: ChatModel
    paths: int = 0
    answers: bool = False

    @classmethod
    def by(cls, chat: ChatSettings, paths: int | None = None, answers: bool = False) -> Judge | None:
        """The chat model of these settings as the judge; None where nothing is to be judged.

        Raises:
            UserError: no chat model is configured, or there is no path to judge.
            ModelError: a local model that cannot be loaded.
        """
        if paths is None and not answers:
            return None
        if not chat.model:
            raise UserError(
                "--judge needs a chat model; set OPENAI_BASE_URL and KGDEMO_CHAT_MODEL or KGDEMO_CHAT_LOCAL."
            )
        if paths is not None and paths < 1:
            raise UserError(f"--judge {paths} would judge nothing; give the number of paths of each question.")
        return cls(LocalChat.load(chat.model) if chat.local else OpenAIChat(chat), paths or 0, answers)

    def metrics(self, predictions: Sequence[Prediction], out: Path) -> dict[str, float]:
        """The judge's metrics; what it says goes to ``judgements.jsonl`` and ``gpt4score.jsonl``.

        Raises:
            EndpointError: the model cannot be asked; what was judged is kept.
        """
        metrics: dict[str, float] = {}
        if self.paths:
            metrics |= rate_paths(self.model, self.paths, predictions, out / "judgements.jsonl")
        if self.answers:
            metrics |= score_answers(self.model, predictions, out / "gpt4score.jsonl")
        return metrics


def rate_paths(model: ChatModel, paths: int, predictions: Sequence[Prediction], file: Path) -> dict[str, float]:
    """Have the coherence of paths rated, from 1 (illogical) to 5 (every step contributes).

    Args:
        model: the judge.
        paths: the first so many of each question.
        predictions: whose paths.
        file: the ratings so far; new ones are added one by one.

    Returns:
        ``coherence`` (mean rating), ``coherence_paths`` (how many were rated) and ``judge_calls``.

    Raises:
        EndpointError: the model failed, or gave no rating twice.
    """
    wanted = [(p, path) for p in predictions for path in dict.fromkeys(p.paths[:paths])]
    done = {(record["id"], record["path"]): record for record in resumed_records(file)}
    for prediction, path in tqdm([one for one in wanted if (one[0].id, one[1]) not in done], unit="path", desc="judge"):
        prompt = SHIPPED.coherence(prediction.question, path, "; ".join(prediction.answers))
        rating, call = ask_and_parse(model, "judge", prompt, lambda reply, _: coherence(reply))
        record = {"id": prediction.id, "path": path, "rating": rating}
        record |= {"reply": call.output.strip(), "calls": call.calls}
        done[prediction.id, path] = record
        append(file, record)
    rated = [done[p.id, path] for p, path in wanted]
    mean = sum(record["rating"] for record in rated) / len(rated) if rated else 0.0
    calls = sum(record["calls"] for record in rated)
    return {"coherence": mean, "coherence_paths": len(rated), "judge_calls": calls}


def score_answers(model: ChatModel, predictions: Sequence[Prediction], file: Path) -> dict[str, float]:
    """Have the judge say of each answer whether it is right; no answer is wrong without being asked about.

    Args:
        model: the judge.
        predictions: questions without a right answer are passed over.
        file: the verdicts so far; new ones are added one by one.

    Returns:
        ``gpt4score``, with its interval; ``gpt4score_questions``, how many were judged; ``gpt4score_failed``, how many
        the model gave no verdict on. These are not counted, and asked again when the evaluation goes on.

    Raises:
        EndpointError: several questions failed one after another; what was judged is kept.
    """
    wanted = [p for p in predictions if p.gold]
    done: dict[tuple[str, tuple[str, ...]], bool] = {(p.id, p.answers): False for p in wanted if not p.answers}
    done |= {(record["id"], tuple(record["answers"])): record["correct"] for record in resumed_records(file)}
    failures = 0
    for one in tqdm([p for p in wanted if (p.id, p.answers) not in done], unit="answer", desc="gpt4score"):
        prompt = SHIPPED.correctness(one.question, ", ".join(one.answers), ", ".join(one.gold))
        try:
            correct, call = ask_and_parse(model, "judge", prompt, lambda reply, _: yes_or_no(reply))
        except EndpointError as error:
            logger.warning("no verdict on question %s: %s", one.id, error)
            failures += 1
            if failures == _MAX_FAILURES:
                raise
            continue
        failures, done[one.id, one.answers] = 0, correct
        append(file, {"id": one.id, "answers": one.answers, "correct": correct, "reply": call.output.strip()})
    judged = [float(done[p.id, p.answers]) for p in wanted if (p.id, p.answers) in done]
    low, high = interval([(correct, 1) for correct in judged])
    score = sum(judged) / len(judged) if judged else 0.0
    counts = {"gpt4score_questions": len(judged), "gpt4score_failed": len(wanted) - len(judged)}
    return {"gpt4score": score, "gpt4score_low": low, "gpt4score_high": high, **counts}
