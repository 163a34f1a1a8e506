"""What consent to a server is bound to: whatever would make it another program, or another tool."""

from dataclasses import replace

import pytest

from app.core.tool import McpServer

SERVER = McpServer(
    name="files",
    command="npx",
    args=("-y", "server@1.2.3", "/home"),
    env={"TOKEN": "${secret:files}"},
    cwd="/home",
)


@pytest.mark.threat("T12")
@pytest.mark.parametrize(
    "change",
    [
        {"command": "/tmp/npx"},
        {"args": ("-y", "server@1.2.4", "/home")},
        {"args": ("-y server@1.2.3", "/home")},
        {"args": ("server@1.2.3", "-y", "/home")},
        {"args": ()},
        {"env": {"TOKEN": "${secret:files}", "LD_PRELOAD": "/tmp/x.so"}},
        {"env": {}},
        {"cwd": "/"},
        {"url": "https://example.org/mcp"},
        {"headers": {"Authorization": "x"}},
    ],
    ids=str,
)
def test_a_change_of_what_runs_is_another_server(change: dict[str, object]) -> None:
    assert replace(SERVER, **change).fingerprint != SERVER.fingerprint


@pytest.mark.threat("T12")
def test_a_name_a_switch_and_a_key_are_no_other_server() -> None:
    same = replace(SERVER, name="other", disabled=True, env={"TOKEN": "${secret:other}"})
    assert same.fingerprint == SERVER.fingerprint


LOADERS = ("NODE_OPTIONS", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "PATH", "PYTHONPATH")


@pytest.mark.threat("T12")
@pytest.mark.parametrize("name", [*LOADERS, "PYTHONSTARTUP", "Path"])
def test_another_value_of_a_variable_that_decides_what_runs_is_another_server(name: str) -> None:
    one, other = (replace(SERVER, env={**SERVER.env, name: value}) for value in ("/a", "/b"))
    assert one.fingerprint != other.fingerprint
    assert one.loaders == {name: "/a"}


def test_consents_of_before_hold() -> None:
    assert SERVER.fingerprint == "df66fe267aea88a88d588ff0d718e04a1765d47adec37f0f8d361428b8a2d483"
