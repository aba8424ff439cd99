"""Questions answered by several processes, with the predictions of one process in the order of one process.

The standard library's processes do: each question is apart from the others, and what goes to and fro is a question and
a prediction. Ray would add a scheduler, a store of objects and some hundred megabytes for this; several machines each
take a part of the set.

A worker has a pipeline of its own and answers one question at a time. One that ends, killed for its memory for one, is
replaced, and its question asked again; a question that ends its worker again and again is recorded as failed.
"""

from __future__ import annotations

import signal
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.questions import Question
from kgdemo.pipeline import Pipeline

Make = Callable[[], Pipeline]
Ask = Callable[[Pipeline, Question], Prediction]
_TRIES = 3  # of a question whose worker ends


@dataclass(slots=True)
class _Worker:
    """A process, our end of the pipe to it, and the place of the question that it has; none where it has none."""

    process: BaseProcess
    pipe: Connection
    place: int | None = None

    def give(self, place: int, question: Question) -> None:
        self.place = place
        with suppress(OSError):  # one that has ended says so when its pipe is read
            self.pipe.send(question)

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def answered_by_workers(
    make: Make, ask: Ask, questions: Sequence[Question], number: int, start: str = "spawn"
) -> Generator[Prediction, None, None]:
    """Predictions in the order of the questions.

    Args:
        make: loads a worker's pipeline; it is sent to the worker, as ``ask`` is.
        ask: answers a question.
        questions: what is asked.
        number: of workers.
        start: how processes begin; ``spawn`` is the one that PyTorch's threads allow at any time.

    Raises:
        UserError: a worker could not load what it needs.
        RuntimeError: a worker met an error of ours, told with its traceback.
    """
    context = get_context(start)
    waiting, tries = deque(range(len(questions))), Counter[int]()
    workers = [_started(context, make, ask) for _ in range(min(number, len(questions)))]
    ready: dict[int, Prediction] = {}
    given = 0
    try:
        while given < len(questions):
            for worker in workers:
                if worker.place is None and waiting:
                    place = waiting.popleft()
                    worker.give(place, questions[place])
            heard = wait([worker.pipe for worker in workers if worker.place is not None])
            for slot, worker in enumerate(workers):
                if worker.pipe not in heard or worker.place is None:
                    continue
                place, worker.place = worker.place, None
                try:
                    told = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.stop()
                    workers[slot] = _started(context, make, ask)
                    tries[place] += 1
                    if tries[place] < _TRIES:
                        waiting.appendleft(place)
                    else:
                        ready[place] = _lost(questions[place])
                    continue
                if isinstance(told, Exception):
                    raise told
                ready[place] = told
            while given in ready:
                yield ready.pop(given)
                given += 1
    finally:
        for worker in workers:
            worker.stop()


def _started(context: BaseContext, make: Make, ask: Ask) -> _Worker:
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(make, ask, theirs), daemon=True)  # type: ignore[attr-defined]
    process.start()
    theirs.close()  # so that the end of the process is the end of the pipe
    return _Worker(process, ours)


def _work(make: Make, ask: Ask, pipe: Connection) -> None:
    """What a worker does: answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who stops the run stops its workers
    run = parent_process()
    assert run is not None
    pipeline: Pipeline | None = None
    while pipe in wait([pipe, run.sentinel]):  # else the run was killed
        try:
            question = pipe.recv()
        except (EOFError, OSError):
            return
        told: Prediction | Exception
        try:
            pipeline = pipeline or make()
            told = ask(pipeline, question)
        except UserError as error:
            told = UserError(str(error))
        except Exception:  # noqa: BLE001  whatever it is, it is told where the run is read
            told = RuntimeError(traceback.format_exc())
        try:
            pipe.send(told)
        except OSError:
            return


def _lost(question: Question) -> Prediction:
    """The prediction of a question that no worker survives."""
    gold = tuple(dict.fromkeys(question.answer_entities or question.answers))
    error = f"its process ended {_TRIES} times without an answer"
    return Prediction(
        question.id, question.text, question.topic_entities, gold, (), (), (), 0, 0, 0, False, 0.0, 0, 0, 0, error
    )
