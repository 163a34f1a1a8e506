"""The recipe of the Windows installer, as far as it can be tried without Windows: what is shipped, and the PATH."""

import ast
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from app.cli.commands import doctor

ROOT = Path(__file__).resolve().parents[1]
WINDOWS = ROOT / "packaging" / "windows"
BUILD = (WINDOWS / "build.sh").read_text(encoding="utf-8")
INSTALLER = (WINDOWS / "moot.nsi").read_text(encoding="utf-8")
# Of these not all modules are shipped: no provider of Moot's needs the first four, and nothing the others.
IN_PART = (
    *("boto3/", "botocore/", "s3transfer/", "hf_xet/"),
    *("litellm/proxy/", "huggingface_hub/cli/", "urllib3/contrib/emscripten/", "jsonschema/benchmarks/"),
)
# Prints which of the named modules of LiteLLM's server can be imported, each as if it were the first.
CAN_BE_IMPORTED = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
    else:
        print(name)
    for module in [module for module in sys.modules if module.startswith("litellm.proxy")]:
        del sys.modules[module]
"""


def module(name: str) -> ModuleType:
    """Return a program of the recipe."""
    spec = importlib.util.spec_from_file_location(f"windows_{name}", WINDOWS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


packages = module("packages")


def is_shipped(path: str) -> bool:
    """Return whether a file of a package is shipped, by unused.txt."""
    fits = [line for line in packages.unused_patterns() if packages.fnmatchcase(path, line.lstrip("!"))]
    return bool(packages.is_kept(fits))


def locked() -> dict[str, str]:
    """Return the part of the lock for Windows: its entries by name."""
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return {entry.partition("==")[0]: entry for entry in packages.windows_lock(text)}


def test_the_lock_for_windows_has_what_is_for_it_alone_and_a_hash_for_each():
    entries = locked()
    assert {
        "litellm",
        "pyside6-essentials",
        "pywin32",
        "pywin32-ctypes",
        "tzdata",
        "colorama",
    } <= entries.keys()
    assert not {"jeepney", "secretstorage", "forbiddenfruit", "uvloop"} & entries.keys()
    for name, entry in entries.items():
        head, *hashes = entry.splitlines()
        assert re.fullmatch(rf"{re.escape(name)}==\S+ \\", head), entry
        assert hashes and all(re.fullmatch(r" +--hash=sha256:[0-9a-f]{64}( \\)?", line) for line in hashes)


def test_what_is_shipped_is_what_moot_depends_on(tmp_path):
    for name in (*locked(), *packages.EXTRA):
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:  # one for Windows alone
            needs = []
        with zipfile.ZipFile(tmp_path / f"{name.replace('-', '_')}-1-py3-none-any.whl", "w") as wheel:
            lines = [f"Name: {name}", *(f"Requires-Dist: {line}" for line in needs)]
            wheel.writestr(f"{name}-1.dist-info/METADATA", "\n".join(lines))
    found = {packages.canonical(path.name.partition("-")[0]): path for path in tmp_path.iterdir()}
    needed = packages.needed(found)
    assert {packages.canonical(name) for name in doctor._PACKAGES} <= needed
    assert {"pip", "pywin32", "tokenizers", "httpx", "cryptography", "lxml-html-clean"} <= needed
    assert not needed & {"pytest", "hypothesis", "mypy", "ruff", "hatchling", "blockbuster"}


@pytest.mark.parametrize(
    ("path", "shipped"),
    [
        # Every answer fails without these, while the doctor finds nothing.
        ("litellm/proxy/guardrails/exception_utils.py", True),
        ("litellm/rust_bridge/_native.pyd", True),
        ("litellm/proxy/_types.py", True),
        ("litellm/model_prices_and_context_window_backup.json", True),
        ("litellm/litellm_core_utils/tokenizers/fb374d419588a4632f3f557e76b4b70aebbca790", True),
        ("litellm/llms/openai_like/providers.json", True),
        ("litellm/proxy/_experimental/out/index.html", False),
        ("litellm/proxy/proxy_server.py", False),
        ("PySide6/Qt6Widgets.dll", True),
        ("PySide6/plugins/platforms/qwindows.dll", True),
        ("PySide6/plugins/styles/qmodernwindowsstyle.dll", True),
        ("PySide6/plugins/iconengines/qsvgicon.dll", True),
        ("PySide6/plugins/platforms/qminimal.dll", False),
        ("PySide6/translations/qtbase_ko.qm", True),
        ("PySide6/translations/qtbase_de.qm", False),
        # The viewer of pages, which is installed later, could not be loaded without it.
        ("PySide6/Qt6Qml.dll", True),
        ("PySide6/Qt6Quick3D.dll", False),
        ("PySide6/QtQml.pyd", False),
        ("PySide6/msvcp140.dll", False),
        ("babel/locale-data/ko_KR.dat", True),
        ("babel/locale-data/de.dat", False),
        ("lxml/etree.cp314-win_amd64.pyd", True),
        ("lxml/objectify.cp314-win_amd64.pyd", False),
        ("win32/win32job.pyd", True),
        ("win32/win32api.pyd", True),
        ("win32/lib/win32con.py", True),
        ("win32/lib/pywintypes.py", True),
        ("win32/odbc.pyd", False),
        ("pywin32_system32/pywintypes314.dll", True),
        ("win32com/client/__init__.py", False),
        ("qasync-0.28.0.dist-info/METADATA", True),
        ("keyring-25.7.0.dist-info/entry_points.txt", True),
        ("qasync-0.28.0.dist-info/licenses/LICENSE", True),
        ("qasync-0.28.0.dist-info/RECORD", False),
        ("certifi/cacert.pem", True),
        ("trafilatura/settings.cfg", True),
    ],
)
def test_what_of_the_packages_is_shipped(path, shipped):
    assert is_shipped(path) is shipped


def test_no_module_that_is_installed_is_left_out():
    left_out = []
    for name in locked():
        try:
            files = importlib.metadata.distribution(name).files or []
        except importlib.metadata.PackageNotFoundError:
            continue
        paths = [path.as_posix() for path in files if path.suffix == ".py" and path.parts[0] != ".."]
        left_out += [path for path in paths if not is_shipped(path) and not path.startswith(IN_PART)]
    assert [path for path in left_out if not re.search(r"/_?tests?/|^PySide6/(scripts|support)/", path)] == []


def imported(module: str, path: Path) -> set[str]:
    """Return what a module may import, anywhere in it, also by a text that is a module's name."""
    package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


@pytest.mark.slow
def test_what_is_left_out_of_litellms_server_is_not_imported_or_can_not_be():
    site = Path(str(importlib.metadata.distribution("litellm").locate_file("")))
    modules = {}
    for path in (site / "litellm").rglob("*.py"):
        modules[".".join(path.relative_to(site).with_suffix("").parts).removesuffix(".__init__")] = path
    left_out = {name for name, path in modules.items() if not is_shipped(path.relative_to(site).as_posix())}
    assert {"litellm.proxy.proxy_server", "litellm.proxy.utils"} <= left_out
    assert len(left_out) > 500
    named = set()
    for name in modules.keys() - left_out:
        if name.startswith("litellm.proxy") or "proxy" in modules[name].read_text(encoding="utf-8"):
            named |= imported(name, modules[name]) & left_out
    assert "litellm.proxy.proxy_server" in named
    found = subprocess.run(
        [sys.executable, "-c", CAN_BE_IMPORTED, *sorted(named)],
        env={**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert found.stdout.split() == []


@pytest.mark.parametrize(
    ("paths", "alone"),
    [
        (["qasync/__init__.py", "qasync-1.dist-info/METADATA"], True),
        (["certifi/core.py", "certifi/cacert.pem"], False),
        (["regex/__init__.py", "regex/_regex.pyd"], False),
    ],
)
def test_only_packages_of_modules_alone_go_into_the_archive(paths, alone):
    assert packages.is_modules_alone(paths) is alone


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("mcp/client/session.py", "mcp/client/session.py"),
        ("pywin32-312.data/platlib/win32/win32job.pyd", "win32/win32job.pyd"),
        ("pywin32-312.data/scripts/pywin32_postinstall.py", ""),
        ("mcp/client/", ""),
    ],
)
def test_where_a_file_of_a_wheel_belongs(path, expected):
    assert packages.place(path) == expected


def test_compiled_modules_take_the_place_of_sources_and_are_loaded(tmp_path):
    site = tmp_path / "python" / "Lib" / "site-packages"
    (site / "folder").mkdir(parents=True)
    (tmp_path / "app").mkdir()
    (site / "folder" / "__init__.py").write_text("from alone import WORD\n", encoding="utf-8")
    (site / "folder" / "template.py").write_text("{{ no Python }}\n", encoding="utf-8")
    (tmp_path / "app" / "own.py").write_text(
        "from folder import WORD\nprint(WORD, __file__)\n", encoding="utf-8"
    )
    with zipfile.ZipFile(tmp_path / "python" / "packages.zip", "w") as archive:
        archive.writestr("alone/__init__.py", "WORD = '말'\n")
        archive.writestr("alone/data.txt", "data")
    subprocess.run([sys.executable, WINDOWS / "compile.py", tmp_path], check=True)
    assert sorted(path.name for path in (site / "folder").iterdir()) == ["__init__.pyc", "template.py"]
    with zipfile.ZipFile(tmp_path / "python" / "packages.zip") as archive:
        assert sorted(archive.namelist()) == ["alone/__init__.pyc", "alone/data.txt"]
        assert {entry.compress_type for entry in archive.infolist()} == {zipfile.ZIP_STORED}
    # A change of its time, as by copying, is no change of the module.
    (tmp_path / "app" / "own.py").touch()
    folders = [str(tmp_path / "app"), str(site), str(tmp_path / "python" / "packages.zip")]
    command = f"import sys; sys.path[:0] = {folders!r}; import own"
    done = subprocess.run(
        [sys.executable, "-I", "-c", command], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout == f"말 {tmp_path / 'app' / 'own.py'}\n"
    assert len(list((tmp_path / "app" / "__pycache__").iterdir())) == 1


user_path = module("user_path")
BIN = r"C:\Users\김 민지\AppData\Local\Programs\Moot\bin"


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        ("", "add", BIN),
        (r"%USERPROFILE%\tools;C:\last", "add", rf"%USERPROFILE%\tools;C:\last;{BIN}"),
        (rf"{BIN};C:\last", "add", rf"C:\last;{BIN}"),
        (rf"C:\first;{BIN.upper()}\;C:\last", "remove", r"C:\first;C:\last"),
        (r"C:\first;C:\last", "remove", r"C:\first;C:\last"),
        (BIN, "remove", ""),
        (rf"C:\first;{BIN}\tools", "remove", rf"C:\first;{BIN}\tools"),
        ("C:\\" + "a" * 3000, "add", "C:\\" + "a" * 3000 + ";" + BIN),
    ],
)
def test_the_path_is_changed_by_one_folder(before, action, after):
    assert user_path.changed(before, action, BIN) == after


def test_the_installer_handles_all_that_the_build_lays_out():
    made = set(re.findall(r"\$moot/([\w.]+)", BUILD)) | set(
        re.findall(r"^launcher ([\w.]+)", BUILD, re.MULTILINE)
    )
    made |= {
        Path(path).name
        for path in re.findall(r'cp -r ((?:"\$root/\w+" )+)"\$moot"', BUILD)[0].split('"')
        if "/" in path
    }
    made.add("licences")  # copied as a folder of packaging
    parts = re.findall(r"^  !insertmacro \$\{DO\} (\S+)$", INSTALLER, re.MULTILINE)
    assert set(parts) == made and len(parts) == len(set(parts))


def test_the_installer_speaks_both_languages():
    assert re.findall(r"^!insertmacro MUI_LANGUAGE (\w+)$", INSTALLER, re.MULTILINE) == ["English", "Korean"]
    texts = re.findall(r'^!insertmacro Text (\w+) "([^"]+)" "([^"]+)"$', INSTALLER, re.MULTILINE)
    assert len(texts) == INSTALLER.count("!insertmacro Text ") >= 7
    for name, english, korean in texts:
        assert re.search("[가-힣]", korean) and not re.search("[가-힣]", english), name
        assert f"$({name})" in INSTALLER, name
        assert set(re.findall(r"\$\w+", english)) == set(re.findall(r"\$\w+", korean)), name


def test_the_recipe_names_what_is_there():
    for name in re.findall(r"\$here/(\w[\w.]+)", BUILD + (WINDOWS / "try.sh").read_text(encoding="utf-8")):
        assert (WINDOWS / name).is_file(), name
    for name in re.findall(r"\$root\"?/([\w./]+)", BUILD):
        place = ROOT / name.rstrip("/")
        assert place.exists() or name.startswith(("build", ".venv", ".model")), name
    resource = (WINDOWS / "launcher.rc").read_text(encoding="utf-8")
    assert '"launcher.manifest"' in resource and "moot.ico" in resource


def test_pythons_version_is_in_one_place():
    lock = packages.LOCK
    assert lock["PYTHON"] in lock["PYTHON_URL"] and lock["PYTHON_URL"].startswith("https://www.python.org/")
    for name, value in lock.items():
        assert not name.endswith("_SHA256") or re.fullmatch("[0-9a-f]{64}", value), name
    minor = ".".join(lock["PYTHON"].split(".")[:2])
    written = f"{minor}|{minor.replace('.', '')}"
    for path in filter(Path.is_file, WINDOWS.iterdir()):
        # The lock's own comment says until when that version is made.
        if path.name != "python.lock":
            assert not re.search(rf"\b({written})\b", path.read_text(encoding="utf-8")), path.name


def test_the_trial_has_a_function_for_each_step():
    text = (WINDOWS / "try.sh").read_text(encoding="utf-8")
    said = subprocess.run([WINDOWS / "try.sh", "--steps"], capture_output=True, text=True, check=True).stdout
    assert said.split() == re.findall(r"^step_(\w+)\(\)", text, re.MULTILINE)


@pytest.mark.skipif(shutil.which("makensis") is None, reason="needs NSIS")
def test_nsis_takes_the_script_without_a_warning(tmp_path, qapp):
    for part in re.findall(r"^  !insertmacro \$\{DO\} (\S+)$", INSTALLER, re.MULTILINE):
        (tmp_path / "Moot" / part).mkdir(parents=True)
        for name in ("file", "file.dll", "file.pyd"):
            (tmp_path / "Moot" / part / name).touch()
    bundle = ROOT / "packaging" / "bundle.py"
    spec = importlib.util.spec_from_file_location("moot_bundle_for_windows", bundle)
    drawing = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(drawing)
    drawing.make_icons(tmp_path / "icons")
    names = {"VERSION": "1.2.3", "SOURCE": tmp_path / "Moot", "ICON": tmp_path / "icons" / "moot.ico"}
    names |= {"OUT": tmp_path / "Moot-1.2.3-setup.exe", "SIZE": "1", "SIGN": "", "FAST": "1"}
    defines = [f"-D{name}={value}" for name, value in names.items()]
    done = subprocess.run(
        ["makensis", "-WX", "-V2", "-INPUTCHARSET", "UTF8", *defines, WINDOWS / "moot.nsi"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    assert (tmp_path / "Moot-1.2.3-setup.exe").read_bytes().startswith(b"MZ")
