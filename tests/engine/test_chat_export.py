"""A chat as a document: the chosen version in the order of reading, every text as text."""

import json

import pytest

from app.core.events import EventBus
from app.core.message import (
    ALLOW,
    APPROVAL,
    ASSISTANT,
    FAILED,
    OPTIONS,
    SYSTEM,
    TOOL,
    USER,
    Attachment,
    Author,
    Failure,
    Message,
    Prompt,
    ToolCall,
)
from app.core.session import Chat, ChatSession
from app.core.store import StoredSession
from app.engine.call_tree import in_tree
from app.engine.export import export
from app.engine.export_parts import closed
from app.engine.live_session import LiveSession
from tests.builders import PROMPTS

ME = Author(id="user", name="User", kind="user")
GUIDE = Author(id="guide", name="길<b>잡이", path=("guide",))
LEFT = Author(id="left", name="Left", kind="sub", path=("guide", "left"), depth=1)
DEEP = Author(id="deep", name="Deep", kind="sub", path=("guide", "left", "deep"), depth=2)


def said(message_id: str, turn_id: str, author: Author, content: str = "", **fields: object) -> Message:
    role = USER if author is ME else ASSISTANT
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
        role=SYSTEM,
        tool_call_id="c3",
        prompt=Prompt(
            question="open_url",
            type=APPROVAL,
            tool="open_url",
            arguments='{"url": "x"}',
            answer=ALLOW,
            answered_by="m6",
        ),
    ),
    said("m6", "s1", ME, ALLOW, answers="m5"),
    said("m7", "s1", LEFT, "no <script>", role=TOOL, tool_call_id="c3", state=FAILED),
    said("m8", "s1", LEFT, "left ends", parent_turn_id="t1", parent_call_id="c1"),
    said("m9", "t1", GUIDE, '{"ok": true}', role=TOOL, tool_call_id="c1"),
    said(
        "n0",
        "t1",
        GUIDE,
        role=TOOL,
        tool_call_id="c2",
        prompt=Prompt(
            question="Which?", type=OPTIONS, options=("one", "two"), answer="two", answered_by="n1"
        ),
    ),
    said("n1", "t1", ME, "two", answers="n0"),
    said("n2", "t1", GUIDE, "Hal", state=FAILED, error=Failure(kind="server", detail="<i>boom")),
]


def live() -> LiveSession:
    chat = Chat(assistant_id="guide", assistant_name=GUIDE.name, head="t1", language="en")
    session = ChatSession(id="01s", title="A <b> chat", chat=chat, created_at="2026-11-21")
    return LiveSession(StoredSession(session=session, messages=list(MESSAGES)), EventBus())


ORDER = [
    "around",
    "a.txt",
    "I send both.",
    '"task": "c1"',
    "left starts",
    "Uses open",
    "Allowed.",
    "It failed",
    "left ends",
    "Result",
    '"task": "c2"',
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
    page = export(live(), "html", PROMPTS)
    assert "<b>" not in page
    assert "<script" not in page
    assert "<i>" not in page
    assert "margin-left:1.6rem" in page
    assert "default-src 'none'" in page


def test_a_sub_agents_part_is_quoted_in_markdown() -> None:
    lines = export(live(), "md", PROMPTS).splitlines()
    assert "> left starts" in lines
    assert "# Look" in lines
    assert "**길\\<b\\>잡이**" in lines


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
        said("x3", "u9", GUIDE, role=TOOL, tool_call_id="nobody's"),
    ]
    told = [one for one in in_tree([*MESSAGES, *loose]) if isinstance(one, Message)]
    assert sorted(one.id for one in told) == sorted(one.id for one in [*MESSAGES, *loose])


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
