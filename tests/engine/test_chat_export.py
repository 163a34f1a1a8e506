"""A chat as a document: the chosen version in the order of reading, every text as text."""

import asyncio
import base64
import json
import re
import time
from dataclasses import replace
from html import escape

import pytest

from app.core.definitions import StepState, StepStatus, WorkflowDefinition, WorkflowStep
from app.core.errors import Failure
from app.core.events import EventBus
from app.core.message import (
    Attachment,
    Author,
    Consent,
    Message,
    MessageState,
    Prompt,
    PromptType,
    Role,
    ToolCall,
)
from app.core.session import (
    Chat,
    ChatSession,
    Debate,
    DebateSession,
    GroupSession,
    GroupState,
    Reason,
    WorkflowSession,
    WorkflowState,
)
from app.core.store import StoredSession
from app.core.texts import closed
from app.core.turns import ItemKind, Turns
from app.engine import session_kinds as export_module
from app.engine.live_session import LiveSession
from app.gui.markdown.blocks import CODE, parse
from app.markdown_page import as_html
from tests.builders import PROMPTS, export, export_in_turns

ME = Author(id="user", name="User", kind="user")
GUIDE = Author(id="guide", name="길<b>잡이", path=("guide",))
LEFT = Author(id="left", name="Left", kind="sub", path=("guide", "left"), depth=1)
DEEP = Author(id="deep", name="Deep", kind="sub", path=("guide", "left", "deep"), depth=2)


def said(message_id: str, turn_id: str, author: Author, content: str = "", **fields: object) -> Message:
    role = Role.USER if author is ME else Role.ASSISTANT
    values: dict[str, object] = {"role": role, "content": content, "follows": "u1", **fields}
    return Message(id=message_id, turn_id=turn_id, author=author, **values)  # type: ignore[arg-type]


CALLS = tuple(ToolCall(id=name, name="subAgent", arguments=f'{{"task": "{name}"}}') for name in ("c1", "c2"))
OPENS = ToolCall(id="c3", name="open_url", arguments='{"url": "x"}')
MESSAGES = [
    said("m0", "u1", ME, "# Look\naround", follows="", attachments=(Attachment(name="a.txt", text="x"),)),
    said("m1", "old", GUIDE, "the version before"),
    said("m2", "t1", GUIDE, "I send both.", tool_calls=CALLS),
    said("m3", "s1", LEFT, "left starts", parent_turn_id="t1", parent_call_id="c1", tool_calls=(OPENS,)),
    said("m4", "s2", LEFT, "the other starts", parent_turn_id="t1", parent_call_id="c2"),
    said(
        "m5",
        "s1",
        LEFT,
        role=Role.SYSTEM,
        tool_call_id="c3",
        prompt=Prompt(
            question="open_url",
            type=PromptType.APPROVAL,
            tool="open_url",
            arguments='{"url": "x"}',
            answer=Consent.ALLOW,
            answered_by="m6",
        ),
    ),
    said("m6", "s1", ME, Consent.ALLOW, answers="m5"),
    said("m7", "s1", LEFT, "no <script>", role=Role.TOOL, tool_call_id="c3", state=MessageState.FAILED),
    said("m8", "s1", LEFT, "left ends", parent_turn_id="t1", parent_call_id="c1"),
    said("m9", "t1", GUIDE, '{"ok": true}', role=Role.TOOL, tool_call_id="c1"),
    said(
        "n0",
        "t1",
        GUIDE,
        role=Role.TOOL,
        tool_call_id="c2",
        prompt=Prompt(
            question="Which?", type=PromptType.OPTIONS, options=("one", "two"), answer="two", answered_by="n1"
        ),
    ),
    said("n1", "t1", ME, "two", answers="n0"),
    said("n2", "t1", GUIDE, "Hal", state=MessageState.FAILED, error=Failure(kind="server", detail="<i>boom")),
]


def live() -> LiveSession:
    chat = Chat(assistant_id="guide", assistant_name=GUIDE.name, head="t1", language="en")
    session = ChatSession(id="01s", title="A <b> chat", chat=chat, created_at="2026-11-21")
    return LiveSession(StoredSession(session=session, messages=list(MESSAGES)), EventBus())


ORDER = [
    "around",
    "a.txt",
    "I send both.",
    "Hands over to Left",
    "c1",
    "left starts",
    "Tool: Open links",
    "Allowed.",
    "Failed",
    "left ends",
    "Hands over to Left",
    "c2",
    "the other starts",
    "Which?",
    "2. two",
    "Hal",
]


@pytest.mark.parametrize("file_format", ["md", "html"])
def test_all_about_a_call_stands_below_it_and_only_the_chosen_version_is_there(file_format: str) -> None:
    text = export(live(), file_format, PROMPTS).replace("&quot;", '"').replace("\\_", "_")
    start = 0
    for one in ORDER:
        assert one in text[start:], one
        start = text.index(one, start)
    assert "the version before" not in text
    assert text.count("Allowed.") == 1
    assert "boom" in text


@pytest.mark.threat("T9")
@pytest.mark.corpus(47)
def test_every_text_is_text_in_the_page() -> None:
    page = export(live(), "html", PROMPTS, as_html)
    # Arabic and Hebrew run from right to left.
    assert re.search(r"[};]p,[^{}]*strong\{unicode-bidi:plaintext\}", page)
    assert "<b>" not in page
    assert "<script" not in page
    assert "<i>" not in page
    assert "margin-left:26px" in page
    assert '<strong style="color:#0C7A60">' in page and '<strong style="color:#AB5030">' in page
    assert "<p># Look<br>around</p>" in page, "what the user wrote is shown as it was typed, as in the window"
    assert "default-src 'none'" in page


def test_a_sub_agents_part_is_quoted_in_markdown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    lines = export(live(), "md", PROMPTS).splitlines()
    assert "> left starts" in lines
    assert "\\# Look\\" in lines
    assert "- Started: 2026-11-21 00:00 (UTC+09:00)" in lines
    assert r"*(failed: Provider error. \<i\>boom)*" in lines
    assert "**길\\<b\\>잡이**" in lines
    monkeypatch.undo()
    time.tzset()


def test_json_holds_everything() -> None:
    document = json.loads(export(live(), "json", PROMPTS))
    assert len(document["messages"]) == len(MESSAGES)
    assert document["chat"]["head"] == "t1"


def test_no_message_is_told_twice_or_forgotten_whatever_it_hangs_on() -> None:
    loose = [
        said("x1", "gone", DEEP, "parent unknown", parent_turn_id="nowhere", parent_call_id="c9"),
        said(
            "x2",
            "loop",
            DEEP,
            parent_turn_id="loop",
            parent_call_id="c8",
            tool_calls=(ToolCall(id="c8", name="a"),),
        ),
        said("x3", "u9", GUIDE, role=Role.TOOL, tool_call_id="nobody's"),
    ]
    turns = Turns([*MESSAGES, *loose])
    told = [one for one in turns.read(turns.roots()) if one.kind in (ItemKind.SAID, ItemKind.ABOUT)]
    assert sorted(one.message.id for one in told) == sorted(one.id for one in [*MESSAGES, *loose])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("```py\nx", "```py\nx\n```"),
        ("```\nx\n```", "```\nx\n```"),
        ("~~~~\n```\n~~~", "~~~~\n```\n~~~\n~~~~"),
        ("``` a `b`", "``` a `b`"),
        ("x\n````\n```\n````\n```", "x\n````\n```\n````\n```\n```"),
    ],
)
def test_a_fence_that_was_left_open_ends_with_its_message(text: str, expected: str) -> None:
    assert closed(text) == expected


PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n and the rest").decode()
PASTE = "Title\n\n```python\nprint(1)\n```\n````\n</pre><script>alert(1)</script>\n" + "word " * 1_000


def with_files(*attachments: Attachment, content: str = "See these.") -> LiveSession:
    """Return a chat whose user gave these along."""
    message = said("m0", "u1", ME, content, follows="", attachments=attachments)
    chat = Chat(assistant_id="guide", assistant_name="Guide", head="u1", language="en")
    session = ChatSession(id="01s", title="Files", chat=chat, created_at="2026-11-21")
    return LiveSession(StoredSession(session=session, messages=[message]), EventBus())


@pytest.mark.parametrize("content", ["See these.", ""])
def test_a_text_given_along_is_written_whole(content: str) -> None:
    chat = with_files(Attachment(name="paste[1].txt", text=PASTE), content=content)
    markdown = export(chat, "md", PROMPTS)
    assert f"`````\n{PASTE.rstrip()}\n`````" in markdown
    code = [block.text for block in parse(markdown) if block.kind == CODE]
    assert "\n".join(code) == PASTE.rstrip()
    assert "*\\[paste\\[1].txt]*" in markdown
    page = export(chat, "html", PROMPTS)
    assert f'<pre class="file">{escape(PASTE)}</pre>' in page
    assert "<script" not in page


def test_a_sub_agents_file_stays_in_its_quotation() -> None:
    chat = live()
    given = said("f1", "s1", LEFT, "", attachments=(Attachment(name="b.txt", text="one\n\ntwo"),))
    chat.messages[3] = replace(chat.messages[3], attachments=given.attachments)
    lines = export(chat, "md", PROMPTS).split("\n")
    start = lines.index("> one")
    assert lines[start - 1 : start + 4] == ["> ```", "> one", ">", "> two", "> ```"]


@pytest.mark.threat("T9")
def test_only_what_is_a_picture_is_in_the_page_as_one() -> None:
    svg = base64.b64encode(b"<svg onload='alert(1)'/>").decode()
    good = with_files(Attachment(name='"><script>', media_type="image/png", data=PNG))
    page = export(good, "html", PROMPTS)
    assert f'src="data:image/png;base64,{PNG}"' in page
    assert "<script" not in page
    assert "img-src data:" in page
    assert "default-src 'none'" in page
    assert PNG not in export(good, "md", PROMPTS)
    for media_type, data in (
        ("image/svg+xml", svg),
        ("image/png", svg),
        ("image/png", PNG + '" onerror="alert(1)'),
        ("image/webp", base64.b64encode(b"RIFF0000AVI ").decode()),
        ('image/png" onload="x', PNG),
        ("text/html", PNG),
    ):
        page = export(with_files(Attachment(name="x.png", media_type=media_type, data=data)), "html", PROMPTS)
        assert "<img" not in page
        assert "[x.png]" in page


def test_what_a_debate_read_is_written_whole() -> None:
    debate = Debate(topic="Parser", context=(Attachment(name="notes.md", text=PASTE),))
    stored = StoredSession(session=DebateSession(id="01d", title="Parser", debate=debate), messages=[])
    chat = LiveSession(stored, EventBus())
    assert f"`````\n{PASTE.rstrip()}\n`````" in export(chat, "md", PROMPTS)
    assert f'<pre class="file">{escape(PASTE)}</pre>' in export(chat, "html", PROMPTS)


@pytest.mark.parametrize("file_format", ["md", "html", "json"])
async def test_others_have_a_turn_while_a_long_chat_is_written(
    file_format: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export_module, "TURN_S", 0.0)  # a turn is over after every piece, however fast it was
    messages = [said(f"m{number}", "u1", ME, "word " * 60, follows="") for number in range(80)]
    chat = with_files()
    long = LiveSession(StoredSession(session=chat.session, messages=messages), EventBus())
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    other = asyncio.create_task(tick())
    written = asyncio.create_task(export_in_turns(long, file_format, PROMPTS))
    text = await written
    assert ticks > 80
    assert text == export(long, file_format, PROMPTS)
    given_up = asyncio.create_task(export_in_turns(long, file_format, PROMPTS))
    await asyncio.sleep(0)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    other.cancel()


def test_json_reads_as_one_document_written_at_once() -> None:
    for chat in (live(), LiveSession(StoredSession(session=live().session, messages=[]), EventBus())):
        text = export(chat, "json", PROMPTS)
        assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=2) + "\n"


def test_a_question_that_was_skipped_says_so() -> None:
    asked = replace(MESSAGES[10], prompt=Prompt(question="Which?", options=("one",), dismissed=True))
    some = live()
    some.messages[:] = [*MESSAGES[:10], asked]
    assert "1. one*\n*Skipped.*" in export(some, "md", PROMPTS)
    assert "Skipped." not in export(live(), "md", PROMPTS)


@pytest.mark.parametrize(("language", "word"), [("en", "queued"), ("ko", "대기 중")])
def test_a_queued_step_does_not_ask_for_the_user(language: str, word: str) -> None:
    step = WorkflowStep(id="s1", name="Build", role="Coder", prompt="Build it.")
    waits = StepState(id="s1", state=StepStatus.WAITING, reason=Reason.BUSY)
    work = WorkflowState(
        definition=WorkflowDefinition(id="f", name="F", steps=(step,)), command="Go.", steps=(waits,)
    )
    chat = Chat(assistant_id="guide", assistant_name="Guide", language=language)
    session = WorkflowSession(id="01w", title="Flow", chat=chat, workflow=work)
    text = export(LiveSession(StoredSession(session=session, messages=[]), EventBus()), "md", PROMPTS)
    assert f"- Build (Coder) · {word}" in text


def test_what_a_step_made_keeps_its_lines() -> None:
    step = WorkflowStep(id="s1", name="Build", role="Coder", prompt="Build it.")
    made = StepState(id="s1", state=StepStatus.DONE, artifacts="# Files\n\n* a_b.md\n* c.md")
    work = WorkflowState(
        definition=WorkflowDefinition(id="f", name="F", steps=(step,)), command="Go.", steps=(made,)
    )
    session = WorkflowSession(id="01w", title="Flow", chat=Chat(assistant_id="guide"), workflow=work)
    text = export(LiveSession(StoredSession(session=session, messages=[]), EventBus()), "md", PROMPTS)
    assert "- Build (Coder) · done\n\n  ### Files\n\n  * a_b.md\n  * c.md" in text


@pytest.mark.parametrize(
    ("language", "tool", "failed"),
    [
        ("en", "Tool: Write files", "The assistant says that the step failed."),
        ("ko", "도구: 파일 저장", "어시스턴트가 단계에 실패했다고 답변했어요."),
    ],
)
def test_what_was_done_stands_in_words_of_a_person(language: str, tool: str, failed: str) -> None:
    """No key of a tool, no code of a reason and no id."""
    step = WorkflowStep(id="s1", name="Build", role="Coder", prompt="Build it.")
    states = (StepState(id="s1", state=StepStatus.FAILED, reason=Reason.SAID_FAILED, assistant_id="guide"),)
    definition = WorkflowDefinition(id="flow", name="Flow", steps=(step,))
    work = WorkflowState(definition=definition, command="Go.", steps=states)
    calls = tuple(
        ToolCall(id=name, name=name, arguments='{"path": "a.md"}') for name in ("write_file", "desk__book")
    )
    asks = Prompt(question="x", type=PromptType.APPROVAL, tool="write_file", arguments="{}")
    said_so = [
        said("m0", "u1", ME, "Go.", follows=""),
        said("m1", "t1", GUIDE, "", tool_calls=calls),
        said("m2", "t1", GUIDE, role=Role.SYSTEM, tool_call_id="write_file", prompt=asks),
    ]
    chat = Chat(assistant_id="guide", assistant_name="Guide", head="t1", language=language)
    session = WorkflowSession(id="01w", title="Flow", chat=chat, workflow=work)
    text = export(LiveSession(StoredSession(session=session, messages=said_so), EventBus()), "md", PROMPTS)
    assert tool in text and failed in text
    for word in ("write_file", "write\\_file", "said_failed", "said\\_failed", "desk", "guide"):
        assert word not in text


@pytest.mark.parametrize(
    ("language", "reason", "said"),
    [("en", "", "Completed"), ("ko", "", "완료"), ("ko", Reason.BY_USER, "중지됨")],
)
def test_a_group_that_waits_for_nobody_is_said_to_be_done_or_stopped(
    language: str, reason: str, said: str
) -> None:
    chat = Chat(assistant_id="g", assistant_name="G", language=language)
    group = GroupState(id="g", name="G", members=())
    session = GroupSession(id="01g", title="T", chat=chat, group=group, status="idle", reason=reason)
    text = export(LiveSession(StoredSession(session=session, messages=[]), EventBus()), "md", PROMPTS)
    assert f": {said}\n" in text and "내 차례" not in text and "Your turn" not in text
