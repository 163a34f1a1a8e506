"""Fixtures: hosts, and `moot` itself, that are split off loaded ones, for the folders of tests that start many.

A `conftest.py` that imports them gives them to its folder. A test or file marked `own_host` starts all as
users do, which takes seconds; a few of each folder do.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from app.children import host_client
from app.children.processes import MODEL_HOST, TOOL_HOST, child_command, child_environment
from tests.app_with_loaded_host import split_off
from tests.loaded_host import MOOT, READY
from tests.stories import processes

APP = processes.COMMAND
# What a worker of pytest-xdist is told by this name.
SHARED = "loaded"


@contextmanager
def _loaded(folder: str, program: str) -> Iterator[None]:
    command = [sys.executable, "-m", "tests.loaded_host", str(Path(folder, program)), program]
    with subprocess.Popen(command, env=child_environment(), stdout=subprocess.PIPE) as loaded:
        assert loaded.stdout is not None
        try:
            assert loaded.stdout.readline() == READY
            yield
        finally:
            # Leaving the block waits for it, for ever where it is stuck.
            loaded.kill()


@contextmanager
def loaded_for_all() -> Iterator[str]:
    """Keep a loaded host of each kind, and a loaded `moot`, for all workers of a run; yield the folder where to ask.

    Each loads when it is asked first.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        for program in (TOOL_HOST, MODEL_HOST, MOOT):
            stack.enter_context(_loaded(folder, program))
        yield folder


@pytest.fixture(scope="session")
def loaded_tool_host(pytestconfig: pytest.Config) -> Iterator[str]:
    """Keep a loaded tool host from the first test on that wants one; yield the folder where it is asked."""
    if folder := _shared(pytestconfig):
        yield folder
        return
    with tempfile.TemporaryDirectory() as folder, _loaded(folder, TOOL_HOST):
        yield folder


@pytest.fixture(scope="session")
def loaded_host(pytestconfig: pytest.Config, loaded_tool_host: str) -> Iterator[str]:
    """Keep a loaded model host as well, and a loaded `moot`."""
    if _shared(pytestconfig):
        yield loaded_tool_host
        return
    with _loaded(loaded_tool_host, MODEL_HOST), _loaded(loaded_tool_host, MOOT):
        yield loaded_tool_host


def _shared(config: pytest.Config) -> str:
    """Return the folder of what is loaded for all workers, "" where this is no worker."""
    return str(getattr(config, "workerinput", {}).get(SHARED, ""))


@pytest.fixture(autouse=True, scope="module")
def split_hosts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let this process, and the `moot` it starts, have their hosts from the loaded ones (Linux only)."""
    yield from _split(request, "loaded_host")


@pytest.fixture(autouse=True, scope="module")
def split_tool_hosts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let this process have its tool hosts from the loaded one, for files that need no model host."""
    yield from _split(request, "loaded_tool_host")


def _split(request: pytest.FixtureRequest, loaded: str) -> Iterator[None]:
    built = request.config.pluginmanager.hasplugin("tests.built_children")
    if sys.platform != "linux" or built or request.node.get_closest_marker("own_host"):
        yield
        return
    folder = request.getfixturevalue(loaded)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_client, "child_command", split_off(folder))
        patch.setattr(processes, "COMMAND", [sys.executable, "-m", "tests.app_with_loaded_host", folder])
        patch.setattr(processes, "LOADED", [str(Path(folder, MOOT))] if loaded == "loaded_host" else [])
        yield


@pytest.fixture(autouse=True)
def own_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test that is marked so start its hosts as users do."""
    if request.node.get_closest_marker("own_host"):
        monkeypatch.setattr(host_client, "child_command", child_command)
        monkeypatch.setattr(processes, "COMMAND", APP)
        monkeypatch.setattr(processes, "LOADED", [])
