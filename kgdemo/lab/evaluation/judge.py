"""A chat model rates how coherent reasoning paths are, from 1 to 5 (GCR appendix F.4 and Figure 8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tqdm import tqdm

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.models.chat import ChatModel, LocalChat
from kgdemo.models.endpoint import OpenAIChat
from kgdemo.reasoners.chat import ask_and_parse
from kgdemo.reasoners.parsing import coherence
from kgdemo.reasoners.prompts import SHIPPED
from kgdemo.settings import ChatSettings

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
        rating, call = ask_and_parse(self.model, "judge", prompt, coherence)
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
    if not file.exists():
        return []
    return [Judgement(**json.loads(line)) for line in file.read_text("utf-8").split("\n") if line.endswith("}")]
