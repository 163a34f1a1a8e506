"""What every test gets: an offscreen Qt, a home of its own, no network, and guards.

A test fails when it leaves a task, thread, timer, window or child process behind, blocks the
event loop from our own code, or logs a warning nobody expected (`tests/guards.py`).
"""

import asyncio
import faulthandler
import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping

# asyncio loads it late otherwise, and the guard of the loop takes that for a blocking call of ours.
from concurrent.futures import ThreadPoolExecutor  # noqa: F401
from contextlib import ExitStack
from pathlib import Path
from typing import Any

# Before Qt, keyring or the llama.cpp runtime are imported anywhere.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.fonts=false")
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
os.environ["OMP_WAIT_POLICY"] = "passive"
# As the model host has it: LiteLLM fetches a table from the network otherwise, and warns when that fails.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
# As in a terminal in which the environment is active: texts then call the command by its name.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
# The child processes of the tests import LiteLLM again and again: compiled files make that quick.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
for _name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("MOOT_")]:
    if _name not in {"MOOT_MODEL", "MOOT_TIMES", "MOOT_KILLS_SEED", "MOOT_SEED"}:
        del os.environ[_name]

import pytest  # noqa: E402
from blockbuster import blockbuster_ctx  # noqa: E402

from tests import guards  # noqa: E402

_BLOCKED_LOOP_FOLDERS = ("engine", "storage", "providers", "tools")
_RUNNER = "_function_scoped_runner"
_STDERR = pytest.StashKey[int]()
_SHARED = pytest.StashKey[ExitStack]()
_FOLDER = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    """Keep the standard error stream: pytest redirects it while a test runs."""
    config.stash[_STDERR] = os.dup(2)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let the workers of pytest-xdist share the hosts that are loaded for the tests (Linux only)."""
    from tests import split_hosts

    if sys.platform != "linux":
        return
    if _SHARED not in node.config.stash:
        stack = node.config.stash[_SHARED] = ExitStack()
        node.config.stash[_FOLDER] = stack.enter_context(split_hosts.loaded_for_all())
    node.workerinput[split_hosts.SHARED] = node.config.stash[_FOLDER]


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what the workers have shared."""
    if _SHARED in config.stash:
        config.stash[_SHARED].close()


def pytest_collection_finish() -> None:
    """Leave what was imported out of the garbage collector: it is looked through after every test."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """End the process of a test that nothing else ends, and show where each of its threads is.

    The signal of pytest-timeout waits for Python to run, and in a deadlock it never does.
    """
    stderr = item.config.stash[_STDERR]
    faulthandler.dump_traceback_later(1.25 * _time_limit(item), exit=True, file=stderr)
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


def _time_limit(item: pytest.Item) -> float:
    """Return how many seconds a test may take."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0] if marker else item.config.getini("timeout"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Escape surrogates in a report: pytest-xdist sends it as UTF-8 and ends the whole run where it can't."""
    report = yield
    text = str(report.longrepr or "")
    if not _encodable(text):
        report.longrepr = text.encode("utf-8", "backslashreplace").decode("utf-8")
    report.sections = [
        (name, words.encode("utf-8", "backslashreplace").decode("utf-8")) for name, words in report.sections
    ]
    return report


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Run tests that use Qt on the window's own event loop, the others on the standard one."""
    if {"qtbot", "qapp"} & set(getattr(item, "fixturenames", ())):
        return {"qt": _qt_loop}
    return {"std": asyncio.new_event_loop}


def _qt_loop() -> asyncio.AbstractEventLoop:
    from PySide6.QtWidgets import QApplication

    from app.gui.desktop.event_loop import AppLoop

    application = QApplication.instance() or QApplication(["moot-tests"])
    application.setQuitOnLastWindowClosed(False)
    return AppLoop(application)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a home directory of its own, for it and its child processes."""
    home = tmp_path / "home"
    home.mkdir()
    runtime = home / "run"
    runtime.mkdir(mode=0o700)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    for name in ("DATA", "CONFIG", "CACHE", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
    return home


@pytest.fixture(autouse=True)
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty data directory of this test; it is the default one for its processes."""
    folder = tmp_path / "data"
    monkeypatch.setenv("MOOT_DATA_DIR", str(folder))
    return folder


@pytest.fixture
def few_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the doctor leave out the packages that take seconds to import; tests/test_doctor.py has them imported."""
    from app.cli.commands import doctor

    monkeypatch.setattr(doctor, "_PACKAGES", {"msgspec": "msgspec"})


@pytest.fixture(autouse=True, scope="module")
def _plain_style() -> Iterator[None]:
    """Take the window's style off the application after a file: widgets of the next one are tested plain."""
    yield
    if "PySide6.QtWidgets" not in sys.modules:
        return
    from PySide6.QtGui import QPalette
    from PySide6.QtWidgets import QApplication

    application = QApplication.instance()
    if isinstance(application, QApplication) and application.styleSheet():
        application.setStyleSheet("")
        application.setPalette(QPalette())


@pytest.fixture(autouse=True)
def _no_leftovers(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that leaves something running behind."""
    loop = None
    if _RUNNER in request.fixturenames:
        # Asking for it here makes it outlive the test's other fixtures, so that we look at a
        # loop that is not closed (closing cancels every task and hides what was left).
        loop = request.getfixturevalue(_RUNNER).get_loop()
    qt = bool({"qtbot", "qapp"} & set(request.fixturenames))
    before = guards.Snapshot.take(qt=qt)
    yield
    left = before.leftovers(loop)
    if left:
        pytest.fail("left behind by the test: " + "; ".join(left), pytrace=False)


@pytest.fixture(autouse=True)
def _no_endless_wait(request: pytest.FixtureRequest) -> Iterator[None]:
    """End a test that waits for ever on the window's loop, and show where.

    While Qt waits no Python runs, so that the signal of pytest-timeout is not seen there.
    """
    if _RUNNER not in request.fixturenames or not {"qtbot", "qapp"} & set(request.fixturenames):
        yield
        return
    loop = request.getfixturevalue(_RUNNER).get_loop()
    alarm = loop.call_later(0.9 * _time_limit(request.node), _give_up, loop, request.config.stash[_STDERR])
    yield
    alarm.cancel()


def _give_up(loop: asyncio.AbstractEventLoop, stderr: int) -> None:
    tasks = asyncio.all_tasks(loop)
    # What the test itself writes is lost where it can't be ended.
    with open(stderr, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as file:
        for task in tasks:
            task.print_stack(file=file)
    for task in tasks:
        task.cancel("the test waited too long")


@pytest.fixture(autouse=True)
def _no_unexpected_logs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the test that logs a warning or worse, unless it is marked `allow_logs`."""
    with guards.collected_logs() as lines:
        yield
    if lines and request.node.get_closest_marker("allow_logs") is None:
        pytest.fail("unexpected log lines:\n" + "\n".join(lines), pytrace=False)


@pytest.fixture(autouse=True)
def _no_blocked_loop(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail the engine, storage, provider or tool test whose event loop our own code blocks."""
    free = request.node.get_closest_marker("allow_blocking") is not None
    if request.path.parent.name not in _BLOCKED_LOOP_FOLDERS or _RUNNER not in request.fixturenames or free:
        yield
        return
    with blockbuster_ctx(["app"]) as blockbuster:
        for function in blockbuster.functions.values():
            # PySide, of which the programs tested here know nothing, looks at what a library imports late.
            function.can_block_in("shibokensupport/feature.py", {"_mod_uses_pyside"})
        yield
