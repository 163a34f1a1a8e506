"""The commands that talk with an assistant or a group: ask, answer what it asks, go on, read it again.

Used by commands.
"""

import contextlib
from collections.abc import Awaitable, Callable

from app.cli.exit_status import BY_STATUS, FAULT, OK, PAUSED_OR_STOPPED, WAITS
from app.cli.follow import Call, followed, session_id_of, warm_up
from app.cli.printing.chats import ChatPrinter
from app.cli.printing.output import last_line, marks
from app.cli.printing.workflows import step_lines, workflow_end
from app.core.agent import Agent, Group
from app.core.errors import BadInput, NotFound
from app.core.message import Consent, Message, MessageState, PromptType
from app.core.reasons import LIMITS, reason_code
from app.core.session import AgentMode, Session, Status
from app.engine.chat.branches import last_answer, shown
from app.engine.live_session import LiveSession

_SAID = {
    Consent.ALLOW: frozenset((Consent.ALLOW, "yes", "y", "허용", "허락", "네", "예", "응")),
    Consent.ALWAYS: frozenset((Consent.ALWAYS, "항상", "항상 허용")),
    Consent.DENY: frozenset((Consent.DENY, "no", "n", "거부", "거절", "아니요", "아니오", "아니")),
}


async def ask(call: Call) -> int:
    """Say something to an assistant or a group, in a new session or in one there is."""
    engine, text, mode = call.moot.engine, call.arguments.text, call.arguments.mode
    who = await _who(call)
    if not call.arguments.session:

        async def start() -> str:
            await warm_up(call.moot)
            begin = engine.groups.start if isinstance(who, Group) else engine.chats.start
            return await begin(who.id, text, mode=mode or AgentMode.DEFAULT)

        return await finish(call, await followed(call, start, ChatPrinter(call.texts)))
    live = await engine.open(session_id_of(call.arguments))
    if mode:
        await engine.chats.choose_mode(live.id, mode)
    if isinstance(who, Group) or live.session.group is not None:
        said = _said_to(live, who, text)
        return await follow_chat(call, live, lambda: engine.chats.send(live.id, said))
    chat = live.chat_session.chat

    async def send() -> None:
        if chat.assistant_id != who.id:
            await engine.chats.choose_assistant(live.id, who.id)
        await engine.chats.send(live.id, text)

    return await follow_chat(call, live, send)


async def _who(call: Call) -> Agent | Group:
    """Return whom the command line names; an assistant comes before a group of the same name, and says so."""
    engine, typed = call.moot.engine, call.arguments.assistant
    group: Group | None = None
    with contextlib.suppress(NotFound):
        group = engine.groups.find(typed)
    try:
        agent = engine.assistants.find(typed)
    except NotFound:
        if group is None:
            raise NotFound("nobody_called", who=typed) from None
        return group
    if group is not None:
        other = group.name if group.id.casefold() == typed.strip().casefold() else group.id
        await call.out.complain(call.texts("cli.assistant_first", name=agent.name, other=other))
    return agent


def _said_to(live: LiveSession, who: Agent | Group, text: str) -> str:
    """Return what is said in a group's session: to the group, or to one of its members by @name.

    Raises BadInput for who is not in it.
    """
    session = live.session
    if session.group is not None:
        if isinstance(who, Group) and who.id == session.group.id:
            return text
        if isinstance(who, Agent) and who.id in session.group.members:
            return f"@{who.id} {text}"
    raise BadInput("not_in_session", who=who.name, title=session.title)


async def reply_to_chat(call: Call, live: LiveSession) -> int:
    """Answer the oldest question that waits; without one, say something."""
    chats = call.moot.engine.chats
    text = call.arguments.text
    waiting = [question for session_id, question in chats.needs_you() if session_id == live.id]
    if not waiting:
        return await follow_chat(call, live, lambda: chats.send(live.id, text))
    question = min(waiting, key=lambda one: one.id)
    answer = _approval(text) if question.prompt and question.prompt.type == PromptType.APPROVAL else text
    return await follow_chat(call, live, lambda: chats.answer(live.id, question.id, answer))


async def resume_chat(call: Call, live: LiveSession) -> int:
    """Resume a chat, a group or a workflow. Raises BadInput for options that only debates have."""
    if call.arguments.skip_turn or call.arguments.without:
        raise BadInput("not_a_debate", title=live.session.title)
    return await follow_chat(call, live, lambda: call.moot.engine.resume(live.id))


async def follow_chat(call: Call, live: LiveSession, go_on: Callable[[], Awaitable[None]]) -> int:
    """Let a chat go on and print what comes, until it is the user's turn."""
    printer = ChatPrinter(call.texts)
    printer.know(live.session, live.messages)

    async def start() -> str:
        await warm_up(call.moot)
        await go_on()
        return live.id

    return await finish(call, await followed(call, start, printer))


async def show_chat(call: Call, live: LiveSession) -> int:
    """Print the chosen version of a chat."""
    printer = ChatPrinter(call.texts)
    printer.know(live.session)
    await call.out.write(printer.heading(live.session))
    for text in printer.transcript(shown(live)):
        await call.out.write(text)
    if live.session.plan is not None:
        await call.out.write(printer.plan(live.session.plan))
    if live.session.workflow is not None:
        await call.out.write("\n" + "".join(step_lines(live.session.workflow, call.texts)))
        await call.out.write("\n" + workflow_end(live.session, call.texts))
        return OK
    await call.out.write("\n" + last_line(live.session, call.texts) + "\n")
    return OK


async def finish(call: Call, session: Session) -> int:
    """Say how a chat stands and return the exit status: 0 only where the assistant has answered."""
    if session.workflow is not None:
        if not call.arguments.json:
            await call.out.write("\n" + workflow_end(session, call.texts))
        return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)
    if not call.arguments.json:
        await call.out.write("\n" + last_line(session, call.texts) + "\n")
    if session.status != Status.IDLE:
        return WAITS if session.status == Status.WAITING else PAUSED_OR_STOPPED
    if reason_code(session.reason) in LIMITS:
        return PAUSED_OR_STOPPED
    answer = _last_answer(call, session)
    if answer is not None and answer.state == MessageState.FAILED:
        for line in marks(answer, call.texts):
            await call.out.complain(line.strip(" !\n"))
        return FAULT
    return OK if answer is not None and answer.state == MessageState.DONE else PAUSED_OR_STOPPED


def _last_answer(call: Call, session: Session) -> Message | None:
    live = call.moot.engine.live(session.id)
    return last_answer(live.turn(live.chat_session.chat.head)) if live is not None else None


def _approval(text: str) -> str:
    """Return what a word means for an approval. Raises BadInput that says which words are possible."""
    wanted = " ".join(text.casefold().split()).rstrip(".!")
    for answer, words in _SAID.items():
        if wanted in words:
            return answer
    raise BadInput("answer_unfit", answers=f"{Consent.ALLOW}, {Consent.ALWAYS}, {Consent.DENY}")
