"""Fixtures: model hosts that are split off a loaded one, for the folders of tests that start many.

A `conftest.py` that imports both gives them to its folder. A test or file marked `own_host` starts its host as
users do, which takes seconds; a few of each folder do.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.children import host_client
from app.children.processes import child_command, child_environment
from tests.app_with_loaded_host import split_off
from tests.loaded_host import READY
from tests.stories import processes

APP = processes.COMMAND


@pytest.fixture(scope="session")
def loaded_host() -> Iterator[str]:
    """Keep a loaded model host from the first test on that wants one; yield the socket where it is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        command = [sys.executable, "-m", "tests.loaded_host", path]
        with subprocess.Popen(command, env=child_environment(), stdout=subprocess.PIPE) as loaded:
            assert loaded.stdout is not None
            assert loaded.stdout.readline() == READY
            yield path
            loaded.kill()


@pytest.fixture(autouse=True, scope="module")
def split_hosts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let this process, and the `moot` it starts, have their model hosts from the loaded one (Linux only)."""
    built = request.config.pluginmanager.hasplugin("tests.built_children")
    if sys.platform != "linux" or built or request.node.get_closest_marker("own_host"):
        yield
        return
    path = request.getfixturevalue("loaded_host")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_client, "child_command", split_off(path))
        patch.setattr(processes, "COMMAND", [sys.executable, "-m", "tests.app_with_loaded_host", path])
        yield


@pytest.fixture(autouse=True)
def own_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a test that is marked so start its model host as users do."""
    if request.node.get_closest_marker("own_host"):
        monkeypatch.setattr(host_client, "child_command", child_command)
        monkeypatch.setattr(processes, "COMMAND", APP)
