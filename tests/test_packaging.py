"""The recipes of the double-click builds: they agree with the program and with each other, and name what is there."""

import importlib.util
import os
import plistlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from configparser import ConfigParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from packaging.requirements import Requirement
from PySide6.QtGui import QImage, QImageReader

import app
from app import __main__ as program
from app.children import processes
from app.linux import missing_libraries
from app.providers import new_version

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "packaging"
SPEC = (PACKAGING / "moot.spec").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SCRIPTS = sorted([*PACKAGING.glob("*.sh"), *PACKAGING.glob("*/*.sh"), *(ROOT / ".ci").iterdir()])


def test_a_build_may_name_the_address_for_newer_versions_and_a_checkout_names_none():
    assert f'"{new_version.ADDRESS_FILE}"' in SPEC
    assert not list(ROOT.glob(f"resources/**/{new_version.ADDRESS_FILE}"))


@pytest.fixture(scope="module")
def bundle():
    spec = importlib.util.spec_from_file_location("moot_bundle", PACKAGING / "bundle.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def desktop_entry() -> dict[str, str]:
    parser = ConfigParser(interpolation=None, delimiters=("=",))
    parser.optionxform = str
    parser.read(PACKAGING / "linux" / "moot.desktop", encoding="utf-8")
    return dict(parser["Desktop Entry"])


def metainfo() -> ET.Element:
    return ET.parse(PACKAGING / "linux" / "moot.metainfo.xml").getroot()


def test_every_recipe_has_the_same_version():
    version = PROJECT["project"]["version"]
    assert app.__version__ == version
    assert metainfo().find("releases")[0].get("version") == version
    assert re.search(r"^## (\S+?),? ", (PACKAGING / "CHANGELOG.md").read_text(), re.MULTILINE)[1] == version
    # They take it from pyproject.toml; a number written down would be forgotten.
    windows = [
        (PACKAGING / "windows" / name).read_text(encoding="utf-8")
        for name in ("build.sh", "moot.nsi", "launcher.rc")
    ]
    assert version not in "".join([SPEC, *windows, (PACKAGING / "linux" / "control").read_text()])
    assert '["project"]["version"]' in SPEC and '["project"]["version"]' in windows[0]


def test_every_recipe_has_the_same_id(bundle):
    source = (ROOT / "app" / "main.py").read_text(encoding="utf-8")
    (app_id,) = re.findall(r'setDesktopFileName\("([^"]+)"\)', source)
    assert app_id == bundle.APP_ID
    assert f'APP_ID = "{app_id}"' in SPEC
    assert (PACKAGING / "linux" / f"{app_id}.desktop").is_file()
    assert desktop_entry()["Icon"] == app_id
    assert metainfo().findtext("id") == app_id
    assert metainfo().findtext("launchable") == f"{app_id}.desktop"


def test_the_desktop_file_and_its_data_speak_both_languages(bundle, capfd):
    entry = desktop_entry()
    assert entry["Exec"] == "moot" and entry["Terminal"] == "false"
    for key in ("GenericName", "Comment", "Keywords"):
        assert re.search("[가-힣]", entry[f"{key}[ko]"]), key
    language = "{http://www.w3.org/XML/1998/namespace}lang"
    for path in ("summary", "description/p"):
        texts = metainfo().findall(path)
        assert len([one for one in texts if one.get(language) == "ko"]) * 2 == len(texts) > 0
    # Whatever of the two programs made for it is installed.
    bundle.check_recipes()
    assert "rror" not in capfd.readouterr().out


def test_the_icon_has_several_voices_at_every_size(bundle, tmp_path, qapp):
    icons = tmp_path / "icons"
    bundle.make_icons(icons)
    for size in bundle.SIZES:
        image = QImage(str(icons / f"{size}.png"))
        assert (image.width(), image.height()) == (size, size)
        assert image.pixelColor(0, 0).alpha() < 40  # round corners
        colours = Counter(image.pixel(x, y) for x in range(size) for y in range(size))
        shown = [colour for colour, count in colours.items() if count >= max(4, size * size // 100)]
        assert len(shown) >= 4, f"{size} px: {len(shown)} colours"  # the ground and three voices
    for name, most in (("moot.ico", 256), ("moot.icns", 512)):
        reader = QImageReader(str(icons / name))
        sizes = set()
        for place in range(reader.imageCount()):
            reader.jumpToImage(place)
            sizes.add(reader.read().width())
        assert sizes >= {16, 32, 256, most}, name


def test_a_frozen_build_knows_every_child_program(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    programs = (
        *(processes.MODEL_HOST, processes.EMBEDDED_SERVER, processes.TOOL_HOST),
        *(processes.AGENT_HOST, processes.FILE_READER, processes.MODEL_FETCH, processes.IMPORT_CHECK),
    )
    assert len(programs) == len(program.CHILD_PROGRAMS)
    for child in programs:
        assert importlib.util.find_spec(program.CHILD_PROGRAMS[processes.child_command(child)[1]]) is not None
        module = program.CHILD_PROGRAMS[processes.child_command(child)[1]]
        assert module.removesuffix(".__main__") == child


def test_what_a_frozen_build_starts_loads_the_systems_libraries(monkeypatch):
    for name in ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH", "_PYI_ARCHIVE_FILE"):
        monkeypatch.setenv(name, "/opt/moot/_internal")
    monkeypatch.setenv("LD_LIBRARY_PATH_ORIG", "/home/me/lib")
    program._leave_bundle()
    assert os.environ["LD_LIBRARY_PATH"] == "/home/me/lib"
    assert not [name for name, value in os.environ.items() if "_internal" in value]


def spec_parts() -> dict:
    """Return what the spec says without PyInstaller: its patterns and lists."""
    compile(SPEC, "moot.spec", "exec")
    found: dict = {"re": re}
    for name in ("EXCLUDED", "UNUSED"):
        start = SPEC.index(f"{name} = ")
        exec(SPEC[start : SPEC.index("\n\n", start)], found)
    return found


@pytest.mark.slow
def test_the_build_leaves_out_nothing_that_moot_imports():
    excluded = spec_parts()["EXCLUDED"]
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "app").rglob("*.py"))
    for name in excluded:
        # Pages of servers are shown by an extra of the environment, looked for before it is used.
        if "WebEngine" not in name and "WebChannel" not in name:
            assert not re.search(rf"^\s*(from|import) {re.escape(name)}\b", sources, re.MULTILINE), name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("PySide6/Qt/plugins/platforms/libqxcb.so", True),
        ("PySide6/Qt/plugins/platforms/libqwayland.so", True),
        ("PySide6/Qt/plugins/platforms/libqoffscreen.so", True),
        ("PySide6/Qt/plugins/platforms/libqminimal.so", False),
        ("PySide6/Qt/plugins/platforminputcontexts/libibusplatforminputcontextplugin.so", True),
        ("PySide6/Qt/plugins/iconengines/libqsvgicon.so", True),
        ("PySide6/Qt/translations/qtbase_ko.qm", True),
        ("PySide6/Qt/translations/qtbase_de.qm", False),
        ("babel/locale-data/ko.dat", True),
        ("babel/global.dat", True),
        ("babel/locale-data/de.dat", False),
        ("libxcb-cursor.so.0", True),
        ("libX11.so.6", True),
        ("libgtk-3.so.0", False),
        ("libstdc++.so.6", False),
    ],
)
def test_the_build_keeps_what_is_used(name, kept):
    assert (spec_parts()["UNUSED"].match(name) is None) is kept


def test_everything_the_spec_names_is_there():
    for path in ('"resources"', '"app" / "__main__.py"'):
        assert f"ROOT / {path}" in SPEC
        assert ROOT.joinpath(*re.findall(r'"([^"]+)"', path)).exists()
    for package in re.findall(r'collect_(?:data_files|submodules)\("([\w.]+)"', SPEC):
        # Only its top: what is below would be imported to be found.
        assert importlib.util.find_spec(package.partition(".")[0]) is not None, package


def test_the_debian_package_names_what_qt_loads(bundle, monkeypatch):
    monkeypatch.setattr("app.linux._loads", lambda _name: False)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    wanted = {package for _, package, _ in missing_libraries()}
    assert wanted <= set(bundle.dependencies())
    control = (PACKAGING / "linux" / "control").read_text(encoding="utf-8")
    filled = control.format(version="1", architecture="amd64", size=1, depends="a, b")
    assert re.search(r"^Package: moot\nVersion: 1\n", filled)
    assert filled.endswith("\n") and "\n\n" not in filled


def test_the_licences_of_all_that_is_in_the_build_are_in_it(bundle, tmp_path):
    packages = bundle.bundled_packages()
    assert {"litellm", "pyside6-essentials", "mcp", "xllamacpp"} <= packages
    assert not packages & {"pytest", "mypy", "hypothesis", "pyinstaller"}
    bundle.add_licences(tmp_path / "licences")
    found = {
        path.relative_to(tmp_path / "licences").parts[0] for path in tmp_path.rglob("*") if path.is_file()
    }
    # Qt is under the LGPL, which is an addition to the GPL; the built-in model is under Apache's.
    assert {"Moot.txt", "THIRD_PARTY.md", "LGPL-3.0.txt", "GPL-3.0.txt", "Apache-2.0.txt"} <= found
    assert any(name.startswith("litellm-") for name in found)


def test_the_lock_of_what_makes_the_builds_goes_with_the_other():
    text = (PACKAGING / "bundle.lock").read_text(encoding="utf-8")
    versions = dict(re.findall(r"^([\w-]+)==([^\s;\\]+)", text, re.MULTILINE))
    for requirement in map(Requirement, PROJECT["dependency-groups"]["bundle"]):
        assert requirement.specifier.contains(versions[requirement.name])
    assert len(re.findall(r"==.*\\\n +--hash=sha256:", text)) == len(versions)
    main = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, version in versions.items():
        assert not re.search(rf"^{name}==(?!{re.escape(version)})", main, re.MULTILINE), name


def test_the_recipe_of_macos_is_well_formed():
    rights = plistlib.loads((PACKAGING / "macos" / "entitlements.plist").read_bytes())
    assert all(rights.values())
    script = (PACKAGING / "macos" / "release.sh").read_text(encoding="utf-8")
    assert 'name="Moot.app"' in SPEC and "build/dist/Moot.app" in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_scripts_can_be_read_by_bash(path):
    assert subprocess.run(["bash", "-n", path], check=False).returncode == 0
