"""Lets tests run with the child programs of the build in place of those of the checkout.

A plug-in of pytest, for what is left out of a build by mistake: `pytest -p tests.built_children FILES`.
"""

from pathlib import Path

from app.children import processes

BUILT = Path(__file__).resolve().parents[1] / "build" / "dist" / "moot" / "moot"


def child_command(program: str) -> list[str]:
    """Return the command that runs a child program of the build."""
    from tests.built_children import BUILT

    return [str(BUILT), "--" + program.rpartition(".")[2].replace("_", "-")]


assert BUILT.is_file(), "there is no build: run packaging/dev.py build"
# Its code and not its name: whoever uses it has it by name already.
processes.child_command.__code__ = child_command.__code__
