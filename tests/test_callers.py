"""What a program over MCP may do in a session: every command that it reaches, before every kind of question and pause."""

import json
from collections.abc import AsyncIterator, Iterable
from dataclasses import replace
from inspect import Parameter
from pathlib import Path
from typing import Any

import pytest

from app.cli.arguments import COMMANDS, Arguments, Many, parameters_of
from app.cli.commands.calls import _CALLS, taken_by
from app.cli.interrupt import Interrupt
from app.cli.running import run_for_another
from app.core.errors import BadInput
from app.core.ids import new_id
from app.core.message import Consent, FormField, Message, Prompt, PromptReason, PromptType, Role
from app.core.session import (
    RESTART,
    Council,
    DebateMode,
    DebateSession,
    DebateTools,
    Reason,
    Session,
    Status,
    reason_code,
)
from app.wiring import Moot, open_moot
from tests.asked import Answers
from tests.many_kinds import ADA, messages, sessions
from tests.storage.samples import finished, started

CALLER = "Claude Code"
KINDS = ("chat", "group", "workflow", "debate", "council")
_APPROVAL = Prompt(
    question="delete_mails", type=PromptType.APPROVAL, tool="delete_mails", reason=PromptReason.TOOL
)
_OWN = replace(
    _APPROVAL, reason=PromptReason.AGENT_ASKS, options=("For this folder",), kinds=("allow_always",)
)
_SERVER = Prompt(question="Really delete 5,312 mails?", type=PromptType.YESNO, server="mail")
_FIELD = FormField(key="sure", label="Sure?", kind="yesno", required=True)
# Each kind of question, with the answer that would fit.
QUESTIONS = {
    "approval": (_APPROVAL, Consent.ALLOW),
    "approval for good": (_APPROVAL, Consent.FOREVER_SERVER),
    "approval of all": (_APPROVAL, "allow all"),
    "may have run": (replace(_APPROVAL, reason=PromptReason.MAY_HAVE_RUN), Consent.ALLOW),
    "hand-over": (replace(_APPROVAL, tool="switchAssistant"), Consent.ALLOW),
    "an agent works in a folder": (replace(_APPROVAL, reason=PromptReason.AGENT_WORKS), Consent.FOREVER),
    "an agent's own option": (_OWN, "option-1"),
    "a server's form": (Prompt(question="Sure?", type=PromptType.FORM, fields=(_FIELD,), server="mail"), "yes"),
    "a server's question": (_SERVER, "yes"),
    "a server's address": (replace(_SERVER, link="https://example.com/"), "yes"),
    "a server's page": (replace(_SERVER, type=PromptType.TEXT, reason=PromptReason.PAGE), "yes"),
    "an assistant's text": (Prompt(question="Which city?"), "Seoul"),
    "an assistant's options": (Prompt(question="Which?", type=PromptType.OPTIONS, options=("a", "b")), "a"),
    "an assistant's yes or no": (Prompt(question="Go on?", type=PromptType.YESNO), "yes"),
}  # fmt: skip
PAUSES = (
    Reason.BY_USER,
    Reason.BUDGET_COST,
    Reason.BUDGET_MINUTES,
    Reason.BUDGET_MODEL_CALLS,
    "budget_month",
    "turns_limit:20",
    Reason.STEP_FAILED,
    "rate_limit",
)


@pytest.fixture
async def moot(data_dir: Path) -> AsyncIterator[Moot]:
    made = await open_moot(data_dir, language="en")
    yield made
    await made.close()


def a_session(kind: str, **changed: object) -> Session:
    """Return a session of a kind that the user began."""
    found = next(found for found, _ in sessions() if found.kind == ("debate" if kind == "council" else kind))
    if isinstance(found, DebateSession):
        mode = DebateMode.COUNCIL if kind == "council" else found.debate.mode
        council = Council() if kind == "council" else None
        found = replace(
            found, debate=replace(found.debate, mode=mode, council=council, tools=DebateTools.READING)
        )
    else:
        found = replace(found, chat=replace(found.chat, head="t2", queue=(), always=()))  # type: ignore[call-arg, union-attr]
    return replace(found, id=new_id(), **changed)  # type: ignore[arg-type]


async def with_question(moot: Moot, kind: str, prompt: Prompt) -> tuple[str, Message]:
    """Save a session that waits for an answer; return its id and the question."""
    session = a_session(kind, status=Status.WAITING, reason=Reason.QUESTION)
    asked = Message(
        id=new_id(),
        turn_id="t2",
        role=Role.SYSTEM,
        author=ADA,
        follows="t1",
        tool_call_id="c1",
        prompt=prompt,
    )
    moot.store.append(started(session))  # type: ignore[arg-type]
    for message in (messages()[0], asked):
        moot.store.append((finished(session.id, message),))
    await moot.store.flush(session.id)
    await moot.engine.open(session.id)
    return session.id, asked


def given(session_id: str, answer: str) -> dict[str, Any]:
    """Return for each argument what would do most in a session."""
    kinds = {
        name: kind
        for command, (_, *actions) in COMMANDS.items()
        for action in actions or ("",)
        for name, kind, _ in parameters_of(command, action)
    }
    assert len(kinds) > 30
    examples = {bool: True, str: answer, Many: (answer,)}
    values = {name: examples[kind] for name, kind in kinds.items() if kind in examples}
    return values | {
        "session": session_id,
        "assistant": "assistant",
        "rounds": 1,
        "seed": 1,
        "max_usd": 1_000.0,
        "action": "accept",
        "mode": DebateMode.ROUND_ROBIN,
        "name": "all",
        "participants": (),
        "files": ("/etc/hostname",),
        "seen": (),
        "count": 0,
        "step": "a",
    }


async def called(moot: Moot, command: str, values: dict[str, Any]) -> dict[str, Any]:
    """Let a program give a command through the private channel; return the answer."""
    out = Answers("yes", "yes", "yes")
    asked = Arguments(command=command, caller=CALLER, language="en", values=values)
    arguments = Arguments.from_json(json.loads(json.dumps(asked.to_json())))
    await run_for_another(moot, arguments, out, Interrupt())  # type: ignore[arg-type]
    assert not out.questions and not out.err, (command, out.err)
    *_, last = out.out.splitlines()
    return dict(json.loads(last))


def ways(session_id: str, answer: str) -> Iterable[tuple[str, dict[str, Any]]]:
    """Yield the commands that a caller reaches, with all that it may give."""
    everything = given(session_id, answer)
    for command, call in _CALLS.items():
        yield command, {name: everything[name] for name in taken_by(call)}


@pytest.mark.threat("T11")
@pytest.mark.parametrize("kind", KINDS)
async def test_no_command_of_a_caller_answers_a_question(moot: Moot, kind: str) -> None:
    for name, (prompt, answer) in QUESTIONS.items():
        session_id, asked = await with_question(moot, kind, prompt)
        live, settings = await moot.engine.open(session_id), moot.engine.settings()
        before = live.session
        for command, values in ways(session_id, answer):
            found = await called(moot, command, values)
            assert live.turns.messages[asked.id] == asked, (name, command)
            assert live.session == before, (name, command)
            if {"session", "text"} <= values.keys():
                assert found["error"] == "only_user_answers", (name, command)
        assert moot.engine.settings() == settings
        assert moot.engine.journal.get(session_id) is None
        assert [question.id for of, question in moot.engine.chats.needs_you() if of == session_id] == [
            asked.id
        ]


@pytest.mark.threat("T11")
@pytest.mark.parametrize("kind", KINDS)
async def test_no_command_of_a_caller_goes_on_after_a_limit_or_a_pause(moot: Moot, kind: str) -> None:
    for reason in PAUSES:
        assert reason_code(reason) != RESTART
        session = a_session(kind, status=Status.PAUSED, reason=reason, asked_by=CALLER)
        moot.store.append(started(session))  # type: ignore[arg-type]
        await moot.store.flush(session.id)
        live = await moot.engine.open(session.id)
        for command, values in ways(session.id, "Go on."):
            await called(moot, command, values)
            assert live.session == session, (reason, command)
            assert not live.messages, (reason, command)


@pytest.mark.threat("T11")
async def test_a_caller_begins_what_if_rounds_only_in_a_session_that_it_began(moot: Moot) -> None:
    for asked_by in ("", "another"):
        session = a_session("debate", status=Status.COMPLETED, reason="rounds_done", asked_by=asked_by)
        moot.store.append(started(session))  # type: ignore[arg-type]
        await moot.store.flush(session.id)
        live = await moot.engine.open(session.id)
        found = await called(moot, "reply", {"session": session.id, "text": "What if?"})
        assert found["error"] == "only_own_what_if"
        assert live.session == session and not live.messages


@pytest.mark.threat("T11")
async def test_no_other_command_is_open_to_a_caller(moot: Moot) -> None:
    session_id, asked = await with_question(moot, "chat", _APPROVAL)
    values = given(session_id, Consent.ALLOW)
    for command in (*COMMANDS, "unknown"):
        found = await called(moot, command, values)
        code = "only_user_chooses" if command in _CALLS else "call_unknown"
        assert found["error"] == code, command
    assert (await moot.engine.open(session_id)).turns.messages[asked.id] == asked


async def test_a_caller_gives_no_argument_but_those_of_its_call(moot: Moot) -> None:
    """Its own budget, files, a folder, an effort and the mode of tools are the user's to choose."""
    everything = given(new_id(), "Hello")
    for command, call in _CALLS.items():
        for name in everything.keys() - taken_by(call).keys():
            found = await called(moot, command, {name: everything[name]})
            assert found["error"] == "only_user_chooses" and f"“{name}”" in found["message"]
    assert not moot.engine.sessions()


async def test_a_value_of_the_wrong_type_is_named_and_nothing_begins(moot: Moot) -> None:
    everything = given(new_id(), "Hello")
    for command, call in _CALLS.items():
        for name in taken_by(call):
            values = {each: everything[each] for each in taken_by(call)} | {name: {"odd": 1}}
            found = await called(moot, command, values)
            assert found["error"] == "call_value" and f"“{name}”" in found["message"], (command, found)
        needed = [name for name, each in taken_by(call).items() if each.default is Parameter.empty]
        found = await called(moot, command, {}) if needed else {}
        assert not needed or (found["error"] == "call_value" and f"“{needed[0]}”" in found["message"])
    assert not moot.engine.sessions()


@pytest.mark.parametrize("kind", ["chat", "group", "workflow"])
async def test_the_engine_itself_lets_no_program_answer(moot: Moot, kind: str) -> None:
    """A question may open after the call was looked at."""
    session_id, asked = await with_question(moot, kind, Prompt(question="Which city?"))
    with pytest.raises(BadInput) as refused:
        await moot.engine.chats.send(session_id, "Seoul", by=CALLER)
    assert refused.value.code == "only_user_answers"
    assert (await moot.engine.open(session_id)).turns.messages[asked.id] == asked
