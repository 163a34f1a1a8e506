"""`packaging/dev.py`: what it asks of a machine, and that it says so instead of failing later."""

import importlib.util
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


def test_a_test_that_passes_on_the_second_try_is_listed_and_counted(dev, tmp_path, monkeypatch, capsys):
    failed = tmp_path / ".pytest_cache" / "v" / "cache" / "lastfailed"
    failed.parent.mkdir(parents=True)
    commands = []

    def call(command, extra=None):
        commands.append([str(word) for word in command])
        once_more = "--last-failed" in commands[-1]
        failed.write_text('{"a::broken": true}' if once_more else '{"a::broken": true, "a::unsure": true}')
        return dev.TESTS_FAILED

    monkeypatch.setattr(dev, "ROOT", tmp_path)
    monkeypatch.setattr(dev, "call", call)
    assert dev.run_tests(long=False) == dev.TESTS_FAILED
    assert dev.run_tests(long=True) == dev.TESTS_FAILED
    assert ["--last-failed" in command for command in commands] == [False, True, False, True]
    assert (tmp_path / "build" / "flaky.txt").read_text() == "2 a::unsure\n"
    assert "flaky (2 times so far): a::unsure" in capsys.readouterr().out


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
