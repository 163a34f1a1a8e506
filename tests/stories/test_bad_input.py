"""Bad input on the command line: one clear line, exit 2 where nothing was started, data untouched."""

import json
import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app import __main__
from app.cli import running
from app.core.council import Participant
from app.core.events import MessageFinished, SessionStarted
from app.core.ids import new_id
from app.core.message import Author, Message, Role
from app.core.session import Debate, DebateSession, Status
from app.storage.access import WriterLock
from app.storage.lines import decode_line, encode_line
from app.storage.paths import DataPaths
from app.storage.sessions import JsonLogStore
from tests.stories.processes import COMMAND, PROJECT, Running, look
from tests.wire import WireServer, write_providers

PAIR = ("-p", "A=openai/gpt-5.2", "-p", "B=openai/gpt-5-mini")

# Python itself would leave half a compiled file where a file may not grow.
UNCOMPILED = {"PYTHONDONTWRITEBYTECODE": "1"}
# No word follows itself: LiteLLM takes that for a model that is stuck.
LONG = " ".join(f"word{number}" for number in range(300))


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Run a command line in this process: (status, lines of standard output, lines of standard error)."""

    def run(*arguments: str) -> tuple[int, list[str], list[str]]:
        monkeypatch.setattr(sys, "argv", ["moot", *arguments])
        status = __main__.main()
        out, err = capsys.readouterr()
        return status, out.splitlines(), err.splitlines()

    return run


@pytest.fixture
async def session_id(data_dir: Path) -> str:
    """A paused debate with one message, in the data directory."""
    paths = DataPaths(data_dir)
    lock = WriterLock(paths)
    lock.acquire()
    store = JsonLogStore(paths)
    ann = Participant(id=new_id(), name="Ann", provider="openai", model="gpt-5.2")
    ben = Participant(id=new_id(), name="벤", provider="openai", model="gpt-5-mini")
    session = DebateSession(
        id=new_id(),
        title="Kept",
        status=Status.PAUSED,
        created_at="2026-11-21T10:00:00.000Z",
        updated_at="2026-11-21T10:00:00.000Z",
        debate=Debate(topic="Kept", participants=(ann, ben)),
    )
    message = Message(
        id=new_id(),
        turn_id=new_id(),
        role=Role.ASSISTANT,
        author=Author(id=ann.id, name="Ann", kind="participant"),
        content="What was said.",
        round=1,
        created_at="2026-11-21T10:00:01.000Z",
    )
    store.append((SessionStarted(session_id=session.id, session=session),))
    store.append((MessageFinished(session_id=session.id, message=message),))
    await store.close()
    lock.release()
    return session.id


def kept(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder but the lock's and the index, which is a cache."""
    ours = {"lock", "lock.holder", "index.json"}
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ours
    }


@pytest.mark.threat("T16")
@pytest.mark.corpus(27, 28, 29, 30, 54, 55)
@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["debate", "", *PAIR], "topic"),
        (["debate", " \n\t ", *PAIR], "topic"),
        (["debate", "x" * 1_000_000, *PAIR], "1000000"),
        (["debate", "t", "-p", "A=openai/gpt-5.2"], "2"),
        (["debate", "t", *PAIR, "--rounds", "0"], "0"),
        (["debate", "t", *PAIR, "--rounds", "11"], "11"),
        (["debate", "t", *PAIR, "--rounds", "-1"], "-1"),
        (["debate", "t", *PAIR, "--rounds", "1000000000"], "1000000000"),
        (["debate", "t", *PAIR, "--rounds", "9" * 5000], "--rounds"),
        (["debate", "t", *PAIR, "--rounds", "three"], "three"),
        (["debate", "t", *PAIR, "--mode", "loud"], "loud"),
        (["debate", "t", "-p", "A=nobody/m", "-p", "B=openai/gpt-5.2"], "nobody"),
        (["debate", "t", "-p", "A=embedded/gpt-5.2", "-p", "B=openai/gpt-5.2"], "gpt-5.2"),
        (["debate", "t", "-p", "A=openai/gpt-5.2:agianst", *PAIR], "agianst"),
        (["debate", "t", "-p", "A=openai", *PAIR], "A=openai"),
        (["debate", "t", *PAIR, "--mode", "roles"], "A"),
        (["debate", "t", *PAIR, "--context", "/nowhere/notes.md"], "/nowhere/notes.md"),
        (["debate", "t", *PAIR, "--context", "/"], "/"),
        (["debate", "t", *PAIR, "--context", sys.executable], sys.executable),
        (["debate", "t", "-p", "[]:=openai/gpt-5.2", *PAIR], "name"),
        (["show", "../../etc/passwd"], "../../etc/passwd"),
        (["show", "/etc/passwd"], "/etc/passwd"),
        (["show", "C:\\x"], "C:\\x"),
        (["export", "CON", "--format", "md"], "CON"),
        (["delete", "nul.json"], "nul.json"),
        (["resume", "01m805kmw2bf1fxxf0v2q0jb90"], "01m805kmw2bf1fxxf0v2q0jb90"),
        (["reply", "01m805kmw2bf1fxxf0v2q0jb90", "x"], "01m805kmw2bf1fxxf0v2q0jb90"),
        (["stop", "a\nb\x1b[2J"], "a b"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_one_line_names_it_and_nothing_is_started(
    typed, data_dir: Path, session_id: str, arguments: list[str], names: str
) -> None:
    before = kept(data_dir)
    status, out, err = typed(*arguments)
    assert (status, out, len(err)) == (2, [], 1), err
    assert names in err[0]
    assert len(err[0]) < 600
    assert "\x1b" not in err[0]
    assert "Traceback" not in err[0]
    assert kept(data_dir) == before


@pytest.mark.corpus(1, 2, 17)
@pytest.mark.parametrize(
    ("content", "names"),
    [
        ('{"version": 1, "providers": [\n {"id": "openai", "kind": "openai", "base_url": "htp:/x"}]}', ":2"),
        ('{"version": 1, "providers": [\n {"id": "openai",', ":2"),
        ('{"version": 99, "providers": []}', "version"),
        ('{"version": 1,\n\n "providers": {}}', ":3"),
        ("", "providers.json"),
        ("\0" * 512, "providers.json"),
        ("[" * 100_000, "providers.json"),
        ("PK\x03\x04 not ours at all", "providers.json"),
    ],
    ids=["base url", "cut off", "newer", "wrong type", "empty", "NULs", "nested", "foreign"],
)
def test_a_bad_providers_file_is_named_and_kept(typed, data_dir: Path, content: str, names: str) -> None:
    data_dir.mkdir()
    (data_dir / "providers.json").write_text(content)
    before = kept(data_dir)
    status, _, err = typed("sessions")
    assert status == 0
    assert len(err) == 1
    assert names in err[0]
    assert "providers.json" in err[0]
    typed("debate", "", *PAIR)
    assert kept(data_dir) == before


@pytest.mark.parametrize("command", [("sessions",), ("providers",), ("doctor",), ("show",)])
def test_reading_leaves_a_bad_settings_file_to_its_owner(
    typed, data_dir: Path, session_id: str, command: tuple[str, ...]
) -> None:
    (data_dir / "settings.json").write_text('{"version": 1, "theme": ')
    lock = WriterLock(DataPaths(data_dir))
    lock.acquire()
    before = kept(data_dir)
    status, _, err = typed(*command, *([session_id] if command == ("show",) else []))
    lock.release()
    assert status == (command == ("doctor",))
    assert command == ("doctor",) or any("settings.json" in line for line in err)
    assert kept(data_dir) == before


@pytest.mark.corpus(1, 4, 5)
@pytest.mark.parametrize("damage", ["truncated", "bit flip", "NULs", "foreign", "empty"])
def test_a_damaged_session_hurts_no_other(typed, data_dir: Path, session_id: str, damage: str) -> None:
    log = data_dir / "sessions" / f"{session_id}.jsonl"
    whole = log.read_bytes()
    other = data_dir / "sessions" / f"{new_id()}.jsonl"
    middle = len(whole) // 2
    other.write_bytes(
        {
            "truncated": whole[: len(whole) - 40],
            "bit flip": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "NULs": whole[:middle] + b"\0" * 512 + whole[middle:],
            "foreign": b"GIF89a\x00\x01 not ours",
            "empty": b"",
        }[damage]
    )
    before = kept(data_dir)
    status, out, _ = typed("sessions", "--json")
    assert status == 0
    assert session_id in out[0]
    assert typed("show", session_id)[0] == 0
    status, _, err = typed("show", other.stem)
    assert status in {0, 2}
    assert len(err) <= 1
    assert kept(data_dir) == before


@pytest.mark.corpus(13)
def test_a_session_of_a_newer_version_is_only_read(typed, data_dir: Path, session_id: str) -> None:
    log = data_dir / "sessions" / f"{session_id}.jsonl"
    first, *rest = log.read_bytes().splitlines(keepends=True)
    line = decode_line(first.rstrip(b"\n"))
    assert line is not None
    head = next(op for op in line.ops if "min_reader" in op)
    head["min_reader"] = 99
    log.write_bytes(encode_line(line.number, line.ops) + b"".join(rest))
    before = kept(data_dir)
    status, _, err = typed("reply", session_id, "hello")
    assert (status, len(err)) == (2, 1)
    assert kept(data_dir) == before
    assert json.loads(typed("show", session_id, "--json")[1][0])["messages"][0]["content"] == "What was said."


@pytest.mark.parametrize("place", ["a file", "below a file", "/proc/moot"])
def test_a_data_directory_that_cannot_be_one(typed, tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("mine")
    folder = {"a file": tmp_path / "file", "below a file": tmp_path / "file" / "x"}.get(place, Path(place))
    status, out, err = typed("debate", "t", *PAIR, "--data-dir", str(folder))
    assert (status, out, len(err)) == (2, [], 1)
    assert str(folder if place == "/proc/moot" else tmp_path / "file") in err[0]
    assert (tmp_path / "file").read_text() == "mine"
    doctor = typed("doctor", "--data-dir", str(folder))
    assert doctor[0] == (1 if place == "/proc/moot" else 2)


@pytest.mark.corpus(64)
def test_a_read_only_directory(typed, data_dir: Path, session_id: str) -> None:
    before = kept(data_dir)
    for folder in (data_dir / "sessions", data_dir):
        folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        if os.access(data_dir, os.W_OK):
            pytest.skip("nothing is read-only for root")
        assert typed("show", session_id)[0] == 0
        status, _, err = typed("debate", "t", *PAIR)
        assert (status, len(err)) == (2, 1)
    finally:
        for folder in (data_dir, data_dir / "sessions"):
            folder.chmod(stat.S_IRWXU)
    assert kept(data_dir) == before


@pytest.mark.corpus(64)
def test_a_full_disk_at_the_start_starts_nothing(data_dir: Path, session_id: str) -> None:
    before = kept(data_dir)
    done = subprocess.run(
        [*COMMAND, "debate", "t", *PAIR],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | UNCOMPILED,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200, 200)),
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    after = kept(data_dir)
    assert {name: after[name] for name in before} == before
    assert [one["id"] for one in look("sessions", "--json").json] == [session_id]


@pytest.mark.corpus(64)
def test_a_disk_that_fills_up_pauses_the_debate(data_dir: Path) -> None:
    with WireServer("openai") as server:
        environment = write_providers(data_dir, [server])
        for model in server.models:
            server.script(model, lambda _request: LONG)
        pair = ("-p", "A=openai/openai-wire", "-p", "B=openai/openai-other")
        limit = (8_000, 8_000)
        with Running(
            "debate", "t", *pair, "--rounds", "9", "--json", environment=environment | UNCOMPILED,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
        ) as debate:  # fmt: skip
            done = debate.finish(60)
    assert done.status == 4, done.err
    assert "Traceback" not in done.err
    assert any(event["event"] == "notice" and event["level"] == "error" for event in done.events)
    shown = look("show", done.events[0]["session_id"], "--json").json
    assert shown["status"] == "paused"
    assert shown["messages"][0]["content"] == LONG


@pytest.mark.corpus(64)
def test_a_second_instance_that_nobody_answers(
    typed, data_dir: Path, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "_HAND_OVER_TRIES", 3)
    lock = WriterLock(DataPaths(data_dir))
    lock.acquire()
    before = kept(data_dir)
    status, out, err = typed("debate", "t", *PAIR)
    lock.release()
    assert (status, out, len(err)) == (2, [], 1)
    assert str(data_dir) in err[0]
    assert kept(data_dir) == before


@pytest.mark.slow
@pytest.mark.corpus(63)
def test_a_clock_that_jumps_changes_no_order(data_dir: Path, session_id: str) -> None:
    program = (
        "import sys, time, runpy; now = time.time; ahead = float(sys.argv.pop(1))\n"
        "time.time = lambda: now() + ahead\n"
        "runpy.run_module('app', run_name='__main__', alter_sys=True)\n"
    )
    said = [("0", "first"), ("-86400", "second"), ("315360000", "third"), ("0", "fourth")]
    for ahead, text in said:
        command = [sys.executable, "-c", program, ahead, "reply", session_id, text]
        done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
    shown = look("show", session_id, "--json").json
    assert [message["content"] for message in shown["messages"]] == [
        "What was said.",
        *(text for _, text in said),
    ]


def test_ctrl_c_while_another_holds_the_directory(data_dir: Path, session_id: str) -> None:
    lock = WriterLock(DataPaths(data_dir))
    lock.acquire()
    with Running("reply", session_id, "hello") as reply:
        assert not reply.wait_for(lambda: bool(reply.errors), 1.5)
        reply.send(signal.SIGINT)
        done = reply.finish(10)
    lock.release()
    assert (done.status, len(done.err.splitlines())) == (4, 1)


def test_the_doctor_names_what_is_wrong_and_what_helps(
    typed, data_dir: Path, session_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_MODEL", "/nowhere/model.gguf")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-doctor-0123456789")
    (data_dir / "providers.json").write_text('{"version": 1,\n "providers": [{"id": "x", "kind": "fax"}]}')
    lock = WriterLock(DataPaths(data_dir))
    lock.acquire()
    held = typed("doctor", "--json")
    lock.release()
    (data_dir / "providers.json").unlink()
    free = typed("doctor")
    assert (held[0], free[0]) == (1, 1)
    findings = {(one["check"], one["found"]): one for one in json.loads(held[1][0])}
    problems = {check for (check, _), one in findings.items() if not one["ok"]}
    assert {"keyring", "model", "files"} <= problems
    assert all(one["remedy"] for (check, _), one in findings.items() if check in {"keyring", "model"})
    assert any("providers.json:2" in found for check, found in findings if check == "files")
    assert [found for check, found in findings if check == "lock"] != []
    assert any(line.startswith("ok") and "openai" in line and "environment" in line for line in free[1])
    assert any(line.startswith("not used") and "anthropic" in line and "no key" in line for line in free[1])
    assert "sk-canary" not in "".join(held[1] + free[1])
