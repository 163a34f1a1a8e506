"""What other programs export comes in: texts, roles and dates; what is malformed is said with its place."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core.definitions import Agent
from app.core.errors import BadInput
from app.core.events import EventBus
from app.core.session import Status
from app.core.store import StoredSession
from app.engine.importing import APPS, Arrivals, Surroundings, arrivals
from app.engine.live_session import LiveSession
from tests.builders import PROMPTS
from tests.engine import foreign_exports as exports
from tests.repeats import examples

ADA = Agent(id="ada", name="Ada")


def never(_session: object, _messages: Sequence[object]) -> StoredSession:
    raise AssertionError("no session of Moot's")


def read(*values: Any, taken: Sequence[str] = ()) -> Arrivals:
    around = Surroundings(
        words=PROMPTS.lines("en", "import"), language="en", agent=ADA, taken=taken, read_exported=never
    )
    return arrivals("file.json", values, around)


def said(found: Arrivals, place: int = 0) -> list[tuple[str, str, str]]:
    """Return role, speaker and text of what is shown of a session."""
    session, messages = found.sessions[place].make()
    live = LiveSession(StoredSession(session=session, messages=list(messages)), EventBus())
    assert session.status == Status.IDLE
    assert live.chat_session.chat.assistant_id == "ada"
    return [(one.role, one.author.name, one.content) for one in live.shown()]


def test_chatgpt_brings_the_path_that_was_shown():
    found = read(exports.chatgpt())
    (one,) = found.sessions
    assert (one.app, one.title, one.messages) == ("ChatGPT", "Cars in cities", 4)
    assert (one.first, one.last) == ("2024-05-14T18:18:10.494Z", "2024-05-14T18:18:16.000Z")
    assert said(found) == [
        ("user", "User", "(an image was here)\n\nWhat is this? 안녕 \ufffd\n\n(a file was here: plan.pdf)"),
        ("assistant", "gpt-4o", "```python\nprint(1)\n```"),
        ("assistant", "python", "```\n1\n```"),
        ("assistant", "gpt-4o", "A **car**."),
    ]


def test_what_chatgpt_told_its_tools_is_left_out_and_its_documents_and_sources_are_kept():
    """Searches and orders for pictures are no answers; marks become links and names; a document is its text."""
    cite, entity = "\ue200cite\ue202turn0search0\ue201", '\ue200entity\ue202["place","Old Bridge","x"]\ue201'
    unknown = "\ue200cite\ue202turn0search9\ue201"
    value = exports.chatgpt()
    mapping = value["mapping"]
    answer = mapping["a3"]["message"]
    answer["content"]["parts"] = [f"Built in 1931 {cite}. {entity} stands{unknown}. \ue200 \ue201"]
    answer["metadata"]["content_references"] = [
        {"matched_text": cite, "alt": "", "items": [{"title": "A bridge", "url": "https://example.org/b"}]},
        {"matched_text": "1931", "alt": "1932"},
    ]
    for name, told in (
        ("c1", {"content_type": "code", "language": "unknown", "text": '{"search_query":[{"q":"x"}]}'}),
        ("a2", {"content_type": "text", "parts": ['{"prompt":"a bridge","n":1}']}),
    ):
        mapping[name]["message"] |= {"recipient": "web.run", "content": told}
    document = {"name": "note", "type": "document", "content": "# The bridge\n\nOf stone."}
    code = {"content_type": "code", "language": "json", "text": json.dumps(document)}
    mapping["t1"]["message"] |= {
        "author": {"role": "assistant"},
        "recipient": "canmore.create_textdoc",
        "content": code,
    }
    assert said(read(value))[1:] == [
        ("assistant", "gpt-4o", "# The bridge\n\nOf stone."),
        ("assistant", "gpt-4o", "Built in 1931 ([A bridge](https://example.org/b)). Old Bridge stands. "),
    ]


def test_chatgpt_without_the_current_node_takes_the_newest_leaf():
    value = exports.chatgpt()
    value["current_node"] = "gone"
    assert said(read(value))[-1][2] == "A **car**."


def test_claude_brings_blocks_in_order_and_names_files():
    found = read(exports.claude())
    assert found.sessions[0].title == "Read this"
    assert said(found) == [
        ("user", "User", "Read this\n\n**notes.txt**\n\n```\nabc\n```\n\n(an image was here)"),
        ("assistant", "Claude", "(used web_search)\n\nIt says abc."),
    ]


def test_claude_brings_artifacts_and_pasted_texts_once():
    value = exports.claude()
    question, answer = value["chat_messages"]
    question["files"].append({"file_name": "notes.txt"})
    answer["content"] = [
        {"type": "tool_use", "name": "artifacts", "input": {"type": "text/markdown", "content": "# Letter"}},
        {"type": "tool_use", "name": "artifacts", "input": {"language": "css", "content": "a {}"}},
        {"type": "tool_use", "name": "artifacts", "input": {"command": "update", "old_str": "a"}},
    ]
    assert [text for _, _, text in said(read(value))] == [
        "Read this\n\n**notes.txt**\n\n```\nabc\n```\n\n(an image was here)",
        "# Letter\n\n```css\na {}\n```\n\n(used artifacts)",
    ]


def test_claude_calls_the_user_by_two_words_and_brings_nobody_else():
    value = exports.claude()
    value["chat_messages"][0]["sender"] = "user"
    value["chat_messages"].append({**value["chat_messages"][1], "uuid": "m3", "sender": "system"})
    assert said(read(value)) == said(read(exports.claude()))


def test_claude_with_versions_brings_the_one_that_was_shown():
    value = exports.claude()
    first, second = value["chat_messages"]
    first["parent_message_uuid"] = "00000000-0000-4000-8000-000000000000"
    second["parent_message_uuid"] = "m1"
    other = {**second, "uuid": "m3", "content": [{"type": "text", "text": "Another version"}]}
    value["chat_messages"].append(other)
    value["current_leaf_message_uuid"] = "m2"
    assert [text for _, _, text in said(read(value))][-1].endswith("It says abc.")


def test_open_webui_brings_the_path_that_was_shown():
    expected = [("user", "User", "Hello\n\n(an image was here)"), ("assistant", "Qwen 3", "Hi there")]
    assert said(read(exports.open_webui())) == expected
    assert said(read(exports.open_webui()["chat"])) == expected
    flat = exports.open_webui()
    del flat["chat"]["history"]
    assert said(read(flat)) == expected


def test_lobe_chat_brings_a_conversation_for_each_topic():
    found = read(exports.lobe_chat())
    assert [one.title for one in found.sessions] == ["Help wanted", "Tutor"]
    assert said(found) == [
        ("user", "User", "Could you help?\n\n(a file was here: ?)"),
        ("assistant", "gpt-4o-mini", "Of course."),
    ]
    assert [text for *_, text in said(read(exports.lobe_database()))] == ["Could you help?", "Of course."]


def test_each_program_is_known_by_what_is_in_its_file():
    values = (exports.chatgpt(), exports.claude(), exports.open_webui(), exports.lobe_chat())
    for place, value in enumerate(values):
        assert [app.is_of(value) for app in APPS] == [other == place for other in range(len(APPS))]
    assert [one.app for one in read(*values).sessions] == [
        "ChatGPT",
        "Claude",
        "Open WebUI",
        "LobeChat",
        "LobeChat",
    ]


def test_the_same_conversation_is_recognised():
    once = read(exports.chatgpt(), exports.chatgpt(), exports.chatgpt("another"))
    assert len(once.sessions) == len(once.fresh) == 2
    again = read(exports.chatgpt(), taken=[once.sessions[0].session_id])
    assert again.sessions[0].known
    assert again.fresh == ()
    session, _ = once.sessions[0].make()
    assert session.source == "chatgpt/6626ebf6-fb45-4d5b-a6e8-f77b0d9b77fa"


def test_one_malformed_conversation_does_not_hold_up_the_others():
    bad = exports.chatgpt()
    bad["mapping"]["a3"]["message"]["content"] = ["no"]
    found = read(bad, exports.claude())
    assert [one.app for one in found.sessions] == ["Claude"]
    assert found.faults[0].details["where"] == "[0] mapping.a3.message.content"
    with pytest.raises(BadInput) as refused:
        read(bad)
    assert refused.value.code == "import_wrong"


@pytest.mark.parametrize("values", [(), ({"user": 1},), (3, "x", None, [])])
def test_a_file_of_nobody_is_refused(values: tuple[Any, ...]):
    with pytest.raises(BadInput, match="import_unknown"):
        read(*values)


def test_a_file_of_empty_conversations_is_said_to_be_one():
    with pytest.raises(BadInput, match="import_nothing"):
        read({"uuid": "x", "chat_messages": []})


def test_rings_end():
    ring = exports.chatgpt()
    ring["mapping"]["u1"]["parent"] = "a3"
    assert len(said(read(ring))) == 4
    tree = exports.open_webui()
    tree["chat"]["history"]["messages"]["q"]["parentId"] = "a"
    assert len(said(read(tree))) == 2


SCRAPS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.data())
def test_whatever_is_in_a_field_is_read_or_refused_in_words(data: st.DataObject):
    """Any field of any export replaced by anything: a session, or BadInput."""
    value = data.draw(
        st.sampled_from(
            [exports.chatgpt, exports.claude, exports.open_webui, exports.lobe_chat, exports.lobe_database]
        )
    )()
    inside = value
    while True:
        key = data.draw(st.sampled_from(sorted(inside) if isinstance(inside, dict) else range(len(inside))))
        deeper = inside[key]
        if not isinstance(deeper, dict | list) or not deeper or data.draw(st.integers(0, 3)) == 0:
            inside[key] = data.draw(SCRAPS)
            break
        inside = deeper
    try:
        found = read(value)
    except BadInput:
        return
    for one in found.sessions:
        one.make()


def test_what_chatgpt_hid_is_not_imported_whoever_said_it():
    chat = exports.chatgpt()
    whole = said(read(chat))
    hidden = {"is_visually_hidden_from_conversation": True}
    for node in chat["mapping"].values():
        message = node["message"]
        if message and message["author"]["role"] in ("tool", "user"):
            message["metadata"] |= hidden
    assert said(read(chat)) == [row for row in whole if row[0] == "assistant" and row[1] != "python"]
