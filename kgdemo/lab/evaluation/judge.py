"""A chat model as the judge: how coherent paths are, from 1 to 5 (GCR appendix F.4), and whether an answer is right.

The second is GPT4Score (GRBench, Grounding section 5): the share of the answers that the model takes for correct.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from tqdm import tqdm

from kgdemo.errors import EndpointError, UserError
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.evaluation.predictions import cut_off_broken_line, interval, whole_lines
from kgdemo.models.chat import ChatModel, LocalChat
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.chat import ask_and_parse
from kgdemo.reasoners.parsing import coherence, yes_or_no
from kgdemo.reasoners.prompts import SHIPPED
from kgdemo.settings import ChatSettings

logger = logging.getLogger(__name__)
PATHS = 3  # of each question, best first, unless told otherwise


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was said of one path; one line of ``judgements.jsonl``.

    Attributes:
        id: of the question.
        rating: 1 (illogical) to 5 (every step contributes).
        reply: in the judge's words.
        calls: 2 where it had to be asked again.
    """

    id: str
    path: str
    rating: int
    reply: str
    calls: int


@dataclass(frozen=True, slots=True)
class Judge:
    """Who judges, and how many paths of each question."""

    model: ChatModel
    paths: int = PATHS

    @classmethod
    def by(cls, chat: ChatSettings, paths: int = PATHS) -> Judge:
        """The chat model of these settings as the judge.

        Raises:
            UserError: none is configured, or there is no path to judge.
            ModelError: a local model that cannot be loaded.
        """
        if not chat.model:
            raise UserError(
                "--judge needs a chat model; set OPENAI_BASE_URL and KGDEMO_CHAT_MODEL or KGDEMO_CHAT_LOCAL."
            )
        if paths < 1:
            raise UserError(f"--judge {paths} would judge nothing; give the number of paths of each question.")
        return cls(LocalChat.load(chat.model) if chat.local else OpenAIChat(chat), paths)

    def rate(self, prediction: Prediction, path: str) -> Judgement:
        """One path of one question.

        Raises:
            EndpointError: the model failed, or gave no rating twice.
        """
        answer = "; ".join(prediction.answers)
        prompt = SHIPPED.coherence(prediction.question, path, answer)
        rating, call = ask_and_parse(self.model, "judge", prompt, lambda reply, _: coherence(reply))
        return Judgement(prediction.id, path, rating, call.output.strip(), call.calls)


def judge_all(judge: Judge, predictions: Sequence[Prediction], file: Path) -> dict[str, float]:
    """Judge what has not been judged yet, and give the mean.

    Args:
        judge: who judges.
        predictions: whose paths.
        file: judgements so far; new ones are added one by one.

    Returns:
        ``coherence`` (mean rating), ``coherence_paths`` (how many were rated) and ``judge_calls``.
    """
    wanted = [(p, path) for p in predictions for path in dict.fromkeys(p.paths[: judge.paths])]
    done = {(j.id, j.path): j for j in _read(file)}
    left = [(p, path) for p, path in wanted if (p.id, path) not in done]
    with file.open("a", encoding="utf-8") as stream:
        for prediction, path in tqdm(left, unit="path", desc="judge"):
            made = judge.rate(prediction, path)
            done[made.id, made.path] = made
            stream.write(json.dumps(asdict(made), ensure_ascii=False) + "\n")
            stream.flush()
    judged = [done[p.id, path] for p, path in wanted]
    mean = sum(j.rating for j in judged) / len(judged) if judged else 0.0
    return {"coherence": mean, "coherence_paths": len(judged), "judge_calls": sum(j.calls for j in judged)}


def _read(file: Path) -> list[Judgement]:
    return [Judgement(**record) for record in _records(file)]


def _records(file: Path) -> list[dict[str, Any]]:
    """The lines written so far; one that was not written whole is cut away."""
    cut_off_broken_line(file)
    return [json.loads(line) for line in whole_lines(file)]


# --------------------------------------------------------------------------------------------------
# Whether an answer is right, as the model sees it.

_DOWN = 5  # questions failed one after another, after which the model is taken to be out of reach


def score_answers(model: ChatModel, predictions: Sequence[Prediction], file: Path) -> dict[str, float]:
    """Ask of each answer whether it is right; no answer is wrong without being asked about.

    Args:
        model: the judge.
        predictions: questions that have no right answer are passed over.
        file: what was said so far; new verdicts are added one by one.

    Returns:
        ``gpt4score``, with its interval; ``gpt4score_questions``, how many were judged; ``gpt4score_failed``, how many
        the model gave no verdict on. These are not counted, and asked again when the evaluation goes on.

    Raises:
        EndpointError: several questions failed one after another; what was judged is kept.
    """
    wanted = [p for p in predictions if p.gold]
    done: dict[tuple[str, tuple[str, ...]], bool] = {(p.id, p.answers): False for p in wanted if not p.answers}
    done |= {(record["id"], tuple(record["answers"])): record["correct"] for record in _records(file)}
    down = 0
    with file.open("a", encoding="utf-8") as stream:
        for one in tqdm([p for p in wanted if (p.id, p.answers) not in done], unit="answer", desc="gpt4score"):
            prompt = SHIPPED.correctness(one.question, ", ".join(one.answers), ", ".join(one.gold))
            try:
                correct, call = ask_and_parse(model, "judge", prompt, lambda reply, _: yes_or_no(reply))
            except EndpointError as error:
                logger.warning("no verdict on question %s: %s", one.id, error)
                down += 1
                if down == _DOWN:
                    raise
                continue
            down, done[one.id, one.answers] = 0, correct
            record = {"id": one.id, "answers": one.answers, "correct": correct, "reply": call.output.strip()}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
            stream.flush()
    judged = [float(done[p.id, p.answers]) for p in wanted if (p.id, p.answers) in done]
    low, high = interval([(correct, 1) for correct in judged])
    score = sum(judged) / len(judged) if judged else 0.0
    counts = {"gpt4score_questions": len(judged), "gpt4score_failed": len(wanted) - len(judged)}
    return {"gpt4score": score, "gpt4score_low": low, "gpt4score_high": high, **counts}
