"""Several pipelines that answer the questions of a set side by side, with the predictions of one in the order of one.

Questions are apart from each other, and what goes to and fro is a question and a prediction, or a question with the
settings that it is asked under and the predictions of all. So the standard library's processes serve (``Processes``),
or actors on the machines of a Ray cluster (``RayWorkers``). A worker loads its pipeline once and answers one question
at a time, for as many runs as are asked of it. One that ends, killed for its memory for one, is replaced, and its
question asked again; of a question that ends its worker again and again who asks says what is recorded.
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
Asked = TypeVar("Asked")
Told = TypeVar("Told")
TRIES = 3  # of a question whose worker ends


class Workers(Protocol):
    """What answers side by side."""

    def answered(
        self, ask: Callable[[Pipeline, Asked], Told], asked: Sequence[Asked], lost: Callable[[Asked], Told]
    ) -> Generator[Told, None, None]:
        """What is told of each question, in the order of the questions.

        Args:
            ask: answers a question; it is sent to the workers.
            asked: the questions.
            lost: what is told of one that no worker survives.

        Raises:
            UserError: a worker could not load what it needs.
            RuntimeError: a worker met an error of ours, told with its traceback.
        """

    def close(self) -> None:
        """End all workers."""


@contextmanager
def opened_workers(
    wanted: int, make: Make, elsewhere: Callable[[Make, int], Workers] | None = None
) -> Iterator[Workers | None]:
    """The workers that ``--workers`` names, ended afterwards.

    Args:
        wanted: how many.
        make: loads a worker's pipeline; it is sent to the worker.
        elsewhere: makes so many of another kind than processes of this machine.

    Yields:
        them; None for one process, which is the one that asks.

    Raises:
        UserError: it is less than 1, or those of another kind cannot be had.
    """
    if wanted < 1:
        raise UserError(f"--workers is {wanted}; give a number of processes, 1 or more.")
    if elsewhere is not None:
        with closing(elsewhere(make, wanted)) as spread:
            yield spread
        return
    if wanted == 1:
        yield None
        return
    with closing(Processes(make, wanted)) as workers:
        yield workers


def lost(question: Question) -> Prediction:
    """The prediction of a question that no worker survives."""
    gold = tuple(dict.fromkeys(question.answer_entities or question.answers))
    error = f"its process ended {TRIES} times without an answer"
    return Prediction(
        question.id, question.text, question.topic_entities, gold, (), (), (), 0, 0, 0, False, 0.0, 0, 0, 0, error
    )


class Places(Generic[Asked, Told]):
    """The questions of a run by their places: which is to be asked next, and what is told of them in their order.

    Args:
        asked: the questions.
        lost: what is told of one that no worker survives.
    """

    def __init__(self, asked: Sequence[Asked], lost: Callable[[Asked], Told]) -> None:
        self.asked, self._lost = asked, lost
        self._waiting, self._tries = deque(range(len(asked))), Counter[int]()
        self._ready: dict[int, Told] = {}
        self._given = 0

    @property
    def left(self) -> bool:
        """Whether something has not been given yet."""
        return self._given < len(self.asked)

    def next(self) -> int | None:
        """The place of a question for a worker that has none; None where all are asked."""
        return self._waiting.popleft() if self._waiting else None

    def ended(self, place: int) -> None:
        """The worker that had this question has ended: it is asked again, ``TRIES`` times at most."""
        self._tries[place] += 1
        if self._tries[place] < TRIES:
            self._waiting.appendleft(place)
        else:
            self._ready[place] = self._lost(self.asked[place])

    def told(self, place: int, told: Told) -> None:
        """Take what a worker tells of a question.

        Raises:
            UserError, RuntimeError: it met one.
        """
        if isinstance(told, Exception):
            raise told
        self._ready[place] = told

    def in_order(self) -> Iterator[Told]:
        """What can be given now."""
        while self._given in self._ready:
            yield self._ready.pop(self._given)
            self._given += 1


def answer_of(pipeline: Callable[[], Pipeline], ask: Callable[[Pipeline, Any], Any], asked: Any) -> Any:
    """What a worker tells of a question; an error is told, not raised, so that it is not taken for a lost worker."""
    try:
        return ask(pipeline(), asked)
    except UserError as error:
        return UserError(str(error))
    except Exception:  # noqa: BLE001  whatever it is, it is told where the run is read
        return RuntimeError(traceback.format_exc())


# Processes of this machine -------------------------------------------------------------------------


@dataclass(slots=True)
class _Worker:
    """A process, our end of the pipe to it, and the place of the question that it has; none where it has none."""

    process: BaseProcess
    pipe: Connection
    place: int | None = None

    def give(self, place: int, ask: Callable[[Pipeline, Asked], Told], asked: Asked) -> None:
        self.place = place
        with suppress(OSError):  # one that has ended says so when its pipe is read
            self.pipe.send((ask, asked))

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
        self, ask: Callable[[Pipeline, Asked], Told], asked: Sequence[Asked], lost: Callable[[Asked], Told]
    ) -> Generator[Told, None, None]:
        """In the order of the questions; see ``Workers``."""
        places = Places(asked, lost)
        while len(self._workers) < min(self._number, len(asked)):
            self._workers.append(self._started())
        try:
            while places.left:
                for worker in self._workers:
                    if worker.place is None and (place := places.next()) is not None:
                        worker.give(place, ask, asked[place])
                heard = wait([worker.pipe for worker in self._workers if worker.place is not None])
                for slot, worker in enumerate(self._workers):
                    if worker.pipe not in heard or worker.place is None:
                        continue
                    place, worker.place = worker.place, None
                    try:
                        told = worker.pipe.recv()
                    except (EOFError, OSError):
                        worker.stop()
                        self._workers[slot] = self._started()
                        places.ended(place)
                        continue
                    places.told(place, told)
                yield from places.in_order()
        finally:
            for worker in self._workers:
                if worker.place is not None:  # its answer would be taken for that of a later question
                    worker.stop()
            self._workers = [worker for worker in self._workers if worker.place is None]

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
    """What a worker does: answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who stops the run stops its workers
    run = parent_process()
    assert run is not None
    pipeline = cache(make)
    while pipe in wait([pipe, run.sentinel]):  # else the run was killed
        try:
            ask, asked = pipe.recv()
        except (EOFError, OSError):
            return
        told = answer_of(pipeline, ask, asked)
        try:
            pipe.send(told)
        except OSError:
            return


# Actors of a Ray cluster: ``evaluate --ray ADDRESS --workers N`` -----------------------------------
#
# Ray starts an actor wherever a processor is free. Each machine has this package, and the graph and model that the
# settings name, under the same names. An actor that ends, with its machine for one, is replaced, and its question asked
# again. Ray is an optional extra (``kgdemo[ray]``); on one machine processes do the same without it.

LOCAL = "local"  # the address of a cluster that is started on this machine, and ended with the run


class _Actor:
    """One worker, as Ray runs it in a process of its own."""

    def __init__(self, make: Make) -> None:
        self._pipeline = cache(make)

    def tell(self, ask: Callable[[Any, Any], Any], asked: Any) -> Any:
        """See ``answer_of``."""
        return answer_of(self._pipeline, ask, asked)


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
        self, ask: Callable[[Any, Asked], Told], asked: Sequence[Asked], lost: Callable[[Asked], Told]
    ) -> Generator[Told, None, None]:
        """In the order of the questions; see ``Workers``."""
        places = Places(asked, lost)
        under_way: dict[Any, tuple[int, int]] = {}  # what will be told -> the actor's number, the question's place
        while len(self._actors) < min(self._number, len(asked)):
            self._actors.append(self._started())
        try:
            while places.left:
                for number in set(range(len(self._actors))).difference(number for number, _ in under_way.values()):
                    if (next_place := places.next()) is not None:
                        under_way[self._actors[number].tell.remote(ask, asked[next_place])] = (number, next_place)
                (first, *_), _ = self._ray.wait(list(under_way), num_returns=1)
                number, place = under_way.pop(first)
                try:
                    told = self._ray.get(first)
                except self._ray.exceptions.RayActorError:
                    self._actors[number] = self._started()
                    places.ended(place)
                else:
                    places.told(place, told)
                yield from places.in_order()
        finally:
            for number, _ in under_way.values():  # its answer would be taken for that of a later question
                self._ray.kill(self._actors[number])
            left = {number for number, _ in under_way.values()}
            self._actors = [actor for number, actor in enumerate(self._actors) if number not in left]

    def close(self) -> None:
        """End all workers, and a cluster that was started for them."""
        for actor in self._actors:
            self._ray.kill(actor)
        self._actors = []
        self._ray.shutdown()

    def _started(self) -> Any:
        return self._ray.remote(_Actor).options(num_cpus=1).remote(self._make)
