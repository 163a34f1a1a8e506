"""`packaging/dev.py`: what it asks of a machine, and that it says so instead of failing later."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def dev():
    spec = importlib.util.spec_from_file_location("moot_dev", ROOT / "packaging" / "dev.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*arguments, **environment):
    command = [sys.executable, str(ROOT / "packaging" / "dev.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment or None)


def test_without_a_command_it_says_how_it_is_used():
    done = run()
    assert done.returncode == 2
    assert "packaging/dev.py COMMAND" in done.stdout
    assert run("--help").returncode == 0


def test_it_needs_nothing_but_the_standard_library():
    code = f"import runpy; runpy.run_path({str(ROOT / 'packaging' / 'dev.py')!r})"
    # -I -S: no site-packages, no environment, no current folder.
    assert subprocess.run([sys.executable, "-I", "-S", "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "window"),
    [
        ([], True),
        (["--lang", "ko"], True),
        (["--data-dir", "/somewhere"], True),
        (["debate", "Tea or coffee?"], False),
        (["doctor", "--json"], False),
        (["--help"], False),
    ],
)
def test_only_the_window_needs_a_screen(dev, arguments, window):
    assert dev.wants_window(arguments) is window


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="system packages are a matter of Linux")
def test_a_missing_library_is_named_with_the_command_that_installs_it(dev, monkeypatch, capsys):
    monkeypatch.setattr(dev, "OPENMP", ("libmoot-not-there.so.9", "libmoot9", "libmoot9"))
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(
        dev.shutil, "which", lambda name, **_: "/usr/bin/apt-get" if name == "apt-get" else None
    )
    with pytest.raises(SystemExit) as stopped:
        dev.need_system_parts([])
    assert stopped.value.code == dev.MISSING_SYSTEM_PARTS
    said = capsys.readouterr().out
    (line,) = [line for line in said.splitlines() if "apt-get install" in line]
    assert "libmoot9" in line.split()


def test_a_change_of_the_lock_makes_the_environment_anew(dev, tmp_path, monkeypatch):
    lock = tmp_path / "requirements.lock"
    lock.write_text("one==1\n")
    monkeypatch.setattr(dev, "LOCK", lock)
    before = dev.fingerprint()
    lock.write_text("one==2\n")
    assert dev.fingerprint() != before


def test_a_model_that_cannot_be_fetched_is_a_warning_and_no_end(dev, tmp_path, monkeypatch, capsys):
    class Broken:
        FILE_NAME = "model.gguf"

        class PackageError(Exception):
            pass

        @staticmethod
        def fetch_model(folder):
            raise Broken.PackageError("no network")

    monkeypatch.delenv("MOOT_MODEL", raising=False)
    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "load_by_path", lambda path: Broken)
    dev.fetch_model()
    assert "WARNING: the model could not be fetched: no network" in capsys.readouterr().out


@pytest.fixture
def tries(dev, tmp_path, monkeypatch):
    """Return what runs tests of which these failed first, and these again; yield the commands that it has run."""
    kept = tmp_path / ".pytest_cache" / "v" / "cache" / "lastfailed"
    kept.parent.mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "known_flaky.txt").write_text("# Its server is slow.\na::known\n")
    commands = []

    def run_with(first, again, *, long=False):
        def call(command, extra=None):
            commands.append([str(word) for word in command])
            left = again if "--last-failed" in commands[-1] else first
            kept.write_text(json.dumps(dict.fromkeys(left, True)))
            return dev.TESTS_FAILED if left else 0

        monkeypatch.setattr(dev, "call", call)
        return dev.run_tests(long=long)

    monkeypatch.setattr(dev, "ROOT", tmp_path)
    run_with.commands = commands
    return run_with


def test_a_test_that_passes_on_the_second_try_is_listed_and_counted(dev, tries, tmp_path, capsys):
    assert tries(["a::broken", "a::unsure"], ["a::broken"]) == dev.TESTS_FAILED
    assert tries(["a::broken", "a::unsure"], ["a::broken"], long=True) == dev.TESTS_FAILED
    assert ["--last-failed" in command for command in tries.commands] == [False, True, False, True]
    assert (tmp_path / "build" / "flaky.txt").read_text() == "2 a::unsure\n"
    said = capsys.readouterr().out
    assert "flaky (2 times so far; not in tests/known_flaky.txt, so the run fails): a::unsure" in said


@pytest.mark.parametrize(
    ("first", "again", "passes"),
    [
        ([], [], True),
        (["a::known"], [], True),
        (["a::unsure"], [], False),
        (["a::known", "a::unsure"], [], False),
        (["a::known"], ["a::known"], False),
    ],
)
@pytest.mark.parametrize("long", [False, True])
def test_one_that_is_not_known_to_be_flaky_fails_the_run(dev, tries, first, again, passes, long):
    assert tries(first, again, long=long) == (0 if passes else dev.TESTS_FAILED)


def test_each_known_flaky_test_is_one_of_a_file_that_is_there(dev):
    for test in dev.known_flaky():
        file, _, name = test.partition("::")
        name = name.rpartition("::")[2].partition("[")[0]
        assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8"), test


def test_what_did_not_run_is_not_tried_again(dev, monkeypatch):
    statuses = iter([2])
    monkeypatch.setattr(dev, "call", lambda *_: next(statuses))
    assert dev.run_tests(long=False) == 2


@pytest.mark.parametrize("file", ["linux.py", "providers/model_file.py"])
def test_files_of_the_program_are_imported_before_there_is_an_environment(tmp_path, file):
    code = f"import dev; dev.load_by_path(dev.ROOT / 'app' / {file!r})"
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT / "packaging")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
