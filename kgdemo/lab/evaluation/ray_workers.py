"""Workers on the machines of a Ray cluster: ``evaluate --ray ADDRESS --workers N``.

Ray starts an actor wherever a processor is free, and what goes to and fro is what goes to processes of this machine:
how a question is asked, the question, and what is told of it. Each machine has this package, and the graph and model
that the settings name, under the same names. An actor that ends, with its machine for one, is replaced, and its
question asked again. Ray is an optional extra (``kgdemo[ray]``); on one machine processes do the same without it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import cache
from typing import Any

from kgdemo.errors import UserError
from kgdemo.lab.evaluation.workers import Asked, Make, Places, Told, answer_of

LOCAL = "local"  # the address of a cluster that is started on this machine, and ended with the run


class _Actor:
    """One worker, as Ray runs it in a process of its own."""

    def __init__(self, make: Make) -> None:
        self._pipeline = cache(make)

    def tell(self, ask: Callable[[Any, Any], Any], asked: Any) -> Any:
        """See ``answer_of``."""
        return answer_of(self._pipeline, ask, asked)


class RayWorkers:
    """See ``workers.Workers``.

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
                f"No Ray cluster answers at {address} ({str(error).splitlines()[0]}); start one with "
                f"`ray start --head`, or give --ray {LOCAL}."
            ) from error
        self._actors: list[Any] = []

    def answered(
        self, ask: Callable[[Any, Asked], Told], asked: Sequence[Asked], lost: Callable[[Asked], Told]
    ) -> Generator[Told, None, None]:
        """In the order of the questions; see ``workers.Workers``."""
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
