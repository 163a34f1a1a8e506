"""What the tests of the window get beside the rest: model hosts that need not load LiteLLM each time."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.children import host_process
from app.children.processes import MODEL_HOST, child_command, child_environment
from tests import host_stub
from tests.loaded_host import READY


@pytest.fixture(scope="session")
def _loaded_host() -> Iterator[str]:
    """Keep a loaded model host from the first test of the window on; yield where it is asked."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        command = [sys.executable, "-m", "tests.loaded_host", path]
        with subprocess.Popen(command, env=child_environment(), stdout=subprocess.PIPE) as loaded:
            assert loaded.stdout is not None
            assert loaded.stdout.readline() == READY
            yield path
            loaded.kill()


@pytest.fixture(autouse=True, scope="module")
def _split_hosts(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let windows have their model hosts from the loaded one; Linux alone can split it."""
    if sys.platform != "linux":
        yield
        return
    path = request.getfixturevalue("_loaded_host")

    def split_off(program: str) -> list[str]:
        if program == MODEL_HOST:
            return [sys.executable, "-I", "-S", host_stub.__file__, path]
        return child_command(program)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(host_process, "child_command", split_off)
        yield
