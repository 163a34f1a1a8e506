"""Holds app/README.md true: its map has every package, and its extension table every place that lists things."""

import re
from pathlib import Path

import pytest

from app.core.catalog import KINDS
from app.core.session import DebateMode, ExportFormat
from app.core.texts import LANGUAGES
from app.engine.prompts import Prompts

ROOT = Path(__file__).parents[1]
PATH = re.compile(r"`((?:core|engine|gui|cli|providers|storage|tools|children|resources)(?:/[\w.-]+)*)`")
NAME = re.compile(r"`([A-Z]\w+)`[^|`]*?`([\w/]+\.py)`")
MODULE = re.compile(r"`([a-z_]+(?:/[a-z_]+)+)(?:\.py)?`")
# Written like modules: a media type, a file in the data directory.
NO_MODULES = ("text/html", "user_data/models", "assistant/tool")


def rows() -> dict[str, str]:
    """Return the table: what is new, and where it goes."""
    text = (ROOT / "app/README.md").read_text(encoding="utf-8").partition("## How to extend")[2]
    found = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text.partition("## Glossary")[0], re.M)
    return {new: where for new, where in found if new not in ("new…", "---")}


def place(name: str) -> Path:
    """Return the file or folder that the table names."""
    return ROOT / name if name.startswith("resources") else ROOT / "app" / name


@pytest.mark.parametrize("new", sorted(rows()))
def test_what_a_row_names_is_there(new: str) -> None:
    where = rows()[new]
    assert PATH.findall(where)
    for path in PATH.findall(where):
        assert place(path).exists(), path
    for name, path in NAME.findall(where):
        assert re.search(rf"\b{name}\b", place(path).read_text(encoding="utf-8")), f"{name} in {path}"


def test_the_table_has_the_extensions_people_ask_for() -> None:
    asked = {
        "debate mode",
        "provider",
        "language",
        "export format",
        "session kind",
        "tool",
        "setting",
        "theme colour",
        "notification",
    }
    assert asked <= set(rows())


# Also the name of a column, and of a command.
ALSO_WORDS = (DebateMode.ROLES, DebateMode.COUNCIL)


@pytest.mark.parametrize(
    ("new", "signs"),
    [
        ("debate mode", [rf'"{mode.value}"' for mode in DebateMode if mode not in ALSO_WORDS]),
        ("debate mode", [rf"DebateMode\.{mode.name}, DebateMode\.\w+" for mode in DebateMode]),
        ("provider", [rf'"{one.kind}", "\w+"' for one in KINDS]),
        ("language", [rf'"{name}", "\w\w"' for name in LANGUAGES]),
        ("export format", [rf'"{one.value}", "\w+"' for one in ExportFormat]),
    ],
    ids=["modes by name", "lists of modes", "lists of providers", "lists of languages", "lists of formats"],
)
def test_nothing_else_lists_them(new: str, signs: list[str]) -> None:
    """No module that its row does not name lists the members: it would not know a new one."""
    named = [place(path) for path in PATH.findall(rows()[new])]
    listing = [
        str(path.relative_to(ROOT))
        for path in (ROOT / "app").rglob("*.py")
        if not any(path == one or one in path.parents for one in named)
        if any(re.search(sign, path.read_text(encoding="utf-8")) for sign in signs)
    ]
    assert listing == []


def test_the_map_has_every_package() -> None:
    text = (ROOT / "app/README.md").read_text(encoding="utf-8")
    table = text.partition("## Where things are")[2].partition("## How things flow")[0]
    first = " ".join(row.split("|")[1] for row in table.splitlines() if row.startswith("| `"))
    # What is in the pages, the panels and the command line, their own packages say.
    packages = [
        path.parent.name
        for path in (ROOT / "app").rglob("*/__init__.py")
        if path.parent.parent.name not in ("pages", "panels", "cli") and path.parent != ROOT / "app"
    ]
    assert [one for one in packages if not re.search(rf"\b{one}`", first)] == []


def test_the_glossary_names_places_that_are_there() -> None:
    text = (ROOT / "app/README.md").read_text(encoding="utf-8").partition("## Glossary")[2]
    places = PATH.findall(text)
    assert len(places) > 20
    assert [one for one in places if not place(one).exists()] == []


def test_the_modules_that_map_and_docstrings_name_are_there() -> None:
    app = ROOT / "app"
    there = {
        str(path.relative_to(app).with_suffix(""))
        for path in app.rglob("*")
        if "__pycache__" not in path.parts
    }
    ends = {name.split("/", n)[-1] for name in there for n in range(name.count("/") + 1)}
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in (app / "README.md", *app.rglob("*.py"))
        for name in MODULE.findall(path.read_text(encoding="utf-8"))
        if name not in ends and name not in NO_MODULES
        if not any((ROOT / f"{name}{end}").exists() for end in ("", ".py"))
    ]
    assert missing == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_export_names_every_mode(language: str) -> None:
    lines = Prompts(ROOT / "resources/prompts").lines(language, "export")
    assert [mode for mode in DebateMode if not lines.get(f"mode.{mode}")] == []


def test_a_packages_docstring_names_its_modules() -> None:
    missing = [
        f"{init.parent.relative_to(ROOT)}: {module.stem}"
        for init in (ROOT / "app").rglob("__init__.py")
        for module in init.parent.glob("*.py")
        if not module.stem.startswith("__") and init.parent != ROOT / "app"
        if not re.search(rf"\b{module.stem}\b", init.read_text(encoding="utf-8"))
    ]
    assert missing == []
