"""What a laboratory runs: sets measured and compared, weights fitted and trained, our engine beside the reference.

In the order of the commands: ``evaluate``, ``compare``, ``study``, ``recipes``, ``report``, ``calibrate``,
``templates``, ``train``, ``bench`` and ``site``.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING

from kgdemo.cli.run import add_settings, settings_from
from kgdemo.errors import UserError
from kgdemo.settings import LOCAL, Settings

if TYPE_CHECKING:
    from kgdemo.lab.evaluation.study import StudySet
    from kgdemo.models.base import PromptStyle
    from kgdemo.pipeline import Pipeline


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the commands of the module's docstring."""
    _add_evaluate(commands.add_parser("evaluate", help="answer a question set and measure"))
    _add_calibrate(
        commands.add_parser("calibrate", help="fit when a model says that no path answers, or how its paths are ranked")
    )
    _add_compare(
        commands.add_parser("compare", help="two runs of evaluate over the same questions, with a paired test")
    )
    _add_study(commands.add_parser("study", help="a table or figure of the papers: a few variants of one setting"))
    recipes = commands.add_parser("recipes", help="what study can run: the papers' tables and figures")
    recipes.add_argument("--json", action="store_true", help="one recipe a line, with its variants")
    recipes.set_defaults(run=_recipes)
    _add_report(commands.add_parser("report", help="runs of evaluate as one HTML file: table, plot, what changed"))
    _add_templates(commands.add_parser("templates", help="write questions made from templates, to measure with"))
    _add_train(commands.add_parser("train", help="fine-tune a KG-specialised language model"))
    _add_bench(commands.add_parser("bench", help="our engine beside the reference approach"))
    site = commands.add_parser("site", help="write the recorded runs as a page that needs no server")
    site.add_argument("out", type=Path, metavar="OUT", help="folder; index.html in it opens from a disk too")
    site.set_defaults(run=_site)


_RAY = "run the workers on the Ray cluster at this address, or `local`; needs kgdemo[ray]"
_WORKERS = "processes that answer, each with a model of its own: the same predictions in the same order"


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="JSONL, one question a line")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="metrics and predictions; resumed")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    batched_help = "questions under way at the same time; the model reads for all of them at once"
    parser.add_argument("--batched", type=int, default=1, metavar="N", help=batched_help)
    parser.add_argument("--workers", type=int, default=1, metavar="N", help=_WORKERS)
    parser.add_argument("--ray", default="", metavar="ADDRESS", help=_RAY)
    parser.add_argument("--link", action="store_true", help="link entities even where the set gives them")
    parser.add_argument("--link-only", action="store_true", help="measure linking alone, without a model")
    parser.add_argument("--unconstrained", action="store_true", help="also measure the search without the graph")
    parser.add_argument(
        "--held-out",
        type=Path,
        metavar="FILE",
        help="held_out.json of the model's training: also measure questions about seen and unseen relations apart",
    )
    parser.add_argument(
        "--judge",
        type=int,
        nargs="?",
        const=3,
        metavar="N",
        help="let the chat model rate the first N paths of each question for coherence, 1 to 5 (N is 3)",
    )
    score_help = "let the chat model say which answers are right (GPT4Score)"
    parser.add_argument("--gpt4score", action="store_true", help=score_help)
    traces_help = "keep each run too, some 80 kB a question; `report` then opens the questions that it lists"
    parser.add_argument("--traces", action="store_true", help=traces_help)
    parser.set_defaults(run=_evaluate)


def _evaluate(arguments: argparse.Namespace) -> int:
    from kgdemo.lab.evaluation.runner import Judge, evaluate, evaluate_linking
    from kgdemo.lab.evaluation.study import ALL, compare_methods, methods_named
    from kgdemo.lab.evaluation.workers import opened_workers
    from kgdemo.lab.training.examples import read_held_out

    make = _pipeline_factory()
    pipeline = make()
    judge = Judge.by(pipeline.chat, arguments.judge, arguments.gpt4score)
    settings = _with_own_graph(settings_from(arguments, compare=arguments.unconstrained, explain=0), arguments)
    names = methods_named(arguments.method)
    if arguments.link_only:
        metrics = evaluate_linking(pipeline.linker(settings.graph), arguments.questions, arguments.out, arguments.limit)
        print(json.dumps(metrics, indent=2))
        return 0
    with opened_workers(arguments.workers, make, arguments.ray) as workers:
        measure = partial(
            evaluate,
            pipeline,
            arguments.questions,
            limit=arguments.limit,
            link=arguments.link,
            judge=judge,
            batched=arguments.batched,
            workers=workers,
            traces=arguments.traces,
        )
        if len(names) > 1 or arguments.method.strip() == ALL:
            print(compare_methods(measure, names, settings, arguments.out))
        else:
            held_out = read_held_out(arguments.held_out) if arguments.held_out else frozenset()
            metrics = measure(replace(settings, method=names[0]), arguments.out, held_out=held_out)
            print(json.dumps(metrics, indent=2))
    return 0


def _pipeline_factory() -> Callable[[], Pipeline]:
    """Makes the pipelines, here and in each worker; long questions are allowed, such as the cases of MedQA."""
    from kgdemo.pipeline import Pipeline

    return partial(Pipeline, replace(LOCAL, question=20_000))


def _with_own_graph(settings: Settings, arguments: argparse.Namespace) -> Settings:
    """A folder of GRBench has questions and their graph: it is taken where no other is named."""
    folder = arguments.questions
    beside = settings.graph == Settings().graph and any((folder / f"graph.json{end}").is_file() for end in ("", ".gz"))
    return replace(settings, graph=str(folder)) if beside else settings


def _add_compare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("first", type=Path, metavar="DIR", help="--out of an evaluation of one method")
    parser.add_argument("second", type=Path, metavar="DIR", help="that of another, over the same questions")
    parser.add_argument("--json", action="store_true", help="print one figure a line")
    parser.set_defaults(run=_compare)


def _compare(arguments: argparse.Namespace) -> int:
    from kgdemo.lab.evaluation.predictions import read_predictions
    from kgdemo.lab.evaluation.report import compare_runs, differences_table

    rows = compare_runs(read_predictions(arguments.first), read_predictions(arguments.second))
    if not arguments.json:
        print(differences_table(rows))
    for row in rows if arguments.json else ():
        print(json.dumps(asdict(row)))
    return 0


def _add_study(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", metavar="NAME", help="constraint, beams, hops, …, as `recipes` lists them; or all")
    add_settings(parser)
    parser.add_argument("--questions", type=Path, metavar="FILE", help="a question set")
    set_help = "with `all`, in place of --questions: NAME KG FILE and, for the first N questions only, N; repeatable"
    parser.add_argument("--set", nargs="+", action="append", metavar="NAME KG FILE [N]", help=set_help)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="runs, table and report; resumed")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help=_WORKERS)
    parser.add_argument("--ray", default="", metavar="ADDRESS", help=_RAY)
    readme_help = "also write all tables and plots into this README, between its marks; with `all`"
    parser.add_argument("--readme", type=Path, metavar="FILE", help=readme_help)
    attached_help = "stop when standard input ends: for a program that runs this"
    parser.add_argument("--attached", action="store_true", help=attached_help)
    parser.set_defaults(run=_study)


ALL_RECIPES = "all"


def _study(arguments: argparse.Namespace) -> int:
    if arguments.attached:
        threading.Thread(target=_stop_with_input, daemon=True).start()
    settings = settings_from(arguments, compare=False, explain=0)
    sets = _study_sets(arguments, settings)
    from kgdemo.lab.evaluation.study import Finished, study, study_all, write_section
    from kgdemo.lab.evaluation.workers import opened_workers

    make = _pipeline_factory()
    with opened_workers(arguments.workers, make, arguments.ray) as workers:
        rest = (arguments.out, arguments.limit, workers)
        if arguments.recipe != ALL_RECIPES:
            own = replace(settings, graph=sets[0].graph)
            print(study(make(), arguments.recipe, sets[0].questions, own, *rest).table)
            return 0
        finished: Finished = {}
        for name, done, so_far in study_all(make(), sets, settings, *rest):
            print(f"{name}. {done.table}", flush=True)
            finished = so_far
    if arguments.readme and finished:
        write_section(arguments.readme, finished, "python -m kgdemo " + shlex.join(_command_of(arguments, sets)))
    return 0


def _study_sets(arguments: argparse.Namespace, settings: Settings) -> list[StudySet]:
    """The question sets of ``--set`` or ``--questions``, read before any model is loaded."""
    from kgdemo.lab.questions import read_questions

    given = arguments.set or ()
    if bool(arguments.questions) == bool(given) or (given and arguments.recipe != ALL_RECIPES):
        raise UserError("Give --questions FILE, or with `study all` --set NAME KG FILE, once or more.")
    for one in given:
        if len(one) not in (3, 4) or (len(one) == 4 and not one[3].isdecimal()):
            raise UserError(f"--set takes NAME KG FILE and perhaps a number of questions, not {' '.join(one)}.")
    for file in [Path(one[2]) for one in given] or [arguments.questions]:
        read_questions(file)
    from kgdemo.lab.evaluation.study import StudySet

    if given:
        return [StudySet(name, graph, Path(file), *map(int, limit)) for name, graph, file, *limit in given]
    file = arguments.questions
    return [StudySet(file.stem, _with_own_graph(settings, arguments).graph, file)]


def _command_of(arguments: argparse.Namespace, sets: Sequence[StudySet]) -> list[str]:
    """The command that makes these tables, without the folders of this machine."""

    def shown(file: str) -> str:
        return "/".join(["DATA", *Path(file).parts[-2:]]) if Path(file).is_absolute() else file

    words = ["study", ALL_RECIPES]
    for one in sets:
        words += ["--set", one.name, shown(one.graph), shown(str(one.questions))]
        words += [] if one.limit is None else [str(one.limit)]
    limit = [] if arguments.limit is None else ["--limit", str(arguments.limit)]
    return [*words, *limit, "--out", "runs/studies", "--readme", "kgdemo/lab/README.md"]


def _stop_with_input() -> None:
    """End the process when standard input ends; all answers are on the disk already."""
    while os.read(0, 1):  # not sys.stdin, whose lock the interpreter would wait for at its end
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _recipes(arguments: argparse.Namespace) -> int:
    from kgdemo.lab.evaluation.recipes import RECIPES

    for name, recipe in RECIPES.items():
        if arguments.json:
            print(json.dumps({"name": name, **asdict(recipe)}, ensure_ascii=False))
        else:
            print(f"{name}: {recipe.after}; {len(recipe.variants)} variants. {recipe.reports}")
    return 0


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", type=Path, nargs="+", metavar="DIR", help="--out of evaluations; the first is compared")
    parser.add_argument("--out", type=Path, default=Path("report.html"), metavar="FILE", help="report.html by default")
    parser.set_defaults(run=_report)


def _report(arguments: argparse.Namespace) -> int:
    from kgdemo.lab.evaluation.report import read_runs, write_report

    runs = read_runs(arguments.runs)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_report(runs, arguments.out)
    print(f"{len(runs)} runs in {arguments.out}")
    return 0


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    answerable_help = "questions with an answer; repeatable"
    parser.add_argument("--answerable", type=Path, action="append", metavar="FILE", help=answerable_help)
    parser.add_argument("--unanswerable", type=Path, metavar="FILE", help="questions without one")
    pool_help = "fit the weights of the ranking instead, on these questions; repeatable"
    parser.add_argument("--pool", nargs=3, action="append", metavar=("KG", "FILE", "L"), help=pool_help)
    held_out_help = "held_out.json of the model's training: fit how relations that it does not know are ranked"
    parser.add_argument("--held-out", type=Path, metavar="FILE", help=held_out_help)
    reliability_help = "fit nothing: measure how sure the abstention is on these questions, for the page's honesty dial"
    parser.add_argument("--reliability", action="store_true", help=reliability_help)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="what was measured, and figures")
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N questions of each set")
    parser.add_argument("--save", action="store_true", help="write the weights into the model's folder")
    parser.set_defaults(run=_calibrate)


def _calibrate(arguments: argparse.Namespace) -> int:
    from kgdemo.models.causal import model_folder
    from kgdemo.pipeline import Pipeline

    pipeline, settings = Pipeline(), settings_from(arguments, compare=False, explain=0)
    arguments.out.mkdir(parents=True, exist_ok=True)
    style = pipeline.model(settings.model).style
    if arguments.pool and arguments.held_out:
        style, figures = _backoff(arguments, pipeline, settings, style)
    elif arguments.pool:
        style, figures = _pool(arguments, pipeline, settings, style)
    elif arguments.answerable and arguments.unanswerable and arguments.reliability:
        figures = _reliability(arguments, pipeline, settings, style)
    elif arguments.answerable and arguments.unanswerable:
        style, figures = _abstention(arguments, pipeline, settings, style)
    else:
        raise UserError("Give --answerable and --unanswerable to fit abstention, or --pool to fit the ranking.")
    text = json.dumps(figures, indent=2)
    (arguments.out / "calibration.json").write_text(text + "\n", "utf-8")
    if arguments.save and not arguments.reliability:
        style.save(model_folder(settings.model))
    print(text)
    return 0


def _abstention(
    arguments: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.lab.training.calibration import collect_features, fit_abstention, odds_of, reliability, save_reliability
    from kgdemo.models.causal import model_folder

    judged = collect_features(
        pipeline, arguments.answerable, arguments.unanswerable, settings, arguments.out, arguments.limit
    )
    weights, figures = fit_abstention(judged)
    if arguments.save:
        save_reliability(reliability(odds_of(judged, weights), weights, settings.graph), model_folder(settings.model))
    return replace(style, abstention=weights, abstention_graph=settings.graph), {"abstention": weights, **figures}


def _reliability(
    arguments: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> dict[str, object]:
    from kgdemo.lab.training.calibration import collect_odds, reliability, save_reliability
    from kgdemo.models.causal import model_folder

    if style.abstention is None:
        raise UserError("This model never abstains; fit that first, with --answerable, --unanswerable and --save.")
    files = [*arguments.answerable, arguments.unanswerable]
    found = collect_odds(pipeline, files, settings, arguments.out, arguments.limit)
    record = reliability(found, style.abstention, settings.graph)
    if arguments.save:
        save_reliability(record, model_folder(settings.model))
    return {"questions": len(found), "right": sum(one.right for one in found), **record}


def _pool(
    arguments: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.lab.training.calibration import cross_validated, expected_hits, fit_ranking, searched

    found = [
        one.candidates
        for file, question_set in _question_sets(arguments, settings)
        for one in searched(pipeline, file, question_set, arguments.limit)
    ]
    weights = fit_ranking(found)
    figures = {"ranking": weights, "questions": len(found), "hits@1": expected_hits(weights, found)}
    return replace(style, ranking=weights), {**figures, "hits@1_cross_validated": cross_validated(found)}


def _backoff(
    arguments: argparse.Namespace, pipeline: Pipeline, settings: Settings, style: PromptStyle
) -> tuple[PromptStyle, dict[str, object]]:
    from kgdemo.lab.training.calibration import (
        PLAIN,
        LabelledExample,
        fit_backoff,
        hits_over_relations,
        labelled_examples,
        searched,
    )
    from kgdemo.lab.training.examples import read_held_out
    from kgdemo.ranking.scorer import UNFITTED

    if style.relations is None:
        raise UserError(f"The model {settings.model} has no relations.txt; export it anew from its training.")
    pipeline.model(settings.model).style = replace(style, backoff=PLAIN)
    held_out = read_held_out(arguments.held_out)
    found: list[LabelledExample] = []
    for file, question_set in _question_sets(arguments, settings):
        own = searched(pipeline, file, question_set, arguments.limit)
        found += labelled_examples(
            pipeline.graph(question_set.graph), own, held_out, style.ranking or UNFITTED, str(file)
        )
    weights = fit_backoff(found)
    return replace(style, backoff=weights), {
        "backoff": weights,
        "cross_validated": hits_over_relations(found),
    }


def _question_sets(arguments: argparse.Namespace, settings: Settings) -> Iterator[tuple[Path, Settings]]:
    """What ``--pool`` names: question files, and graph and number of hops to search them with."""
    for graph, file, hops in arguments.pool:
        if not hops.isdecimal():
            raise UserError(f"--pool takes KG FILE L, and L is a number of hops, not {hops!r}.")
        yield Path(file), replace(settings, graph=graph, hops=int(hops))


def _add_templates(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("templates", metavar="NAME", help="template file of the training: world, freebase or metaqa")
    parser.add_argument("--kg", required=True, metavar="NAME|FILE", help="the graph to ask about")
    held_out_help = "held_out.json of a training run: as many questions again about the relations it never saw"
    parser.add_argument("--held-out", type=Path, metavar="FILE", help=held_out_help)
    parser.add_argument("--number", type=int, default=100, metavar="N", help="questions of either kind")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSONL, to give to --questions")
    parser.set_defaults(run=_templates)


def _templates(arguments: argparse.Namespace) -> int:
    from kgdemo.kg.io.catalogue import open_graph
    from kgdemo.lab.questions import write_questions
    from kgdemo.lab.training.examples import read_held_out
    from kgdemo.lab.training.templates import FOLDER, load_templates, template_questions

    known = sorted(file.stem for file in FOLDER.glob("*.tsv") if not file.stem.endswith(("-chains", "-paths")))
    if arguments.templates not in known:
        raise UserError(f"There are no templates {arguments.templates}; choose one of {', '.join(known)}.")
    held_out = read_held_out(arguments.held_out) if arguments.held_out else frozenset()
    kg, templates = open_graph(arguments.kg), load_templates(arguments.templates)
    try:
        questions = list(template_questions(kg, templates, held_out, arguments.number, arguments.seed))
    except ValueError as error:
        raise UserError(f"{error}; give the graph that the templates were written for, or another --number.") from error
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    write_questions(arguments.out, questions)
    print(f"{len(questions)} questions in {arguments.out}")
    return 0


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--recipe", default="embedded", metavar="NAME|FILE", help="what to train on, and how")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the public sets that the recipe names")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="checkpoints and log")
    parser.add_argument("--steps", type=int, metavar="N", help="optimiser steps, in place of the recipe's")
    parser.add_argument("--export", type=Path, metavar="DIR", help="write the finished model there (fp16)")
    parser.add_argument("--export-only", action="store_true", help="export the best checkpoint, train no further")
    parser.set_defaults(run=_train)


def _train(arguments: argparse.Namespace) -> int:
    from kgdemo.lab.training.run import DevHits, Recipe, export_best, run_recipe

    recipe = Recipe.load(arguments.recipe)
    if arguments.export_only:
        if arguments.export is None:
            raise UserError("--export-only writes a model folder; say where with --export DIR.")
        export_best(recipe, arguments.out, arguments.export)
        return 0
    measure = None if recipe.dev is None else DevHits(recipe.dev, arguments.data)
    run_recipe(recipe, arguments.data, arguments.out, arguments.steps, arguments.export, measure)
    return 0


_WHAT = "soak: random decodes, every path judged; load: many askers of the page at once"


def _add_bench(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=("decode", "index", "soak", "load"), help=_WHAT)
    parser.add_argument("--quick", action="store_true", help="smaller sizes, under a minute on two quiet cores")
    parser.add_argument("--cpu-time", action="store_true", help="processor time, for a machine that is busy")
    parser.add_argument("--decodes", type=int, default=1_000, metavar="N", help="of the soak")
    parser.add_argument("--whole", type=int, metavar="N", help="soak: N whole runs instead, by page, API and command")
    parser.add_argument("--seed", type=int, default=0, help="of the soak's first decode; the others follow")
    parser.add_argument("--url", help="load: a page that is served already; else one is started")
    parser.add_argument("--askers", type=int, default=20, metavar="N", help="load: who ask at the same time")
    parser.add_argument("--questions", type=Path, metavar="FILE", help="load: a question set; else the page's examples")
    parser.add_argument("--number", type=int, default=60, metavar="N", help="load: questions in all, over and over")
    parser.add_argument("--different", action="store_true", help="load: make repeated questions differ, by a number")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one row a line")
    form.add_argument("--markdown", action="store_true", help="print a table for a README")
    parser.set_defaults(run=_bench)


def _bench(arguments: argparse.Namespace) -> int:
    if arguments.what == "soak":
        return _soak(arguments) if arguments.whole is None else _soak_whole(arguments)
    if arguments.what == "load":
        return _load(arguments)
    from kgdemo.lab.benchmarks import comparison, decode, index

    comparison.require_marisa()
    clock = time.process_time if arguments.cpu_time else time.perf_counter
    if arguments.what == "index":
        rows = index.index_rows(index.QUICK if arguments.quick else index.IndexSizes(), clock)
    else:
        rows = decode.decode_rows(decode.QUICK if arguments.quick else decode.DecodeSizes(), clock)
    if arguments.markdown:
        command = " ".join(f"--{flag}" for flag in ("quick", "cpu-time") if getattr(arguments, flag.replace("-", "_")))
        print(comparison.markdown(rows, f"bench {arguments.what} {command}".strip()))
        return 0
    for row in rows:
        print(json.dumps(asdict(row), ensure_ascii=False) if arguments.json else comparison.sentence(row), flush=True)
    return 0


def _load(arguments: argparse.Namespace) -> int:
    from kgdemo.lab.benchmarks.product import Page, load, load_sentence, own_server
    from kgdemo.lab.questions import read_questions
    from kgdemo.ui.assets import examples

    if arguments.questions:
        texts = [question.text for question in read_questions(arguments.questions)]
    else:
        texts = [example["question"] for example in examples()]
    questions = list(islice(cycle(texts), max(arguments.number, 1)))
    if arguments.different:  # a question in the same words twice would be answered once
        questions = [text if n < len(texts) else f"{text} ({n // len(texts)})" for n, text in enumerate(questions)]
    with nullcontext(arguments.url) if arguments.url else own_server() as url:
        found = load(Page(url), questions, max(arguments.askers, 1))
    print(json.dumps({"name": "load", **asdict(found)}) if arguments.json else load_sentence(found))
    return 1 if found.failed else 0


def _soak(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from kgdemo.lab.benchmarks.soak import Tally, soak

    began, tally = time.perf_counter(), Tally()
    decodes = soak(arguments.decodes, arguments.seed, tally)
    for _ in tqdm(decodes, total=arguments.decodes, unit=" decodes", mininterval=5):
        pass
    counts = asdict(tally)
    if arguments.json:
        print(json.dumps({"name": "soak", **counts, "seconds": round(time.perf_counter() - began, 1)}))
    else:
        seeds = counts.pop("seeds")
        print(", ".join(f"{count:,} {name}" for name, count in counts.items()))
        print(f"seeds of the faults: {seeds[:20]}" if seeds else "no faults")
    return 1 if tally.faults else 0


def _soak_whole(arguments: argparse.Namespace) -> int:
    from tqdm import tqdm

    from kgdemo.cli import main
    from kgdemo.lab.benchmarks.product import WholeTally, soak_whole

    tally = WholeTally()
    runs = soak_whole(arguments.whole, arguments.seed, tally, main)
    for _ in tqdm(runs, total=arguments.whole, unit=" runs", mininterval=5):
        pass
    if arguments.json:
        print(json.dumps({"name": "soak --whole", **asdict(tally)}, ensure_ascii=False))
    else:
        print(
            f"{tally.runs:,} runs: {tally.answered:,} answered, {tally.paths:,} paths, {tally.refused:,} refused in "
            f"a sentence; slowest {tally.slowest:.1f} s, at most {tally.largest / 1e9:.2f} GB added"
        )
        print("\n".join(tally.faults) if tally.faults else "no faults")
    return 1 if tally.faults else 0


def _site(arguments: argparse.Namespace) -> int:
    from kgdemo.ui.assets import write_site

    print(write_site(arguments.out))
    return 0
