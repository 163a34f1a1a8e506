"""The X server ends under a working window, and Moot works under weston: no traceback, and nothing is lost."""

import signal

import pytest

from tests.desktop.desktops import desktop, missing, wait
from tests.stories.processes import Running, moot
from tests.wire import Answer
from tests.wire.fixtures import wire_home, wire_servers  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.desktop]
NO_X = missing("Xvfb")


@pytest.mark.skipif(bool(NO_X), reason=NO_X)
def test_what_runs_is_paused_and_saved_when_the_x_server_ends(data_dir, wire_home, wire_servers):  # noqa: F811
    for server in wire_servers.values():
        for model in server.models:
            server.script(model, lambda _request: Answer("one two three four five six seven", pace=0.05))
    with desktop() as desk:
        screen = desk.start_screen()
        environment = {name: desk.environment[name] for name in ("DISPLAY", "XDG_RUNTIME_DIR")}
        environment["QT_QPA_PLATFORM"] = "xcb"
        with Running("--lang", "en", environment=environment) as window:
            wait(lambda: (data_dir / "control").exists(), "the working window")
            # The window's process runs it.
            speakers = [
                f"-p={kind}={kind}/{wire_servers[kind].models[0]}" for kind in ("openai", "anthropic")
            ]
            with Running("debate", "Is it so?", *speakers, "--rounds", "10", "--json") as debate:
                debate.event("message.finished", count=3)
                screen.kill()
                ended = window.finish()
        assert ended.status == 1
        assert "Traceback" not in ended.err, ended.err
        assert not (data_dir / "control").exists()
        # Paused by the end of Moot and written down so, not only found so at the next start.
        [log] = (data_dir / "sessions").glob("*.jsonl")
        assert '"status": "paused"' in log.read_text("utf-8").replace('":"', '": "')
        doctor = moot("doctor", "--lang", "en")
        assert "not held by another process" in doctor.out


NO_WESTON = missing("weston")


@pytest.mark.skipif(bool(NO_WESTON), reason=NO_WESTON)
def test_the_window_works_under_weston_and_ends_with_it(data_dir):
    with desktop() as desk:
        weston = desk.start(
            "weston", "--backend=headless-backend.so", "--socket=wayland-moot", "--idle-time=0"
        )
        socket = desk.folder / "xdg_runtime_dir" / "wayland-moot"
        wait(socket.exists, "weston")
        desk.environment |= {"WAYLAND_DISPLAY": "wayland-moot", "QT_QPA_PLATFORM": "wayland"}
        for ends in (signal.SIGTERM, signal.SIGKILL):
            with Running("--lang", "en", environment=desk.environment) as running:
                wait(lambda: (data_dir / "control").exists(), "the working window")
                if ends == signal.SIGTERM:
                    running.send(ends)
                    assert running.finish().status == 0
                else:
                    weston.kill()
                    ended = running.finish()
                    assert "Traceback" not in ended.err, ended.err
                    assert ended.status != 0
