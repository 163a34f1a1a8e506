"""From an empty home to the first debate with a model of the catalogue, with the mouse alone, on a real screen.

The hub is on loopback; its file is the built-in model's under another name.
"""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from app.providers.model_file import find_model
from tests.desktop.desktops import missing as lacking
from tests.desktop.user import MouseUser
from tests.screen_reader import desktop, missing
from tests.stories.processes import Running
from tests.wire.hub import catalogue_entry, hub

NEEDED = missing() or lacking("xdotool", "xclip", "openbox") or ("" if find_model() else "needs the model")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.desktop,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(NEEDED), reason=NEEDED),
]
COMMAND = [sys.executable, "-m", "tests.desktop.own_catalogue"]


def test_the_first_debate_with_a_model_of_the_catalogue(tmp_path: Path) -> None:
    content = Path(str(find_model())).read_bytes()
    with hub(content) as served, desktop("openbox", "--sm-disable") as (bus, environment):
        # It would ramble for minutes.
        entry = catalogue_entry("tiny", served, options={"n_predict": 40})
        catalogue = tmp_path / "catalogue.json"
        catalogue.write_text(json.dumps([entry]))
        environment = os.environ | environment
        with Running(str(catalogue), environment=environment, command=COMMAND) as running:
            user = MouseUser(bus, environment)
            user.uses("Get a better free model")
            user.writes("Download from", f"{served.address}/ok")
            user.uses("Download", "push button")
            user.reads("Installed")
            user.uses("Close", "push button")
            user.uses("Decide", "check box", inside="What to begin")
            user.finds("tiny takes part")
            user.finds("tiny 2 takes part")
            user.writes("What do you have to decide?", "Should the library open on Sundays?")
            user.uses("How: Answers first")
            user.uses("Round robin", "menu item")
            user.uses("Send", "push button")
            user.reads("Round 2 of 3", seconds=120)
            running.send(signal.SIGTERM)
            assert running.finish().status == 0
        assert served.asked["ok"]
