"""A setting is declared once: command line, page, share link and API have it from there, with its limits."""

from __future__ import annotations

import argparse
import inspect
from dataclasses import dataclass
from pathlib import Path

import gradio as gr
import pytest

from kgdemo.cli import parser, run
from kgdemo.errors import UserError
from kgdemo.settings import LOCAL, PUBLIC, Settings, Shown, check, limits_table, option, options_of, shown
from kgdemo.ui import asking
from kgdemo.ui.api import Endpoints


@dataclass(frozen=True, slots=True)
class Spiced(Settings):
    """The settings and one more."""

    spice: int = option(3, "how hot", label="Spice", shown=Shown.EVERYWHERE, minimum=1, limit="beams")


@pytest.fixture
def spiced(monkeypatch):
    """One more setting, declared and nothing else."""
    for module in ("kgdemo.settings", "kgdemo.cli.run", "kgdemo.ui.asking"):
        monkeypatch.setattr(f"{module}.Settings", Spiced)
    monkeypatch.setattr(asking, "ON_PAGE", shown(Shown.PAGE))
    monkeypatch.setattr(asking, "NAMES", ("question", *(setting.name for setting in shown(Shown.PAGE))))


def page_fields(profile=LOCAL, standard=None) -> dict[str, gr.components.Component]:
    return {setting.name: asking.field_for(setting, profile, standard or Settings()) for setting in asking.ON_PAGE}


def arguments(*words: str) -> argparse.Namespace:
    return parser().parse_args(["ask", "q", *words])


def test_one_more_setting_is_on_the_command_line_the_page_and_in_links(spiced):
    assert run.settings_from(arguments("--spice", "7"), compare=True, explain=4) == Spiced(spice=7)
    field = page_fields(PUBLIC, Spiced())["spice"]
    assert (field.label, field.minimum, field.maximum, field.value) == ("Spice", 1, PUBLIC.beams, 3)
    values = [page.value for page in page_fields(LOCAL, Spiced(spice=9)).values()]
    assert asking.settings_of(asking.Fields.of(["q", *values, ""]).values, LOCAL) == Spiced(spice=9)
    assert asking.filled({"spice": "4"}, PUBLIC) == {"spice": 4}
    assert asking.filled({"spice": "11"}, PUBLIC) == {}
    with pytest.raises(UserError, match="spice, “Spice”, cannot be '11'; choose a whole number from 1 to 10"):
        check("q", Spiced(spice=11), PUBLIC)


def test_what_is_shown_is_what_is_declared():
    own = {"question", "entity", "profile", "unconstrained", "json", "run", "verbose"}
    assert vars(arguments()).keys() - own == {setting.name for setting in shown(Shown.COMMAND)}
    assert run.settings_from(arguments(), compare=True, explain=4) == Settings()
    assert {name: field.label for name, field in page_fields().items()} == {s.name: s.label for s in shown(Shown.PAGE)}
    assert all(setting.label for setting in options_of(Settings) if setting.shown)


def test_the_api_takes_the_declared_settings_with_their_defaults():
    declared = {setting.name: setting for setting in shown(Shown.API)}
    assert set(Endpoints.settings()["ask"]) == declared.keys()
    for endpoint, names in Endpoints.settings().items():
        call = getattr(Endpoints, endpoint)
        taken = inspect.signature(call).parameters
        assert taken.keys() - set(names) <= {"self", "question", "path", "request"}
        for name in names:
            default = "" if declared[name].kind is tuple else getattr(Settings(), name)
            assert taken[name].default == default
            assert f"{name}: " in call.__doc__


def test_the_public_page_offers_no_files_and_no_models():
    home, public = page_fields(LOCAL), page_fields(PUBLIC)
    assert (home["graph"].allow_custom_value, public["graph"].allow_custom_value) == (True, False)
    assert (home["model"].visible, public["model"].visible) == (True, False)
    with pytest.raises(UserError, match="its own model only"):
        check("q", Settings(model="someone/model"), PUBLIC)


def test_an_empty_text_leaves_the_default_and_an_empty_number_is_a_mistake():
    assert asking.settings_of({"model": " ", "options": "", "graph": None}, LOCAL) == Settings()
    with pytest.raises(UserError, match=r"beams, “Paths \(K\)”, cannot be ''; choose a whole number from 1 to 50"):
        asking.settings_of({"beams": None}, LOCAL)


def test_the_table_of_limits_in_the_readme_is_the_profiles():
    assert len(limits_table().splitlines()) == 2 + len(LOCAL.__slots__) - 2, "all but the name and the proxy's header"
    readme = (Path(asking.__file__).parent / "README.md").read_text("utf-8")
    assert limits_table() in readme, "paste what kgdemo.settings.limits_table() returns"
