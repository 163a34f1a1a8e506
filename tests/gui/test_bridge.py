"""Events become signals in their order; text that streams arrives once a frame, whole and in time."""

import asyncio

import pytest

from app.core.events import (
    CallsStreamed,
    EventBus,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    Notice,
    PromptAsked,
    ToolFinished,
    ToolStarted,
    TurnFinished,
)
from app.core.message import Author, Message, MessageState, Prompt, ToolCall
from app.gui.bridge import Bridge
from tests.app_driver import until

AUTHOR = Author(id="a", name="Ada", kind="participant")


def message(name: str = "m1", **fields: object) -> Message:
    return Message(id=name, turn_id="t", role="assistant", author=AUTHOR, **fields)


def delta(offset: int, text: str, name: str = "m1") -> MessageDelta:
    return MessageDelta(session_id="s", message_id=name, offset=offset, text=text)


@pytest.fixture
def bus_and_log(qapp):
    bus, log = EventBus(), []
    bridge = Bridge(bus)
    bridge.message_started.connect(lambda event: log.append(("started", event.message.id)))
    bridge.text_arrived.connect(lambda _session, name, text, _thinking: log.append((name, text)))
    bridge.message_finished.connect(lambda event: log.append(("finished", event.message.id)))
    bridge.notice.connect(lambda event: log.append(("notice", event.code)))
    bridge.calls_streamed.connect(lambda event: log.append(("calls", event.tool_calls[0].arguments)))
    for signal in (bridge.tool_started, bridge.tool_finished, bridge.prompt_asked, bridge.turn_finished):
        signal.connect(lambda event: log.append((type(event).__name__,)))
    yield bus, log
    bridge.close()


async def test_the_first_words_come_at_once(bus_and_log):
    bus, log = bus_and_log
    bus.publish(MessageStarted(session_id="s", message=message(state=MessageState.STREAMING)))
    bus.publish(delta(0, "Hello"))
    assert log == [("started", "m1"), ("m1", "Hello")]


async def test_what_follows_is_gathered_into_one_piece(bus_and_log):
    bus, log = bus_and_log
    bus.publish(MessageStarted(session_id="s", message=message(state=MessageState.STREAMING)))
    for at, text in enumerate("abcdef"):
        bus.publish(delta(at, text))
    await until(lambda: len(log) == 3)
    assert log[1:] == [("m1", "a"), ("m1", "bcdef")]


async def test_nothing_arrives_after_the_end(bus_and_log):
    bus, log = bus_and_log
    bus.publish(MessageStarted(session_id="s", message=message(state=MessageState.STREAMING)))
    bus.publish(delta(0, "a"), delta(1, "b"))
    bus.publish(MessageFinished(session_id="s", message=message(content="ab")))
    assert log[-2:] == [("m1", "b"), ("finished", "m1")]
    await asyncio.sleep(0.08)
    assert log[-1] == ("finished", "m1")


async def test_text_that_was_gathered_comes_before_the_message_begins_again(bus_and_log):
    bus, log = bus_and_log
    bus.publish(MessageStarted(session_id="s", message=message(state=MessageState.STREAMING)))
    bus.publish(delta(0, "a"), delta(1, "b"))
    bus.publish(MessageStarted(session_id="s", message=message(state=MessageState.STREAMING, thinking="ab")))
    bus.publish(delta(0, "c"))
    assert [entry for entry in log if entry[0] != "finished"][1:] == [
        ("m1", "a"),
        ("m1", "b"),
        ("started", "m1"),
        ("m1", "c"),
    ]


async def test_two_streams_do_not_mix(bus_and_log):
    bus, log = bus_and_log
    for name in ("m1", "m2"):
        bus.publish(MessageStarted(session_id="s", message=message(name, state=MessageState.STREAMING)))
        bus.publish(delta(0, "", name))
    for at in range(20):
        bus.publish(delta(at, "x", "m1"), delta(at, "y", "m2"))
    await until(lambda: sum(len(text) for name, text in log if name in ("m1", "m2")) == 40)
    assert "".join(text for name, text in log if name == "m1") == "x" * 20
    assert "".join(text for name, text in log if name == "m2") == "y" * 20


def calls(arguments: str) -> CallsStreamed:
    return CallsStreamed(
        session_id="s",
        message_id="m1",
        tool_calls=(ToolCall(id="c", name="web_fetch", arguments=arguments),),
    )


async def test_of_calls_that_grow_only_the_newest_of_a_frame_is_shown(bus_and_log):
    bus, log = bus_and_log
    bus.publish(MessageStarted(session_id="s", message=message(state=MessageState.STREAMING)))
    for end in range(1, 8):
        bus.publish(calls('{"a": 1}'[:end]))
    await until(lambda: len(log) == 2)
    assert log[1] == ("calls", '{"a": 1')
    bus.publish(calls('{"a": 1}'))
    bus.publish(MessageFinished(session_id="s", message=message()))
    assert log[2:] == [("calls", '{"a": 1}'), ("finished", "m1")]
    await asyncio.sleep(0.08)
    assert len(log) == 4


async def test_what_happens_to_calls_questions_and_turns_passes_in_order(bus_and_log):
    bus, log = bus_and_log
    call = {"session_id": "s", "turn_id": "t", "tool_call_id": "c", "name": "ask"}
    bus.publish(
        ToolStarted(**call, arguments=""),
        ToolFinished(**call, ok=True, content=""),
        PromptAsked(session_id="s", message_id="m", prompt=Prompt(question="?")),
        TurnFinished(session_id="s", turn_id="t", outcome="done"),
    )
    assert [name for (name,) in log] == ["ToolStarted", "ToolFinished", "PromptAsked", "TurnFinished"]


async def test_a_notice_passes(bus_and_log):
    bus, log = bus_and_log
    bus.publish(Notice(session_id="", level="warning", code="disk_full"))
    assert log == [("notice", "disk_full")]


def test_closing_stops_listening(qapp):
    bus, log = EventBus(), []
    bridge = Bridge(bus)
    bridge.notice.connect(log.append)
    bridge.close()
    bus.publish(Notice(session_id="", level="info", code="x"))
    assert log == []
