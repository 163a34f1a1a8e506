"""The built program used as a person without a key does, over the accessibility bus: a debate by clicks alone.

Skipped where nothing was built: `packaging/dev.py build --folder`.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.screen_reader import Node, desktop, missing, wait

BUILT = Path(__file__).resolve().parents[2] / "build" / "dist" / "moot" / "moot"
TOPIC = "Should cities ban private cars from their centres?"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.skipif(not BUILT.is_file(), reason="nothing is built"),
    pytest.mark.skipif(bool(missing()), reason=missing()),
]


def ended(one: Node) -> bool:
    """Say whether this is the row of a debate that came to its end."""
    return one.name.startswith(f"Debate: {TOPIC}, Completed")


def test_a_decision_with_the_built_in_model_by_clicks_alone(home: Path) -> None:
    with desktop() as (bus, environment):
        plain = {"HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8"}
        with subprocess.Popen([BUILT, "--lang", "en"], env=plain | environment) as process:
            try:
                program = wait(lambda: bus.desktop.children, "the window", 90)[0]
                program.find("check box", "Decide").press()
                program.find("text", "What do you have to decide?").write(TOPIC)
                program.find("push button", "Send").press()
                wait(lambda: any(ended(one) for one in program.all()), "the end", 240)
                process.terminate()
                assert process.wait(60) == 0
            finally:
                process.kill()
