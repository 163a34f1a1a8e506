"""Files that assistants write in a chat, a group and a workflow, from the command line."""

import json
import zipfile
from pathlib import Path
from typing import Any

import docx
import pypdfium2
import pytest

from tests.stories.group_crew import REPORT, call, in_order, write_assistant, write_group
from tests.stories.processes import look, moot, session_of
from tests.wire import Answer, WireServer
from tests.wire.fixtures import wire_home, wire_servers

__all__ = ["wire_home", "wire_servers"]

KEYS = {"write_file", "edit_file", "read_file", "list_files", "move_file", "delete_file"}


def files_of(session_id: str) -> list[tuple[str, int, str]]:
    shown = look("show", session_id, "--json").json
    messages = {one["id"]: one for one in shown["messages"]}
    for one in shown["files"]:
        # It is the message with the result of the call that wrote it.
        assert messages[one["message_id"]]["role"] == "tool"
        assert one["path"] in messages[one["message_id"]]["content"]
    return [(one["path"], one["version"], one["author"]) for one in shown["files"]]


def results(session_id: str) -> list[tuple[str, str]]:
    shown = look("show", session_id, "--json").json
    return [(one["state"], one["content"]) for one in shown["messages"] if one["role"] == "tool"]


def test_a_chat_writes_a_file_and_the_terminal_lists_gets_and_keeps_it(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["files"])
    wire_home["openai"].script(
        "openai-wire",
        [
            Answer(calls=(call("write_file", path="notes/보고서.md", content="One\n"),)),
            Answer(calls=(call("edit_file", path="notes/보고서.md", old="One", new="둘"),)),
            "It is written.",
        ],
    )
    done = moot("ask", "ann", "Write it", "--json")
    assert (done.status, done.err) == (0, "")
    session_id = session_of(done)
    written = [one for one in done.events if one["event"] == "file.written"]
    assert [(one["path"], one["version"], one["bytes"], one["author"]) for one in written] == [
        ("notes/보고서.md", 1, 4, "Ann"),
        ("notes/보고서.md", 2, 4, "Ann"),
    ]
    assert [one["ok"] for one in done.events if one["event"] == "tool.finished"] == [True, True]
    assert files_of(session_id) == [("notes/보고서.md", 2, "Ann")]
    assert set(wire_home["openai"].requests[0].tools) == KEYS
    listed = look("files", session_id, "--json").json
    assert [(one["version"], one["deleted"]) for one in listed] == [(1, False), (2, False)]
    assert look("files", session_id, "--lang", "en").out == "notes/보고서.md  version 2  4 B  Ann\n"
    assert look("files", session_id, "get", "notes/보고서.md").out == "둘\n"
    assert look("files", session_id, "get", "notes/보고서.md", "--version", "1").out == "One\n"
    target = tmp_path / "saved.md"
    assert look("files", session_id, "get", "notes/보고서.md", "-o", str(target)).status == 0
    assert target.read_bytes() == "둘\n".encode()
    compared = ("files", session_id, "get", "notes/보고서.md", "--compare", "1")
    assert look(*compared).out == "@@ -1,1 +1,1 @@\n-One\n+둘\n"
    assert look(*compared, "--json").json["text"] == "@@ -1,1 +1,1 @@\n-One\n+둘\n"
    assert (
        look(*compared, "--version", "1", "--lang", "en").out == "All lines of these versions are the same.\n"
    )
    assert look(*compared, "-o", str(tmp_path / "a.diff")).status == 0
    assert (tmp_path / "a.diff").read_text() == "@@ -1,1 +1,1 @@\n-One\n+둘\n"
    for typed in (
        ["none.md"],
        ["notes/보고서.md", "--version", "3"],
        ["../../settings.json"],
        [],
        ["notes/보고서.md", "--compare", "3"],
    ):
        gone = look("files", session_id, "get", *typed)
        assert gone.status == 2 and gone.out == "" and gone.err.count("\n") == 1
    assert look("files", "none").status == 2
    # In the next process the assistant still knows what it read.
    wire_home["openai"].script(
        "openai-wire",
        [Answer(calls=(call("edit_file", path="notes/보고서.md", old="둘", new="셋"),)), "Changed."],
    )
    assert moot("ask", "ann", "Change it", "--session", session_id).status == 0
    assert files_of(session_id) == [("notes/보고서.md", 3, "Ann")]
    (data_dir / "files" / session_id / "mine.txt").write_text("by hand")
    wire_home["openai"].script("openai-wire", [Answer(calls=(call("list_files"),)), "Seen."])
    assert moot("ask", "ann", "Look", "--session", session_id).status == 0
    assert results(session_id)[-1][1].splitlines()[0] == "mine.txt (version 1), 7 bytes, by the user"
    assert moot("delete", session_id).status == 0
    assert not (data_dir / "files" / session_id).exists()


def test_without_the_tick_there_are_no_files(wire_home: dict[str, WireServer], data_dir: Path) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["planning"])
    write = Answer(calls=(call("write_file", path="a.md", content="x"),))
    wire_home["openai"].script("openai-wire", [write, "Then not."])
    done = moot("ask", "ann", "Write it", "--json")
    assert done.status == 0
    assert wire_home["openai"].requests[0].tools and not KEYS & set(wire_home["openai"].requests[0].tools)
    [(state, said)] = results(session_of(done))
    assert state == "failed" and "There is no tool 'write_file' here" in said
    assert not (data_dir / "files").exists()


def test_a_group_works_on_one_file_together(wire_home: dict[str, WireServer], data_dir: Path) -> None:
    write_group(data_dir)
    in_order(
        wire_home,
        [call("write_file", path="plan.md", content="Paint it.")],
        [call("switchAssistant", assistant="ann", instruction="Change the plan.")],
        [call("edit_file", path="plan.md", old="blue", new="green")],
        [call("read_file", path="plan.md")],
        [call("reportResult", result_in_detail=REPORT)],
    )
    wire_home["openai"].script(
        "openai-wire",
        [
            Answer(calls=(call("read_file", path="plan.md"),)),
            Answer(calls=(call("edit_file", path="plan.md", old="Paint it.", new="Paint it blue."),)),
            "Changed.",
        ],
    )
    done = moot("ask", "crew", "Make it.", "--json")
    assert (done.status, done.err) == (0, "")
    session_id = session_of(done)
    assert files_of(session_id) == [("plan.md", 2, "Ann")]
    orchestrator, ann = wire_home["anthropic"].requests[0], wire_home["openai"].requests[0]
    assert set(orchestrator.tools) > KEYS and set(ann.tools) >= KEYS
    refused = [said for state, said in results(session_id) if state == "failed"]
    assert len(refused) == 1
    assert "you know version 1, and Ann wrote version 2" in refused[0]
    assert look("files", session_id, "get", "plan.md").out == "Paint it blue."
    assert [(one["id"], one["files"]) for one in moot("work", "--all", "--json").json] == [(session_id, 1)]


@pytest.mark.timeout(150)
def test_the_steps_of_a_workflow_write_and_read_files(
    wire_home: dict[str, WireServer], data_dir: Path
) -> None:
    write_assistant(data_dir, "wren", provider="openai", role="Writer")
    write_assistant(data_dir, "rita", role="Reader", provider="gemini", model="gemini-wire")
    steps: list[dict[str, Any]] = [
        {"id": "write", "name": "Write", "role": "Writer", "prompt": "Write it."},
        {"id": "read", "name": "Read", "role": "Reader", "prompt": "Read it.", "depends_on": ["write"]},
    ]
    (data_dir / "workflows").mkdir()
    definition = {"version": 1, "id": "two", "name": "Two", "keywords": ["two"], "steps": steps}
    (data_dir / "workflows" / "two.json").write_text(json.dumps(definition), encoding="utf-8")
    end = "Done.\n\n[STEP_COMPLETE]\nartifacts: report.md\nstatus: done"
    wire_home["openai"].script(
        "openai-wire", [Answer(calls=(call("write_file", path="report.md", content="The report."),)), end]
    )
    wire_home["gemini"].script("gemini-wire", [Answer(calls=(call("read_file", path="report.md"),)), end])
    done = moot("workflow", "Do two things", "--definition", "two", "--json", seconds=90)
    assert (done.status, done.err) == (0, "")
    session_id = session_of(done)
    assert files_of(session_id) == [("report.md", 1, "Wren")]
    assert "report.md (version 1):\nThe report." in [said for _, said in results(session_id)]
    assert (data_dir / "files" / session_id / "report.md").read_text() == "The report."


MADE = "# 보고서\n\nIt is **done**.\n\n- one\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n"


def test_a_session_and_a_markdown_file_are_word_documents_and_pdfs(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["files"])
    files = [
        call("write_file", path="notes/보고서.md", content=MADE),
        call("write_file", path="a.txt", content="x"),
    ]
    wire_home["openai"].script("openai-wire", [Answer(calls=tuple(files)), "It is **written**."])
    session_id = session_of(moot("ask", "ann", "Write it", "--json"))

    def saved(name: str, *command: str) -> Path:
        target = tmp_path / name
        done = look(*command, "--format", target.suffix[1:], "-o", str(target))
        assert (done.status, done.err) == (0, ""), name
        return target

    whole = docx.Document(str(saved("session.docx", "export", session_id)))
    said = [one.text for one in whole.paragraphs]
    assert whole.core_properties.title == said[0] and whole.paragraphs[0].style.name == "Title"
    assert [one for one in said[1:] if one in ("Write it", "Ann", "It is written.")] == [
        "Write it",
        "Ann",
        "It is written.",
    ]
    assert pdf_text(saved("session.pdf", "export", session_id)).count("It is written.") == 1
    get = ("files", session_id, "get", "notes/보고서.md")
    made = docx.Document(str(saved("report.docx", *get)))
    assert [(one.style.name, one.text) for one in made.paragraphs if one.text] == [
        *(("Title", "보고서"), ("Normal", "It is done."), ("List Bullet", "one"))
    ]
    assert [cell.text for cell in made.tables[0].rows[1].cells] == ["1", "2"]
    assert "보고서" in pdf_text(saved("report.pdf", *get))
    page = look(*get, "--format", "html").out
    assert "<h1>보고서</h1>" in page and "<strong>done</strong>" in page and "default-src 'none'" in page
    assert saved("report.html", *get).read_text() == page
    for wrong in (
        ["export", session_id, "--format", "docx"],
        [*get, "--format", "docx"],
        ["files", session_id, "get", "a.txt", "--format", "docx", "-o", str(tmp_path / "x")],
        ["files", session_id, "get", "none.md", "--format", "docx", "-o", str(tmp_path / "x")],
    ):
        refused = look(*wrong)
        assert refused.status == 2 and refused.out == "" and refused.err.count("\n") >= 1, wrong
    assert not (tmp_path / "x").exists()


def pdf_text(path: Path) -> str:
    document = pypdfium2.PdfDocument(path)
    return "\n".join(page.get_textpage().get_text_bounded() for page in document)


def test_a_zip_holds_the_report_and_the_files(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["files"])
    wire_home["openai"].script(
        "openai-wire", [Answer(calls=(call("write_file", path="notes/a.md", content="One"),)), "Done."]
    )
    session_id = session_of(moot("ask", "ann", "Write it", "--json"))
    target = tmp_path / "all.zip"
    assert look("export", session_id, "--format", "zip").status == 2
    assert look("export", session_id, "--format", "zip", "-o", str(target)).status == 0
    with zipfile.ZipFile(target) as packed:
        assert packed.namelist() == ["report.md", "files/notes/a.md"]
        assert packed.read("files/notes/a.md") == b"One"
        assert "Write it" in packed.read("report.md").decode()


def test_a_chat_works_in_a_folder_of_the_users_in_this_and_the_next_process(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["files", "web"])
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "plan.md").write_text("One")
    (mine / ".env").write_text("KEY=1")
    wire_home["openai"].script(
        "openai-wire",
        [
            Answer(calls=(call("list_files"),)),
            Answer(calls=(call("edit_file", path="plan.md", old="One", new="Two"),)),
            Answer(calls=(call("read_file", path=".env"),)),
            "Changed.",
        ],
    )
    # Naming it there is the user's yes.
    done = moot("ask", "ann", "Change it", "--in", str(mine), "--json")
    assert (done.status, done.err) == (0, "")
    session_id = session_of(done)
    assert [(one["path"], one["version"]) for one in done.events if one["event"] == "file.written"] == [
        ("plan.md", 1)
    ]
    listed, _, refused = results(session_id)
    assert listed == ("done", "plan.md")
    assert refused[0] == "failed" and "hidden files are never read" in refused[1]
    assert (mine / "plan.md").read_text() == "Two"
    rows = look("files", session_id, "--json").json
    assert [(one["path"], one["version"], one["author"]) for one in rows] == [
        ("plan.md", 0, ""),
        ("plan.md", 1, "Ann"),
    ]
    assert look("files", session_id, "get", "plan.md", "--version", "0").out == "One"
    assert {one.name for one in (data_dir / "files" / session_id).iterdir()} == {".versions"}
    # In the next process: the same folder, still without a question, but an address is asked about.
    fetch = call("web_fetch", url="https://example.org/?q=Two")
    wire_home["openai"].script(
        "openai-wire",
        [Answer(calls=(call("delete_file", path="plan.md"),)), Answer(calls=(fetch,)), "Not done."],
    )
    waits = moot("ask", "ann", "Delete it", "--session", session_id, "--json")
    assert waits.status == 3 and not (mine / "plan.md").exists()
    [asked] = [one for one in waits.events if one["event"] == "prompt.asked"]
    assert "example.org" in json.dumps(asked)
    assert moot("reply", session_id, "no").status == 0
    target = tmp_path / "all.zip"
    (mine / "own.md").write_text("the user's own")
    wire_home["openai"].script(
        "openai-wire", [Answer(calls=(call("write_file", path="b.md", content="b"),)), "b"]
    )
    assert moot("ask", "ann", "Write", "--session", session_id).status == 0
    assert look("export", session_id, "--format", "zip", "-o", str(target)).status == 0
    with zipfile.ZipFile(target) as packed:
        assert packed.namelist() == ["report.md", "files/b.md"]
    assert moot("delete", session_id).status == 0
    assert {one.name for one in mine.iterdir()} == {".env", "b.md", "own.md"}


def test_a_hidden_file_is_used_where_the_user_has_named_it(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["files"])
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / ".env").write_text("KEY=1")
    (mine / ".other").write_text("KEY=2")
    calls = (
        call("read_file", path=".env"),
        call("edit_file", path=".env", old="KEY=1", new="KEY=3"),
        call("read_file", path=".other"),
        call("list_files"),
    )
    wire_home["openai"].script("openai-wire", [*(Answer(calls=(one,)) for one in calls), "Changed."])
    for refused in (
        moot("ask", "ann", "Change it", "--allow-file", ".env"),
        moot("ask", "ann", "Change it", "--in", str(mine), "--allow-file", "../.env"),
    ):
        assert (refused.status, refused.out) == (2, "") and refused.err.count("\n") == 1
    assert not wire_home["openai"].requests
    done = moot("ask", "ann", "Change it", "--in", str(mine), "--allow-file", ".env", "--json")
    assert (done.status, done.err) == (0, "")
    session_id = session_of(done)
    said = results(session_id)
    assert [state for state, _ in said] == ["done", "done", "failed", "done"]
    assert "KEY=1" in said[0][1] and ".other" not in said[3][1]
    assert (mine / ".env").read_text() == "KEY=3" and (mine / ".other").read_text() == "KEY=2"
    assert look("files", session_id, "get", ".env", "--version", "0").out == "KEY=1"


def test_a_folder_that_may_not_be_used_is_refused_before_anything_starts(
    wire_home: dict[str, WireServer], data_dir: Path, tmp_path: Path
) -> None:
    write_assistant(data_dir, "ann", provider="openai", tools=["files"])
    (tmp_path / "a file").write_text("x")
    (tmp_path / "link").symlink_to(data_dir)
    mine = tmp_path / "mine"
    mine.mkdir()
    for place in (
        data_dir,
        data_dir / "assistants",
        tmp_path / "link",
        "/etc",
        "/",
        tmp_path / "none",
        tmp_path / "a file",
    ):
        for command in (("ask", "ann", "Hello"), ("workflow", "Hello", "--definition", "any")):
            refused = moot(*command, "--in", str(place))
            assert (refused.status, refused.out) == (2, ""), place
            assert refused.err.count("\n") == 1 and "Traceback" not in refused.err
    assert moot("ask", "ann", "Hello", "--session", "x" * 26, "--in", str(mine)).status == 2
    assert look("sessions", "--json").json == []
    assert not wire_home["openai"].requests
