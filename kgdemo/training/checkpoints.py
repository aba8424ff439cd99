"""What a training run keeps on disk: the newest checkpoint, to go on from, and the best one, to export.

Only what is trained is kept, so that a run with LoRA writes megabytes where the model has gigabytes.
"""

from __future__ import annotations

import logging
from pathlib import Path

import torch
from torch import Tensor

from kgdemo.errors import UserError

logger = logging.getLogger(__name__)
NEWEST, BEST = "checkpoint.pt", "best.pt"


class Checkpoints:
    """The checkpoints of one run.

    Args:
        folder: made if need be.

    Attributes:
        best: the best score so far; None before the first.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.best: float | None = None
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, step: int, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> None:
        """Keep the state after ``step`` steps."""
        state = {"step": step, "model": _trained(model), "optimiser": optimiser.state_dict(), "best": self.best}
        self._write(NEWEST, state)

    def judge(self, step: int, model: torch.nn.Module, score: float) -> None:
        """Keep the model as the best one if none before scored as high."""
        if self.best is None or score > self.best:
            self.best = score
            self._write(BEST, {"step": step, "model": _trained(model), "score": score})

    def resume(self, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> int:
        """Take up the newest checkpoint: the steps it was taken after, 0 when there is none.

        Raises:
            UserError: it is of another model.
        """
        if not (self.folder / NEWEST).is_file():
            return 0
        state = self._read(NEWEST, model)
        optimiser.load_state_dict(state["optimiser"])
        self.best = state.get("best")
        logger.info("resuming at step %d", state["step"])
        return int(state["step"])

    def load_for_export(self, model: torch.nn.Module) -> None:
        """Give ``model`` the weights of the best checkpoint, of the newest where none was judged.

        Raises:
            UserError: there is none, or it is of another model.
        """
        name = BEST if (self.folder / BEST).is_file() else NEWEST
        if not (self.folder / name).is_file():
            raise UserError(f"There is no checkpoint in {self.folder}; train first.")
        logger.info("exporting %s, step %d", name, self._read(name, model)["step"])

    def _write(self, name: str, state: dict[str, object]) -> None:
        """Beside the old one, then swapped: a crash never leaves half a file."""
        torch.save(state, self.folder / "checkpoint.tmp")
        (self.folder / "checkpoint.tmp").replace(self.folder / name)

    def _read(self, name: str, model: torch.nn.Module) -> dict:
        state = torch.load(self.folder / name, weights_only=True, map_location="cpu")
        wanted = {key: tensor.shape for key, tensor in _trained(model).items()}
        if {key: tensor.shape for key, tensor in state["model"].items()} != wanted:
            raise UserError(f"The checkpoint in {self.folder} is of another model; give another --out or remove it.")
        model.load_state_dict(state["model"], strict=False)
        return state


def _trained(model: torch.nn.Module) -> dict[str, Tensor]:
    """The state of a model less its frozen parameters."""
    frozen = {name for name, parameter in model.named_parameters(remove_duplicate=False) if not parameter.requires_grad}
    return {name: tensor for name, tensor in model.state_dict().items() if name not in frozen}
