"""What anybody runs: ``ask``, ``verify``, ``methods``, ``kg``, ``start``, ``test``; and the arguments of a run.

Others take these arguments too. ``start`` and ``test`` set up with nothing but Python, at the end of this file: in a
clone they make a virtual environment, install what is needed and run a command in it; where pip has installed the
package, everything is there already and the page is served at once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import venv
from dataclasses import asdict, replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgdemo.errors import UserError
from kgdemo.settings import Settings, Shown, chosen, shown

if TYPE_CHECKING:
    from kgdemo.constraint.token_graph import TokenGraph
    from kgdemo.constraint.trie import EnumeratedTrie
    from kgdemo.events import Event
    from kgdemo.kg.graph import KnowledgeGraph


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the commands of the module's docstring; ``start`` and ``test`` hand on what they are given."""
    commands.add_parser("start", help="serve the page; in a clone, set up first (--host, --port)")
    commands.add_parser("test", help="in a clone: set up and run the tests (arguments go to pytest)")
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
    _add_graphs(commands.add_parser("kg", help="about a graph"))


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
        from kgdemo.kg.io.catalogue import with_profile

        settings = replace(settings, graph=with_profile(settings.graph, arguments.profile))
    return replace(settings, compare=compare, explain=explain)


def _ask(arguments: argparse.Namespace) -> int:
    # Before torch is imported: threads that wait for one another do not spin, which is half again of the processor time
    # of one question where others use the machine too.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
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


def _add_graphs(parser: argparse.ArgumentParser) -> None:
    """What a graph holds, whether it is well made, and its paths, enumerated offline."""
    graph = parser.add_subparsers(required=True, metavar="info|check|save|trie")

    info = graph.add_parser("info", help="its size, relations and best connected entities")
    info.add_argument("graph", metavar="NAME|FILE")
    info.set_defaults(run=_info)

    check = graph.add_parser("check", help="is an embedded graph well made?")
    check.add_argument("graph", metavar="NAME")
    check.add_argument("--against", type=Path, metavar="DIR", help="public sets to compare with")
    check.set_defaults(run=_check)

    save = graph.add_parser("save", help="write a graph as arrays that open at once")
    save.add_argument("graph", metavar="NAME|FILE")
    beside = "side file of a triple file: its entities' types, aliases, descriptions"
    save.add_argument("--entities", type=Path, metavar="FILE", help=beside)
    save.add_argument("--out", type=Path, required=True, metavar="DIR", help="use this folder as --kg afterwards")
    save.set_defaults(run=_save)

    trie = graph.add_parser("trie", help="enumerate the paths from some entities into a folder, or look into one")
    trie.add_argument("graph", metavar="NAME|FILE")
    trie.add_argument("--folder", type=Path, required=True, metavar="DIR", help="where the trie is kept")
    trie.add_argument("--entity", nargs="+", default=[], metavar="E", help="build it for these; else it is opened")
    trie.add_argument("--hops", type=int, default=2, metavar="L", help="longest path")
    trie.add_argument("--model", default="embedded", metavar="ID|DIR", help="whose tokeniser spells the paths")
    trie.add_argument("--directed", action="store_true", help="walk edges from head to tail only")
    trie.add_argument("--after", default="", metavar="TEXT", help="what may follow this beginning of a path?")
    trie.set_defaults(run=_trie)


def _info(arguments: argparse.Namespace) -> int:
    import numpy as np

    from kgdemo.kg.io.catalogue import open_graph
    from kgdemo.kg.io.saved import is_saved_graph, load

    folder = Path(arguments.graph)
    kg = load(folder) if is_saved_graph(folder) else open_graph(arguments.graph)
    if kg.grows:
        raise UserError("A graph behind a store cannot be gone through as a whole; ask the store itself for its size.")
    print(f"{kg.name}: {len(kg):,} triples, {len(kg.entities):,} entities, {len(kg.relations):,} relations")
    counts = np.bincount(kg.outgoing.relations, minlength=len(kg.relations))
    print("relations (triples):")
    for relation in np.argsort(-counts)[:20]:
        print(f"  {counts[relation]:>9,}  {kg.relations[int(relation)]}")
    degrees = np.diff(kg.outgoing.offsets) + np.diff(kg.incoming.offsets)
    print("best connected entities (edges):")
    for entity in np.argsort(-degrees)[:10]:
        print(f"  {degrees[entity]:>9,}  {kg.entities[int(entity)]}")
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from kgdemo.kg.io.catalogue import embedded_folder
    from kgdemo.lab.check_graph import check_folder, disagreements

    folder = embedded_folder(arguments.graph)
    findings = check_folder(folder)
    for finding in findings:
        print(finding)
    if arguments.against:
        for finding in disagreements(folder, arguments.against):
            print(finding)
    print(f"{len(findings)} findings in {arguments.graph}")
    return 1 if findings else 0


def _save(arguments: argparse.Namespace) -> int:
    from kgdemo.kg.io.catalogue import save_source
    from kgdemo.kg.io.saved import LARGE, load

    count = save_source(arguments.graph, arguments.out, arguments.entities)
    print(f"{count:,} triples written to {arguments.out}")
    kg = load(arguments.out)
    if len(kg.entities) > LARGE:
        from kgdemo.constraint.token_graph import write_hubs
        from kgdemo.models.causal import embedded_label_tokens

        hubs = write_hubs(kg, arguments.out, embedded_label_tokens())
        print(f"the names around {hubs:,} hub{'' if hubs == 1 else 's'} indexed")
    return 0


def _trie(arguments: argparse.Namespace) -> int:
    from kgdemo.constraint.trie import EnumeratedTrie
    from kgdemo.pipeline import Pipeline

    if arguments.hops < 1:
        raise UserError(f"The number of hops L is {arguments.hops}; choose 1 or more.")
    graph = Pipeline().token_graph(arguments.graph, arguments.model, arguments.directed)
    if graph.kg.grows:
        raise UserError(f"The graph {graph.kg.name} is too large for its paths to be enumerated; ask it questions.")
    began = time.perf_counter()
    if arguments.entity:
        trie = EnumeratedTrie.build(graph, _ids(graph.kg, arguments.entity), arguments.hops)
        trie.save(arguments.folder, graph)
        done = "built and saved"
    else:
        trie, done = EnumeratedTrie.open(arguments.folder, graph), "opened, memory-mapped"
    ms = 1000 * (time.perf_counter() - began)
    size = f"{len(trie.paths):,} paths, {len(trie.nodes.tokens):,} nodes, {trie.nbytes / 1e6:,.1f} MB"
    print(f"{size}; {done} in {ms:,.1f} ms")
    if arguments.after:
        for text, left in _following(trie, graph, arguments.after):
            print(f"{left:>9,} paths  {text!r}")
    return 0


def _ids(kg: KnowledgeGraph, labels: list[str]) -> list[int]:
    found = []
    for label in labels:
        entity = kg.entities.find(label)
        if entity is None:
            raise UserError(f"The graph {kg.name} has no entity {label!r}; check its spelling.")
        found.append(entity)
    return found


def _following(trie: EnumeratedTrie, graph: TokenGraph, text: str) -> list[tuple[str, int]]:
    """The tokens that may follow a beginning, with how many paths each leads to; most paths first."""
    state, label_tokens = trie.start(), graph.label_tokens
    for token in label_tokens.plain(" " + text.strip()):
        successors = trie.successors(state)
        assert successors.tokens is not None
        allowed = successors.tokens.tolist()
        if token not in allowed:
            raise UserError(f"No path of the trie begins with {text!r}; write it as e0 -> relation -> e1.")
        state = successors.take(allowed.index(token))
    successors = trie.successors(state)
    assert successors.tokens is not None
    found = [
        (label_tokens.tokenizer.decode([token]), trie.paths_left(successors.take(place)))
        for place, token in enumerate(successors.tokens.tolist())
    ]
    return sorted(found, key=lambda entry: -entry[1])


# Set-up with nothing but Python --------------------------------------------------------------------

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv"
SUPPORTED = ((3, 10), (3, 13))
APP = ("requirements.txt",)
TESTS = (*APP, "kgdemo/kg/stores/requirements.txt", "kgdemo/lab/requirements.txt", "tests/requirements.txt")
TESTS_FAILED = 1  # pytest's exit status; others say that it could not run them
# each process has a page and a Chromium of its own, so more than a few would want memory
SIDE_BY_SIDE = ["--numprocesses=auto", "--maxprocesses=4", "--dist=worksteal"]


def start(arguments: list[str]) -> int:
    """Serve the page; in a clone, install the requirements first."""
    if _installed():
        from kgdemo.ui.serve import main

        main(arguments)
        return 0
    return _run_python(_environment(*APP), [str(ROOT / "app.py"), *arguments])


def test(arguments: list[str]) -> int:
    """Install what app and tests need, Chromium and Node.js where that is possible, and run the tests.

    Tests that fail side by side are run once more, one by one: on a busy machine a page may be slower than its test
    waits for. What fails again is a fault.

    Raises:
        UserError: this is an installed package, which has no tests.
    """
    if not (ROOT / "tests" / "requirements.txt").is_file():
        raise UserError("The tests are not part of the installed package: run `python -m kgdemo test` in a clone.")
    python = _environment(*TESTS)
    _by_apt("chromium", ("chromium", "chromium-browser", "google-chrome"), "the browser tests")
    _by_apt("nodejs", ("node",), "the tests of the page's scripts")
    code = _run_python(python, ["-m", "pytest", *SIDE_BY_SIDE, *arguments])
    if code == TESTS_FAILED:
        print("What failed is run once more, one test at a time.", flush=True)
        code = _run_python(python, ["-m", "pytest", "--last-failed", "--last-failed-no-failures=none", *arguments])
    return code


def _installed() -> bool:
    """Whether pip has installed this package, and with it what it needs, for the interpreter that runs this."""
    try:
        metadata.version("kgdemo")
    except metadata.PackageNotFoundError:
        return False
    return True


def _run_python(python: Path, arguments: list[str]) -> int:
    return subprocess.run([str(python), *arguments], cwd=ROOT, check=False).returncode


def _environment(*requirements: str) -> Path:
    """The environment's interpreter, after installing whatever the requirement files newly ask for."""
    low, high = SUPPORTED
    if not low <= sys.version_info[:2] < high:
        raise SystemExit(f"This needs Python 3.10, 3.11 or 3.12; this is {sys.version.split()[0]}.")
    python = ENVIRONMENT / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        print(f"Making a virtual environment in {ENVIRONMENT} …", flush=True)
        venv.create(ENVIRONMENT, with_pip=True)
    wanted = "\n".join((ROOT / name).read_text("utf-8") for name in requirements)
    stamp = ENVIRONMENT / f".installed-{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    if not stamp.exists():
        print("Installing what the demo needs; the first time this takes some minutes …", flush=True)
        files = [part for name in requirements for part in ("-r", str(ROOT / name))]
        command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "-q", *files]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise SystemExit("The installation failed; see pip's message above, mend it and run the command again.")
        stamp.touch()
    return python


def _by_apt(package: str, programs: tuple[str, ...], needed_by: str) -> None:
    """Install a system package where we may and none of its programs is there; what needs it says so and skips."""
    if any(shutil.which(name) for name in programs):
        return
    if not shutil.which("apt-get") or not hasattr(os, "geteuid") or os.geteuid() != 0:
        return
    print(f"Installing {package} for {needed_by} …", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
        if subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=False).returncode:
            print(f"{package} could not be installed; {needed_by} will be skipped.", flush=True)
            return
