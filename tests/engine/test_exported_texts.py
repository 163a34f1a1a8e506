"""What a file that is passed on holds: Markdown that loads nothing, and no text of a folder unless that is asked for."""

import asyncio
import json
import re
import zipfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from app.core.council_parts import Position
from app.core.definitions import ORCHESTRATOR, WorkflowDefinition
from app.core.ids import new_id
from app.core.message import Attachment, Author, CouncilPart, Message, Role, ToolCall
from app.core.session import (
    Chat,
    ChatSession,
    Council,
    DebateMode,
    DebateSession,
    GroupSession,
    GroupState,
    Session,
    WorkflowSession,
    WorkflowState,
)
from app.engine.export.document import Chart, Citation, Curve, DocumentHead, Entry, ListItem, Section
from app.engine.export.formats import as_html
from app.engine.library.agents import SUB_AGENT
from app.storage.documents import JsonDocuments
from app.storage.paths import DataPaths
from app.storage.stored_data import FileArchive
from tests.builders import USER_AUTHOR, Bench, a_bench, a_debate, a_log_store

CODE = "```html\n<img src=x> ![in code](https://spy.example/c.png)\n```"
HARM = (
    f"Before ![the chart](https://spy.example/a.png) <img src='https://spy.example/b.png'>\n\n{CODE}\n\n"
    "<div>\n\n![late][spy]\n\n</div>\n\n[spy]: https://spy.example/d.png\n"
)
ADA = Author(id="ada", name="Ada", path=("ada",))
LEADER = Author(id=ORCHESTRATOR, name="Leader", kind="orchestrator", path=(ORCHESTRATOR,))


def said(author: Author = ADA, **fields: object) -> Message:
    base = Message(
        id=new_id(), turn_id="a", role=Role.ASSISTANT, author=author, content=HARM, follows="u", round=1
    )
    return replace(base, **fields)  # type: ignore[arg-type]


ASKED = Message(id=new_id(), turn_id="u", role=Role.USER, author=USER_AUTHOR, content="Go", follows="")
CALL = ToolCall(id="c", name=SUB_AGENT, arguments=json.dumps({"name": "Ben", "task": HARM}))
CHAT = Chat(assistant_id="ada", assistant_name="Ada", head="a")
GROUP = GroupState(id="g", name="Crew", members=("ada",), names=("Ada",))
PARTICIPANT = Author(id="p0", name="GPT", kind="participant")


def sessions() -> dict[str, tuple[Session, list[Message]]]:
    """Return a session of each kind, of which everything that a model said would load pictures."""
    council = a_debate(mode=DebateMode.COUNCIL, council=Council())
    data = Position(answer=HARM)
    steps = WorkflowState(definition=WorkflowDefinition(id="w", name="w"), command="Go", steps=())
    return {
        "chat": (ChatSession(id=new_id(), title="t", chat=CHAT), [ASKED, said(tool_calls=(CALL,)), said()]),
        "group": (
            GroupSession(id=new_id(), title="t", chat=CHAT, group=GROUP),
            [ASKED, said(LEADER), said(turn_id="b", parent_turn_id="a", parent_call_id="c")],
        ),
        "workflow": (WorkflowSession(id=new_id(), title="t", chat=CHAT, workflow=steps), [ASKED, said()]),
        "debate": (DebateSession(id=new_id(), title="t", debate=a_debate()), [said(PARTICIPANT)]),
        "council": (
            DebateSession(id=new_id(), title="t", debate=council),
            [
                replace(ASKED, part=CouncilPart.QUESTION),
                *(said(PARTICIPANT, part=part, data=data) for part in (CouncilPart.ANSWER, CouncilPart.SOLO)),
                said(PARTICIPANT, part=CouncilPart.MERGE),
            ],
        ),
    }


@pytest.fixture
async def bench(data_dir: Path) -> AsyncIterator[Bench]:
    store = a_log_store(data_dir)
    await asyncio.to_thread(store.prepare)
    paths = DataPaths(data_dir)
    made = a_bench(store, archive=FileArchive(paths, store, JsonDocuments(paths)), files=data_dir)
    yield made
    await made.engine.shutdown()


def check_harmless(markdown: str) -> None:
    """Check that readers of a document load nothing, and that its texts and its code can be read."""
    for reader in (MarkdownIt("commonmark"), MarkdownIt("commonmark").enable("table")):
        page = reader.render(markdown)
        assert "<img" not in page and "<div" not in page
        # The document's own marks, which its citations lead to.
        assert all(tag.startswith((' id="', ' href="')) for tag in page.split("<a")[1:])
        assert '<a href="https://spy.example/a.png">the chart</a>' in page
        assert "&lt;img src='https://spy.example/b.png'&gt;" in page
    lines = [line.lstrip("> ") for line in markdown.split("\n")]
    assert CODE in "\n".join(lines)


@pytest.mark.threat("T10")
@pytest.mark.parametrize("kind", ["chat", "group", "workflow", "debate", "council"])
async def test_markdown_of_every_kind_loads_nothing(bench: Bench, kind: str, tmp_path: Path) -> None:
    session, messages = sessions()[kind]
    await bench.store.bring_in(session, messages)  # type: ignore[attr-defined]
    engine = bench.engine
    check_harmless(await engine.export(session.id, "md"))
    check_harmless((await engine.export_file(session.id, "md")).decode())
    both = {"export.zip": engine.export_zip(session.id, str(tmp_path / "export.zip"))}
    both["all.zip"] = engine.archive.export_all(str(tmp_path / "all.zip"))
    for name, work in both.items():
        await work
        with zipfile.ZipFile(tmp_path / name) as packed:
            [document] = [one for one in packed.namelist() if one.endswith(".md") and one != "index.md"]
            check_harmless(packed.read(document).decode())
    memo = (await engine.memo_file(session.id, "md")).decode()
    assert "<img" not in MarkdownIt("commonmark").render(memo)


SECRETS = ("Tell nobody about the merger.", "Salaries: Ann 100", "/home/ann/secret")


@pytest.mark.parametrize("kind", ["chat", "group", "workflow", "debate"])
async def test_json_has_the_texts_of_a_folder_only_when_asked(
    bench: Bench, kind: str, tmp_path: Path
) -> None:
    session, messages = sessions()[kind]
    asks, file, path = SECRETS
    if session.debate is not None:
        session = replace(session, debate=replace(session.debate, instructions=asks))
    elif session.chat is not None:
        context = (Attachment(name="pay.txt", text=file),)
        chat = replace(session.chat, instructions=asks, context=context, chosen_folder=path)
        session = replace(session, chat=chat)
    await bench.store.bring_in(session, messages)  # type: ignore[attr-defined]
    engine = bench.engine
    plain = await engine.export(session.id, "json")
    await engine.archive.export_all(str(tmp_path / "all.zip"))
    with zipfile.ZipFile(tmp_path / "all.zip") as packed:
        texts = [plain, *(packed.read(one).decode() for one in packed.namelist())]
    assert not any(secret in text for secret in SECRETS for text in texts)
    assert json.loads(plain)["session"]["id"] == session.id
    asked = (await engine.export_file(session.id, "json", with_folder=True)).decode()
    assert asks in asked and (file in asked) is (kind != "debate") and path not in asked
    # The session itself keeps them.
    assert (await engine.open(session.id)).session == session


def test_no_text_of_a_page_is_markup() -> None:
    """Every text of a part is shown as it is; only the body of an entry is made by `render`."""
    numbers = iter(range(100))

    def harm() -> str:
        return f'<b>{next(numbers)}&"</b>'

    picture = Attachment(name=harm(), text=harm())
    cited = ListItem(text=harm(), cites=(Citation(harm(), harm()), Citation(harm(), harm())), done=True)
    chart = Chart(
        title=harm(), levels=(harm(), harm()), columns=(harm(), harm()), curves=(Curve("#111", (0, 1)),)
    )
    parts = (
        DocumentHead(title=harm(), language="en", facts=((harm(), harm()), (harm(), harm()))),
        Section(
            heading=harm(), text=harm(), lines=(cited, ListItem(text=harm())), chart=chart, files=(picture,)
        ),
        Entry(heading=harm(), body="x", notes=(harm(), harm()), files=(picture,), anchor=harm()),
    )
    page = "".join(as_html(parts, lambda body: f"<p>{body}</p>"))
    assert "<b>" not in page and '"</b>' not in page and "<p>x</p>" in page
    assert {int(found) for found in re.findall(r"&lt;b&gt;(\d+)&amp;&quot;&lt;/b&gt;", page)} == {
        *range(next(numbers))
    }
