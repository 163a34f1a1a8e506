"""The window on a small screen at the scales that desktops offer: all of it can be reached."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.repeats import slow_after

SCREENS = {"1": (1366, 768), "1.5": (1366, 768), "2": (1366, 768), "1.25": (1920, 1080)}


@pytest.mark.slow
@pytest.mark.parametrize(
    "scale",
    slow_after(1, [("1.5",), ("1",), ("1.25",), ("2",)]),
)
def test_the_window_fits_the_screen_at_every_scale(scale: str, tmp_path: Path) -> None:
    width, height = SCREENS[scale]
    screens = {"screens": [{"name": "small", "x": 0, "y": 0, "width": width, "height": height}]}
    config = tmp_path / "screens.json"
    config.write_text(json.dumps(screens), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tests.gui.fits_the_screen", str(tmp_path / "data")],
        env=os.environ | {"QT_QPA_PLATFORM": f"offscreen:configfile={config}", "QT_SCALE_FACTOR": scale},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    left, top, right, bottom = found["room"]
    assert found["frame"][0] >= left and found["frame"][1] >= top
    assert found["frame"][2] <= right and found["frame"][3] <= bottom, found
    assert all(found["reached"]), found
    # Where there is no room for 900 × 600, the rest is scrolled.
    assert found["scrolls"] == [scale in {"1.5", "2"}] * 2, found
