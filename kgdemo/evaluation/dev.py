"""Hits@1 of a model in training, on a few development questions: which checkpoint is the best."""

from __future__ import annotations

from pathlib import Path

from kgdemo.evaluation.metrics import summarise
from kgdemo.evaluation.runner import ask
from kgdemo.models.causal import CausalModel
from kgdemo.pipeline import Pipeline
from kgdemo.questions import read_questions
from kgdemo.settings import ChatSettings, Settings
from kgdemo.training.recipe import DevQuestions
from kgdemo.training.run import data_file, graph_source


class DevHits:
    """The share of development questions whose first path ends in a right answer.

    Args:
        dev: which questions, and how they are asked.
        data: folder of the public sets.

    Raises:
        UserError: the questions, or the graph, are not there.
    """

    def __init__(self, dev: DevQuestions, data: Path | None) -> None:
        self.questions = read_questions(data_file(dev.questions, data))[: dev.limit]
        self.pipeline = Pipeline(chat=ChatSettings())
        graph = graph_source(dev.graph, data)
        self.settings = Settings(graph=graph, beams=dev.beams, hops=dev.hops, compare=False, explain=0)
        self.pipeline.graph(self.settings.graph)

    def __call__(self, model: CausalModel) -> float:
        """Ask ``model`` all of them."""
        self.pipeline.add_model(self.settings.model, model)
        predictions = [ask(self.pipeline, question, self.settings, link=False) for question in self.questions]
        return summarise(predictions, compared=False)["hits@1"]
