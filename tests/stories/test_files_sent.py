"""Files on the command line: `ask --file` sends texts, documents and images, or nothing if one cannot be read."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QImage

from tests.files.documents import a_locked_pdf, a_pdf, write_all
from tests.stories.processes import look, moot
from tests.stories.test_ask import call, openai, wire_home, wire_servers
from tests.wire import Answer, Fault, WireServer
from tests.wire.providers_file import write_providers
from tests.wire.server import Recorded

__all__ = ["openai", "wire_home", "wire_servers"]


def sent(server: WireServer) -> str:
    """Return the messages of the last request as text."""
    return json.dumps(server.requests[-1].body["messages"], ensure_ascii=False)


def test_files_of_all_kinds_are_sent_along(openai: WireServer, tmp_path: Path) -> None:
    write_all(tmp_path)
    picture = QImage(2_000, 1_000, QImage.Format.Format_RGB32)
    picture.fill(0x336699)
    assert picture.save(str(tmp_path / "chart.png"))
    names = ("report.pdf", "report.docx", "report.hwpx", "chart.png")
    openai.script("openai-wire", ["Read."])
    files = [word for name in names for word in ("--file", str(tmp_path / name))]
    done = moot("ask", "guide", "What is in them?", *files, "--json")
    assert (done.status, done.err) == (0, "")
    kept = look("show", done.events[0]["session_id"], "--json").json["messages"][0]["attachments"]
    assert [one["name"] for one in kept] == list(names)
    assert "분기 보고" in kept[1]["text"] and kept[3]["media_type"] == "image/png"
    asked = sent(openai)
    for words in ("[page 2]", "Seoul and others", "분기 보고", "data:image/png;base64,"):
        assert words in asked
    session_id = done.events[0]["session_id"]
    more = moot("reply", session_id, "And here?", "--file", str(tmp_path / "report.xlsx"), "--json")
    assert (more.status, more.err) == (0, "")
    kept = look("show", session_id, "--json").json["messages"][2]["attachments"]
    assert [one["name"] for one in kept] == ["report.xlsx"] and kept[0]["text"] in json.loads(sent(openai))[
        -1
    ]["content"]


def test_a_pdf_is_sent_as_it_looks_to_models_that_see(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.pdf"
    path.write_bytes(a_pdf(["Sales rose", "and fell"]))
    kinds = {"anthropic": "claude-opus-4-5", "openai": "gpt-nobody-knows", "deepseek": "deepseek-chat"}
    servers = {kind: WireServer(kind, models=(model,)).start() for kind, model in kinds.items()}
    for name, value in write_providers(data_dir, servers.values()).items():
        monkeypatch.setenv(name, value)
    (data_dir / "assistants").mkdir()
    for kind, model in kinds.items():
        one = {"version": 1, "id": kind, "name": kind, "provider": kind, "model": model}
        (data_dir / "assistants" / f"{kind}.json").write_text(json.dumps(one), encoding="utf-8")
    given = ("What is in it?", "--file", str(path), "--as-it-looks", "--lang", "en")
    try:
        assert (moot("ask", "anthropic", *given).status, moot("ask", "openai", *given).status) == (0, 0)
        (native,), (pictured,) = servers["anthropic"].requests, servers["openai"].requests
        assert native.messages[0].images == ("application/pdf",) and "Sales" not in sent(servers["anthropic"])
        assert pictured.messages[0].images == ("image/jpeg",) * 2
        assert "report.pdf" in pictured.messages[0].text and "Sales" not in pictured.messages[0].text
        refused = moot("ask", "deepseek", *given)
        assert (refused.status, servers["deepseek"].requests) == (2, [])
        assert "neither PDF files nor images" in refused.err
    finally:
        for server in servers.values():
            server.close()


FOUR = {
    "anthropic": "claude-opus-4-5",
    "gemini": "gemini-2.5-pro",
    "openai": "gpt-nobody-knows",
    "deepseek": "deepseek-chat",
}


@pytest.fixture
def four(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, WireServer]]:
    """Providers of which two take PDF files, one takes images, and one takes neither."""
    servers = {kind: WireServer(kind, models=(model,)).start() for kind, model in FOUR.items()}
    for name, value in write_providers(data_dir, servers.values()).items():
        monkeypatch.setenv(name, value)
    yield servers
    for server in servers.values():
        server.close()


@pytest.mark.parametrize(
    "given",
    [
        ("debate", "Ban cars?", "--rounds", "2", "--context"),
        ("council", "Ban cars?", "--no-differences", "--file"),
    ],
)
def test_each_participant_is_sent_a_pdf_as_its_model_takes_it(
    four: dict[str, WireServer], data_dir: Path, tmp_path: Path, given: tuple[str, ...]
) -> None:
    path = tmp_path / "cars.pdf"
    path.write_bytes(a_pdf(["Sales rose", "and fell"]))
    people = [word for kind, model in FOUR.items() for word in ("-p", f"{kind}={kind}/{model}")]
    done = moot(*given, str(path), *people, "--as-it-looks", "--json")
    assert (done.status, done.err) == (0, "")
    session_id = done.events[0]["session_id"]
    images = {
        "anthropic": ("application/pdf",),
        "gemini": ("application/pdf",),
        "openai": ("image/jpeg",) * 2,
    }
    for kind, server in four.items():
        first, *others = server.requests
        assert len(others) == (given[0] == "debate")
        for request in server.requests:
            begins, *more = request.messages
            assert begins.images == images.get(kind, ()) and not any(one.images for one in more)
            assert "cars.pdf" in begins.text and ("Sales rose" in begins.text) is (kind == "deepseek")
        for other in others:
            # What was sent is sent again as it was, so that the provider's cache has it.
            assert _beginning(other.body) == _beginning(first.body)
    data = base64.b64encode(path.read_bytes()).decode()
    (log,) = [
        one
        for one in data_dir.rglob("*")
        if one.is_file() and session_id in one.name and data in one.read_text()
    ]
    assert log.read_text().count(data) == 1
    moved = tmp_path / "moved.json"
    assert moot("export", session_id, "--format", "json", "--output", str(moved)).status == 0
    assert data in moved.read_text()
    copy = moot("import", str(moved), "--with-context", "--json")
    assert (copy.status, copy.err) == (0, "")
    [besides] = copy.json[0]["besides"]
    assert besides.startswith("Files: cars.pdf (")
    assert sum(data in one.read_text() for one in log.parent.glob(f"*{log.suffix}")) == 2


def _beginning(body: dict[str, Any]) -> list[Any]:
    """Return the parts of the first message that were seen, and the brief."""
    messages = body.get("messages") or body["contents"]
    first = next(one for one in messages if one["role"] == "user")
    parts = first.get("content") or first["parts"]
    parts = parts if isinstance(parts, list) else [parts[:40]]
    seen = [one for one in parts if not isinstance(one, dict) or "text" not in one]
    return [*seen, next((one["text"] for one in parts if isinstance(one, dict) and "text" in one), "")]


def test_a_reply_to_a_debate_sends_a_pdf_as_each_model_takes_it(
    four: dict[str, WireServer], tmp_path: Path
) -> None:
    path = tmp_path / "cars.pdf"
    path.write_bytes(a_pdf(["Sales rose", "and fell"]))
    people = [word for kind, model in FOUR.items() for word in ("-p", f"{kind}={kind}/{model}")]
    for kind, model in FOUR.items():
        four[kind].script(model, lambda _request: Fault("e401"))
    held = moot("debate", "Should cities ban cars?", *people, "--rounds", "1", "--ballots", "final", "--json")
    assert held.status == 4, held.err
    session_id = str(held.events[0]["session_id"])
    asked = {kind: len(server.requests) for kind, server in four.items()}
    said = moot("reply", session_id, "Look at this.", "--file", str(path), "--as-it-looks")
    assert said.status == 0, said.err
    for kind, model in FOUR.items():
        four[kind].script(model, read_or_voted)
    done = moot("resume", session_id, "--json")
    assert done.status == 0, done.err
    images = {
        "anthropic": ("application/pdf",),
        "gemini": ("application/pdf",),
        "openai": ("image/jpeg",) * 2,
    }
    for kind, server in four.items():
        turn, ballot = [one for one in server.requests[asked[kind] :] if one.messages]
        assert "secret ballot" in ballot.messages[-1].text
        for request in (turn, ballot):
            text = "".join(one.text for one in request.messages)
            assert [one.images for one in request.messages if one.images] == [
                *filter(None, [images.get(kind)])
            ], kind
            assert "Look at this." in text and "cars.pdf" in text
            assert ("Sales rose" in text) is (kind == "deepseek")


def read_or_voted(request: Recorded) -> str:
    text = request.messages[-1].text
    if "secret ballot" not in text:
        return "I have read it."
    return json.dumps({"choice": "A", "text": "", "confidence": 70, "moved_by": []})


def test_a_debate_without_a_model_that_sees_is_refused(four: dict[str, WireServer], tmp_path: Path) -> None:
    path = tmp_path / "cars.pdf"
    path.write_bytes(a_pdf(["Sales rose"]))
    two = [word for name in "AB" for word in ("-p", f"{name}=deepseek/deepseek-chat")]
    done = moot("debate", "Ban cars?", *two, "--context", str(path), "--as-it-looks", "--lang", "en")
    assert done.status == 2 and "neither PDF files nor images" in done.err
    assert four["deepseek"].requests == [] and look("sessions", "--json").json == []


def test_a_debate_reads_a_pdf(openai: WireServer, tmp_path: Path) -> None:
    path = tmp_path / "cars.pdf"
    path.write_bytes(a_pdf(["Cars take up a third of the city"]))
    openai.script("openai-wire", ["They do."] * 4)
    two = [word for name in ("A", "B") for word in ("-p", f"{name}=openai/openai-wire")]
    done = moot("debate", "Ban cars?", *two, "--rounds", "1", "--context", str(path), "--json")
    assert (done.status, done.err) == (0, "")
    assert "Cars take up a third of the city" in sent(openai)


def test_nothing_is_sent_if_one_file_cannot_be_read(openai: WireServer, tmp_path: Path) -> None:
    good, locked = tmp_path / "good.txt", tmp_path / "locked.pdf"
    good.write_text("three rules")
    locked.write_bytes(a_locked_pdf())
    for bad in (locked, tmp_path / "gone.pdf", tmp_path):
        done = moot("ask", "guide", "Read it", "--file", str(good), "--file", str(bad), "--lang", "en")
        assert done.status == 2
        assert str(bad) in done.err and len(done.err.splitlines()) == 1 and "Traceback" not in done.err
    assert openai.requests == [] and look("sessions", "--json").json == []


def test_of_a_long_file_the_model_gets_the_beginning_and_reads_on(openai: WireServer, tmp_path: Path) -> None:
    path = tmp_path / "manual.pdf"
    line = "A line of many words that fill the page from one side to the other"
    path.write_bytes(
        a_pdf(["\n".join([f"This is sheet number{page} of it", *[line] * 40]) for page in range(1, 61)])
    )
    reads = call("read_file_part", name="manual.pdf", pages="40-41")
    wrong = call("read_file_part", name="manual.pdf", pages="61")
    openai.script("openai-wire", [Answer(calls=(reads, wrong)), "Sheet 40."])
    done = moot("ask", "guide", "What is on page 40?", "--file", str(path), "--json")
    assert (done.status, done.err) == (0, "")
    first, second = (json.dumps(one.body["messages"], ensure_ascii=False) for one in openai.requests)
    assert "number2 of it" in first and "2 of 60 pages" in first and "number40 of it" not in first
    assert second.startswith(first[:-1])
    assert "[page 40 of 60]" in second and "number40 of it" in second and "number41 of it" in second
    assert "number39 of it" not in second and "from 1 to 60, not '61'" in second
    kept = look("show", done.events[0]["session_id"], "--json").json["messages"][0]["attachments"]
    assert "number60 of it" in kept[0]["text"]


def test_a_short_file_needs_no_tool(openai: WireServer, tmp_path: Path) -> None:
    path = tmp_path / "short.txt"
    path.write_text("three rules\n" * 100)
    openai.script("openai-wire", ["Read."])
    assert moot("ask", "guide", "Read it", "--file", str(path)).status == 0
    assert "read_file_part" not in json.dumps(openai.requests[0].body)
