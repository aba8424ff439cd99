"""``ask``, ``verify`` and ``methods``, and the arguments of a run, which other commands take as well."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kgdemo.settings import Settings, Shown, chosen, shown

if TYPE_CHECKING:
    from kgdemo.events import Event
    from kgdemo.kg.graph import KnowledgeGraph


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register ``ask QUESTION``, ``verify --kg NAME|FILE`` and ``methods``."""
    ask = commands.add_parser("ask", help="answer one question")
    ask.add_argument("question")
    add_settings(ask)
    ask.add_argument("--entity", nargs="+", default=[], metavar="E", help="topic entities; else linked")
    ask.add_argument("--unconstrained", action="store_true", help="also search without the graph")
    ask.add_argument("--json", action="store_true", help="print one event a line")
    ask.set_defaults(run=_ask)

    verify = commands.add_parser("verify", help="judge paths, one a line on standard input")
    verify.add_argument("--kg", required=True, metavar="NAME|FILE", help="the graph to hold them against")
    verify.set_defaults(run=_verify)

    methods = commands.add_parser("methods", help="list the reasoning methods, and what can be chosen about each")
    methods.add_argument("--markdown", action="store_true", help="as the table of kgdemo/methods/README.md")
    methods.set_defaults(run=_methods)


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add an argument for each setting that the command line shows, and one for how a store's graph is shaped."""
    parser.add_argument("--profile", default="", metavar="NAME|FILE", help="how the graph of a store is shaped")
    for setting in shown(Shown.COMMAND):
        flags = setting.flags or ("--" + setting.name.replace("_", "-"),)
        about = f"{setting.help}; {setting.allowed()}" if setting.limit else setting.help
        how: dict[str, Any] = {"default": setting.default, "metavar": setting.metavar}
        if setting.kind is bool:
            how = {"default": setting.default == "yes", "action": argparse.BooleanOptionalAction}
        elif setting.kind is tuple:
            about, how = f"{about} (repeatable)", {**how, "default": [], "action": "append"}
        else:
            about = f"{about} (default: {setting.default})"
            how["metavar"] = setting.metavar or f"{{{','.join(setting.choices)}}}"
        parser.add_argument(*flags, dest=setting.name, help=about, **how)


def settings_from(arguments: argparse.Namespace, compare: bool, explain: int) -> Settings:
    """The settings of a run.

    Args:
        arguments: what ``add_settings`` lets the user say.
        compare: also search without the graph.
        explain: forbidden tokens named for each step, with the reason.

    Raises:
        UserError: an argument is no value of its setting.
    """
    settings = chosen(Settings, ((setting.name, getattr(arguments, setting.name)) for setting in shown(Shown.COMMAND)))
    if arguments.profile:
        from kgdemo.kg.stores.opening import with_profile

        settings = replace(settings, graph=with_profile(settings.graph, arguments.profile))
    return replace(settings, compare=compare, explain=explain)


def _ask(arguments: argparse.Namespace) -> int:
    settings = settings_from(arguments, compare=arguments.unconstrained, explain=4 if arguments.json else 0)
    from kgdemo.events import RunFailed, to_json
    from kgdemo.pipeline import Pipeline

    failed, pipeline = "", Pipeline()
    events = pipeline.run(arguments.question, settings, arguments.entity)
    if arguments.json:  # a trace: the page opens it and draws its picture
        from kgdemo.view.next_questions import with_next
        from kgdemo.view.picture import with_picture

        def graph() -> KnowledgeGraph:
            return pipeline.graph(settings.graph)

        events = with_picture(with_next(events, graph), graph)
    for event in events:
        if arguments.json:
            print(to_json(event), flush=True)
        else:
            _tell(event)
        if isinstance(event, RunFailed):
            failed = event.message
    if failed:
        print(failed, file=sys.stderr)
    return 2 if failed else 0


def _tell(event: Event) -> None:
    """One event for a person at a terminal; most are passed over."""
    from kgdemo import events

    if isinstance(event, events.EntitiesLinked):
        print("entities:", ", ".join(event.chosen) or "none")
    elif isinstance(event, events.PathFound):
        mark, note = "  " if event.constrained else "~ ", "  also read from the graph" if event.read else ""
        print(f"{mark}{event.index:>2}. {event.text}  ({event.score:.2f}){note}")
    elif isinstance(event, events.PathVerified) and not event.verdict.faithful:
        print("      " + ", ".join(hop.verdict.value for hop in event.verdict.hops))
    elif isinstance(event, events.Operation):
        checked = "  (computed again by the verifier)" if event.verified else ""
        print(f"computed: {event.text} = {', '.join(event.result)}{checked}")
    elif isinstance(event, events.AnswerFinal):
        print(f"answer: {event.text}  (by {event.by})")
        for name, place in zip(event.answers, event.places, strict=False):
            if place != events.ON_PATH:
                where = "elsewhere in the graph" if place == events.IN_GRAPH else "nowhere in the graph"
                print(f"  {name} is on no path that is cited for it; it is {where}")
        if event.completed:
            print(f"  also read from the graph: {', '.join(event.completed)}")
    elif isinstance(event, events.Notice):
        print(event.text)


def _verify(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict

    from kgdemo.kg.io.catalogue import open_facts
    from kgdemo.verify import Verifier

    verifier = Verifier(open_facts(arguments.kg))
    for line in sys.stdin:
        if line.strip():
            path, verdict = verifier.verify_text(line.rstrip("\n"))
            record = {"text": line.rstrip("\n"), "path": path and str(path), **asdict(verdict)}
            print(json.dumps(record, ensure_ascii=False), flush=True)
    return 0


def _methods(arguments: argparse.Namespace) -> int:
    from kgdemo.methods.registry import as_markdown, as_text

    print(as_markdown() if arguments.markdown else as_text())
    return 0
