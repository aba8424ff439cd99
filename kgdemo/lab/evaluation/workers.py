"""Several pipelines that answer the questions of a set side by side; results come in the order of the questions.

Questions are independent of each other, so workers are processes of the standard library (``Processes``) or actors on
the machines of a Ray cluster (``RayWorkers``). A worker loads its pipeline once and takes one item at a time: a
question, or a question with the settings of several runs. A worker that dies, for example because it was killed for
its memory, is replaced, and its item is tried again. The caller says what stands for an item that kills every worker.
"""

from __future__ import annotations

import signal
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, Protocol, TypeVar

from kgdemo.errors import UserError, first_line
from kgdemo.lab.evaluation.metrics import Prediction
from kgdemo.lab.questions import Question
from kgdemo.pipeline import Pipeline

Make = Callable[[], Pipeline]
Item = TypeVar("Item")
Result = TypeVar("Result")
TRIES = 3  # of an item whose worker dies


class Workers(Protocol):
    """Workers that answer side by side."""

    def answered(
        self, answer: Callable[[Pipeline, Item], Result], items: Sequence[Item], lost: Callable[[Item], Result]
    ) -> Generator[Result, None, None]:
        """The result of each item, in the order of the items.

        Args:
            answer: answers an item; it is sent to the workers.
            items: questions, or questions with their settings.
            lost: the result of an item that no worker survives.

        Raises:
            UserError: a worker could not load what it needs.
            RuntimeError: a worker met an unexpected error; the message is its traceback.
        """

    def close(self) -> None:
        """End all workers."""


@contextmanager
def opened_workers(number: int, make: Make, ray_address: str = "") -> Iterator[Workers | None]:
    """The workers that ``--workers`` and ``--ray`` ask for; they are ended afterwards.

    Args:
        number: how many.
        make: loads a worker's pipeline; it is sent to the worker.
        ray_address: of a Ray cluster; empty for processes of this machine.

    Yields:
        the workers; None where the calling process does the work alone.

    Raises:
        UserError: the number is less than 1, or Ray cannot be used.
    """
    if number < 1:
        raise UserError(f"--workers is {number}; give a number of processes, 1 or more.")
    if number == 1 and not ray_address:
        yield None
        return
    with closing(RayWorkers(make, number, ray_address) if ray_address else Processes(make, number)) as workers:
        yield workers


def lost(question: Question) -> Prediction:
    """The prediction of a question that no worker survives."""
    gold = tuple(dict.fromkeys(question.answer_entities or question.answers))
    error = f"its process ended {TRIES} times without an answer"
    return Prediction(
        question.id, question.text, question.topic_entities, gold, (), (), (), 0, 0, 0, False, 0.0, 0, 0, 0, error
    )


class WorkQueue(Generic[Item, Result]):
    """The items of one run: which is next for a worker, and the results in the order of the items.

    Args:
        items: what is to be answered.
        lost: the result of an item that no worker survives.
    """

    def __init__(self, items: Sequence[Item], lost: Callable[[Item], Result]) -> None:
        self.items, self._lost = items, lost
        self._waiting, self._tries = deque(range(len(items))), Counter[int]()
        self._results: dict[int, Result] = {}
        self._given = 0

    @property
    def unfinished(self) -> bool:
        """Whether a result has not been given yet."""
        return self._given < len(self.items)

    def next(self) -> int | None:
        """The index of an item for an idle worker; None where all are taken."""
        return self._waiting.popleft() if self._waiting else None

    def worker_died(self, index: int) -> None:
        """The worker of this item died: the item is tried again, ``TRIES`` times in all."""
        self._tries[index] += 1
        if self._tries[index] < TRIES:
            self._waiting.appendleft(index)
        else:
            self._results[index] = self._lost(self.items[index])

    def done(self, index: int, result: Result) -> None:
        """Take the result of an item.

        Raises:
            UserError, RuntimeError: the worker sent one in place of a result.
        """
        if isinstance(result, Exception):
            raise result
        self._results[index] = result

    def in_order(self) -> Iterator[Result]:
        """The results that can be given now."""
        while self._given in self._results:
            yield self._results.pop(self._given)
            self._given += 1


def result_or_error(pipeline: Callable[[], Pipeline], answer: Callable[[Pipeline, Any], Any], item: Any) -> Any:
    """What a worker sends back; an error is sent, not raised, so that the worker does not count as dead."""
    try:
        return answer(pipeline(), item)
    except UserError as error:
        return UserError(str(error))
    except Exception:  # noqa: BLE001  whatever it is, it is raised again in the calling process
        return RuntimeError(traceback.format_exc())


# Processes of this machine -------------------------------------------------------------------------


@dataclass(slots=True)
class _Worker:
    """A process, our end of the pipe to it, and the index of its item; None while it is idle."""

    process: BaseProcess
    pipe: Connection
    index: int | None = None

    def send(self, index: int, answer: Callable[[Pipeline, Item], Result], item: Item) -> None:
        self.index = index
        with suppress(OSError):  # a dead worker is found when its pipe is read
            self.pipe.send((answer, item))

    def stop(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


class Processes:
    """Workers that are processes of this machine; see ``Workers``.

    Args:
        make: loads a worker's pipeline; it is sent to the worker.
        number: of workers.
        start: how processes begin; ``spawn`` is the one that PyTorch's threads allow at any time.
    """

    def __init__(self, make: Make, number: int, start: str = "spawn") -> None:
        self._make, self._number, self._context = make, number, get_context(start)
        self._workers: list[_Worker] = []

    def answered(
        self, answer: Callable[[Pipeline, Item], Result], items: Sequence[Item], lost: Callable[[Item], Result]
    ) -> Generator[Result, None, None]:
        """In the order of the items; see ``Workers``."""
        queue = WorkQueue(items, lost)
        while len(self._workers) < min(self._number, len(items)):
            self._workers.append(self._started())
        try:
            while queue.unfinished:
                for worker in self._workers:
                    if worker.index is None and (index := queue.next()) is not None:
                        worker.send(index, answer, items[index])
                readable = wait([worker.pipe for worker in self._workers if worker.index is not None])
                for slot, worker in enumerate(self._workers):
                    if worker.pipe not in readable or worker.index is None:
                        continue
                    index, worker.index = worker.index, None
                    try:
                        result = worker.pipe.recv()
                    except (EOFError, OSError):
                        worker.stop()
                        self._workers[slot] = self._started()
                        queue.worker_died(index)
                    else:
                        queue.done(index, result)
                yield from queue.in_order()
        finally:
            for worker in self._workers:
                if worker.index is not None:  # its result would be taken for that of a later item
                    worker.stop()
            self._workers = [worker for worker in self._workers if worker.index is None]

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            worker.stop()
        self._workers = []

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_work, args=(self._make, theirs), daemon=True)  # type: ignore[attr-defined]
        process.start()
        theirs.close()  # so that the end of the process is the end of the pipe
        return _Worker(process, ours)


def _work(make: Make, pipe: Connection) -> None:
    """The loop of a worker process; it ends with the pipe or with the calling process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the calling process stops its workers
    caller = parent_process()
    assert caller is not None
    pipeline = cache(make)
    while pipe in wait([pipe, caller.sentinel]):  # else the calling process was killed
        try:
            pipe.send(result_or_error(pipeline, *pipe.recv()))
        except (EOFError, OSError):
            return


# Actors of a Ray cluster: ``evaluate --ray ADDRESS --workers N`` -----------------------------------
#
# Ray starts an actor wherever a processor is free. Each machine has this package, and the graph and model that the
# settings name, under the same names. An actor that dies, for example with its machine, is replaced, and its item is
# tried again. Ray is an optional extra (``kgdemo[ray]``); on one machine processes do the same without it.

LOCAL = "local"  # the address of a cluster that is started on this machine, and ended with the run


class _Actor:
    """One worker, as Ray runs it in a process of its own."""

    def __init__(self, make: Make) -> None:
        self._pipeline = cache(make)

    def answer(self, answer: Callable[[Any, Any], Any], item: Any) -> Any:
        """See ``result_or_error``."""
        return result_or_error(self._pipeline, answer, item)


class RayWorkers:
    """Workers that are actors of a Ray cluster; see ``Workers``.

    Args:
        make: loads a worker's pipeline; it is sent to the workers.
        number: of workers.
        address: of the cluster, as ``ray.init`` takes it; ``local`` starts one on this machine.

    Raises:
        UserError: Ray is not installed, or no cluster answers there.
    """

    def __init__(self, make: Make, number: int, address: str) -> None:
        try:
            import ray
        except ImportError:
            raise UserError("Ray is not installed; pip install 'kgdemo[ray]', or leave --ray out.") from None
        self._ray, self._make, self._number = ray, make, number
        quiet = {"log_to_driver": False, "include_dashboard": False} if address == LOCAL else {"log_to_driver": False}
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise UserError(
                f"No Ray cluster answers at {address} ({first_line(error)}); start one with "
                f"`ray start --head`, or give --ray {LOCAL}."
            ) from error
        self._actors: list[Any] = []

    def answered(
        self, answer: Callable[[Any, Item], Result], items: Sequence[Item], lost: Callable[[Item], Result]
    ) -> Generator[Result, None, None]:
        """In the order of the items; see ``Workers``."""
        queue = WorkQueue(items, lost)
        pending: dict[
            Any, tuple[int, int]
        ] = {}  # Ray's reference to a result -> number of the actor, index of the item
        while len(self._actors) < min(self._number, len(items)):
            self._actors.append(self._started())
        try:
            while queue.unfinished:
                for number in set(range(len(self._actors))).difference(number for number, _ in pending.values()):
                    if (next_index := queue.next()) is not None:
                        pending[self._actors[number].answer.remote(answer, items[next_index])] = (number, next_index)
                (first, *_), _ = self._ray.wait(list(pending), num_returns=1)
                number, index = pending.pop(first)
                try:
                    result = self._ray.get(first)
                except self._ray.exceptions.RayActorError:
                    self._actors[number] = self._started()
                    queue.worker_died(index)
                else:
                    queue.done(index, result)
                yield from queue.in_order()
        finally:
            busy = {number for number, _ in pending.values()}
            for number in busy:  # its result would be taken for that of a later item
                self._ray.kill(self._actors[number])
            self._actors = [actor for number, actor in enumerate(self._actors) if number not in busy]

    def close(self) -> None:
        """End all workers, and a cluster that was started for them."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        self._ray.shutdown()

    def _started(self) -> Any:
        return self._ray.remote(_Actor).options(num_cpus=1).remote(self._make)
