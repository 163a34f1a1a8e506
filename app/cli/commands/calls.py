"""What other programs may ask of Moot over MCP: ask, debate, council, wait, say, list; each answers
with one JSON object.

`mcp_server` hands them over as commands with a `caller`. What they start belongs to the Moot that runs it: it
goes on when the caller has gone. They cannot read a session without its id, or do what only the user may:
`_check_allowed` stands in front of all.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from inspect import Parameter, signature
from typing import Any

from app.cli.arguments import TOLD_WHOLE
from app.cli.command_run import CommandRun, is_council, outcome_text
from app.cli.commands.chats import open_question, send_step, who_of
from app.cli.commands.debates import participants_of
from app.cli.exit_status import OK, PAUSED_OR_STOPPED
from app.cli.interrupt import beside
from app.cli.printing.lines import error_line, json_line, load_texts
from app.cli.printing.sessions import marks, status_text
from app.core.council import ANY_JUDGE, NO_JUDGE, Ends, Participant
from app.core.definitions import Group
from app.core.errors import BadInput, MootError, NotFound
from app.core.events import Notice
from app.core.ids import new_id
from app.core.message import SPOKEN, CouncilPart, Message, Role, user_name
from app.core.provider import last_part
from app.core.session import DEFAULT_ROUNDS, RESTART, DebateMode, Status, has_ended, reason_code, resumable
from app.core.texts import Texts, language_of
from app.engine.debate.setup import DebateSetup
from app.engine.engine import CouncilSetup
from app.engine.live_session import LiveSession
from app.storage.codec import check

MOST_ROUNDS = 3
MOST_PARTICIPANTS = 5
USUAL_PARTICIPANTS = 3
MOST_AT_ONCE = 2
PROGRESS_S = 5.0
MOST_BYTES = 20_000
_LISTED = 20

Found = dict[str, object]


async def answer_call(run: CommandRun) -> int:
    """Write what a call answers, an error as well; PAUSED_OR_STOPPED
    where this Moot ends before there is an answer.
    """
    try:
        call = _CALLS.get(run.arguments.command)
        if call is None:
            raise BadInput("call_unknown", name=run.arguments.command)
        await _check_allowed(run, call)
        found = await call(run, **run.arguments.values)
    except MootError as error:
        found = {"error": error.code, "message": error_line(error, run.texts)}
    if found is None:
        return PAUSED_OR_STOPPED
    await run.out.write(json_line(found))
    return OK


async def _check_allowed(run: CommandRun, call: Callable[..., object]) -> None:
    """Raise BadInput for what only the user may do; each call passes here before it is carried out.

    Only the user answers a question, and goes on after a pause, a limit or a fault that paused a session.
    """
    arguments = run.arguments
    if chosen := arguments.values.keys() - taken_by(call).keys():
        raise BadInput("only_user_chooses", name=min(chosen))
    for name, parameter in taken_by(call).items():
        try:
            # What must be given and is not has a default that fits no type.
            check(parameter.annotation, arguments.values.get(name, parameter.default))
        except ValueError as error:
            raise BadInput("call_value", name=name) from error
    session = arguments.values.get("session")
    if call == _wait or not session:
        return  # Nothing is said to a session.
    live = await run.open(session)
    if open_question(run, live) is not None:
        raise BadInput("only_user_answers", title=live.session.title)
    own = live.session.asked_by == arguments.caller
    if live.session.debate is not None and has_ended(live.session) and not own:
        # What is said now begins a what-if round.
        raise BadInput("only_own_what_if", title=live.session.title)
    if resumable(live.session) and reason_code(live.session.reason) != RESTART:
        raise BadInput("only_user_resumes", title=live.session.title)


async def _ask(run: CommandRun, assistant: str, text: str, session: str = "") -> Found:
    """Ask an assistant or a group, in a new session or an existing one."""
    engine = run.engine
    who = await who_of(run, assistant)
    async with run.moot.calling:
        _check_free(run)
        if not session:
            begin = engine.groups.start if isinstance(who, Group) else engine.chats.start
            return _begun(run, await begin(who.id, text, asked_by=run.arguments.caller))
        live = await run.open(session)
        await send_step(run, live, who, text)()
        return {"session_id": live.id}


async def _debate(
    run: CommandRun,
    text: str,
    participants: Sequence[str] = (),
    mode: str = DebateMode.ROUND_ROBIN,
    rounds: int = DEFAULT_ROUNDS,
    verdict: bool = False,
) -> Found:
    """Start a debate."""
    if rounds > MOST_ROUNDS:
        raise BadInput("rounds_out_of_range", rounds=rounds, least=1, most=MOST_ROUNDS)
    judge = ANY_JUDGE if verdict else NO_JUDGE
    setup = _setup(run, text, participants, mode=mode, rounds=rounds, judge=judge, polls=verdict)
    async with run.moot.calling:
        _check_free(run)
        return _begun(run, await run.engine.debates.start(setup))


async def _council(run: CommandRun, text: str, participants: Sequence[str] = (), panel: str = "") -> Found:
    """Ask several models one question, or those of a saved panel."""
    saved = run.engine.councils.panels.find(panel) if panel else None
    setup = _setup(run, text, participants, saved.participants if saved else (), mode=DebateMode.COUNCIL)
    wanted = CouncilSetup(setup=setup, panel=saved.id if saved else "", ends=Ends.NONE)
    async with run.moot.calling:
        _check_free(run)
        return _begun(run, await run.engine.councils.start(wanted))


async def _wait(run: CommandRun, session: str, count: int = 0, seen: Sequence[str] = ()) -> Found | None:
    """Wait until a session no longer runs, `count` seconds at most, and return what was said
    that the caller does not know.

    A session that a program began, and that another Moot could not finish, goes on here.
    """
    engine, loop = run.engine, asyncio.get_running_loop()
    live = await run.open(session)
    begun = live.session
    cut_off = begun.status == Status.PAUSED and reason_code(begun.reason) == RESTART
    if begun.asked_by and cut_off and not run.interrupted.is_set():
        await engine.resume(live.id)
    until = loop.time() + count
    async with beside(engine.wait(live.id), run.interrupted.wait()) as tasks:
        while not any(task.done() for task in tasks) and (left := until - loop.time()) > 0:
            done, _ = await asyncio.wait(
                tasks, timeout=min(PROGRESS_S, left), return_when=asyncio.FIRST_COMPLETED
            )
            if not done:
                await run.out.write(json_line({"progress": _progress(live)}))
    if run.interrupted.is_set():
        return None
    await run.moot.store.flush(live.id)
    return _state(run, live, seen)


async def _say(run: CommandRun, session: str, text: str) -> Found:
    """Step into a debate, or say more in a session of another kind."""
    engine, caller = run.engine, run.arguments.caller
    live = await run.open(session)
    before = {message.id for message in live.whole_messages()}
    async with run.moot.calling:
        is_debate = live.session.debate is not None and not is_council(live.session)
        if not is_debate or engine.debates.is_over(live):
            _check_free(run)
        if is_debate:
            await engine.debates.say(live.id, text, by=caller)
        else:
            send = engine.chats.send if live.session.debate is None else engine.councils.ask
            await send(live.id, text, by=caller)
    new = [each.id for each in live.whole_messages() if each.role == Role.USER and each.id not in before]
    return {"session_id": live.id, "said": new}


async def _list(run: CommandRun, name: str = "") -> Found:
    """List assistants, groups, panels, models, the latest sessions that the caller began, or all of these."""
    engine, caller = run.engine, run.arguments.caller
    if name in ("all", "models"):
        await engine.look_for_servers()
    assistants = engine.assistants.all()
    names = {each.id: each.name for each in assistants}
    ready = [each for each in engine.providers() if each.ready and each.config.enabled]
    begun = [each for each in engine.sessions() if each.asked_by == caller][:_LISTED]
    found: dict[str, list[Any]] = {
        name: [] for name in ("assistants", "groups", "panels", "models", "sessions")
    }
    found["assistants"] = [{"name": each.name, "id": each.id} for each in assistants if each.enabled]
    for group in engine.groups.all():
        members = [names.get(each, each) for each in group.members]
        found["groups"].append({"name": group.name, "id": group.id, "members": members})
    for panel in engine.councils.panels.all():
        participants = [each.name for each in panel.participants]
        found["panels"].append({"name": panel.name, "participants": participants})
    for status in ready:
        models = (status.models or (status.default_model,))[:_LISTED]
        found["models"] += [f"{status.config.id}/{model}" for model in models]
    for each in begun:
        state = {"kind": each.kind, "status": _status(each.status)}
        found["sessions"].append({"session_id": each.id, "title": each.title, **state})
    if name not in ("all", *found):
        raise BadInput("call_unknown", name=name)
    return {what: rows for what, rows in found.items() if name in ("all", what)}


# What carries each call out; the parameters are all that a caller may give.
_CALLS: dict[str, Callable[..., Awaitable[Found | None]]] = {
    "ask": _ask,
    "debate": _debate,
    "council": _council,
    "show": _wait,
    "reply": _say,
    "sessions": _list,
}


def taken_by(call: Callable[..., object]) -> dict[str, Parameter]:
    """Return what a caller may give, by name."""
    return {name: each for name, each in signature(call).parameters.items() if name != "run"}


def _begun(run: CommandRun, session_id: str) -> Found:
    """Tell the user what was begun."""
    live = run.engine.live(session_id)
    details = {"name": run.arguments.caller, "title": live.session.title if live is not None else ""}
    run.engine.bus.publish(Notice(session_id=session_id, level="info", code="agent_began", details=details))
    return {"session_id": session_id}


def _check_free(run: CommandRun) -> None:
    """Raise BadInput where as many sessions run that programs began as may."""
    begun = [each for each in run.engine.sessions() if each.asked_by and each.status == Status.RUNNING]
    if len(begun) >= MOST_AT_ONCE:
        raise BadInput("calls_at_once", most=MOST_AT_ONCE)


def _setup(
    run: CommandRun, topic: str, named: Sequence[str], of_panel: tuple[Participant, ...] = (), **chosen: Any
) -> DebateSetup:
    """Return the set-up that a call describes: of a panel, else of those that it names, else
    of the usual ones.

    Raises BadInput, NotFound.
    """
    candidates = run.engine.debates.candidates()
    described = participants_of(run, [text for text in named if "=" in text])
    participants, specified = of_panel, iter(described)
    if named and not of_panel:
        by_name = {each.participant.name.casefold(): each.participant for each in reversed(candidates)}
        by_id = {each.participant.id.casefold(): each.participant for each in candidates}
        participants = tuple(
            next(specified) if "=" in text else _participant(text, by_id | by_name) for text in named
        )
    if len(participants) > MOST_PARTICIPANTS:
        raise BadInput("too_many_participants", count=len(participants), most=MOST_PARTICIPANTS)
    usual = tuple(each.participant for each in candidates if each.chosen) or described
    chosen |= {"participants": participants or usual[:USUAL_PARTICIPANTS], "asked_by": run.arguments.caller}
    return DebateSetup(topic=topic, language=language_of(topic), **chosen)


def _participant(text: str, known: dict[str, Participant]) -> Participant:
    """Return an assistant or a model by its name, or PROVIDER/MODEL. Raises NotFound."""
    found = known.get(text.strip().casefold())
    if found is not None:
        return replace(found, id=new_id())
    provider, slash, model = text.strip().partition("/")
    if not (provider and slash and model):
        raise NotFound("nobody_called", who=text)
    return Participant(id=new_id(), name=last_part(model), provider=provider, model=model)


def _state(run: CommandRun, live: LiveSession, seen: Sequence[str]) -> Found:
    """Return how a session stands, and what was said that the caller does not know."""
    session, texts = live.session, run.texts
    statements, more = _untold(_said(live), seen, texts)
    found: Found = {"session_id": live.id, "title": session.title}
    found |= {"status": _status(session.status), "statements": statements}
    if more:
        found["more"] = True
    question = open_question(run, live)
    if question is not None and (prompt := question.prompt) is not None:
        found |= {"question": prompt.question, "options": list(prompt.options), "for_user": True}
    if session.status in (Status.PAUSED, Status.ERROR, Status.STOPPED):
        found["reason"] = status_text(session, texts)
    if has_ended(session):
        words = load_texts(session.debate.language) if session.debate is not None else texts
        found["result"] = outcome_text(session, live, words).strip()
    return found


def _untold(
    messages: Iterable[Message], seen: Iterable[str], texts: Texts
) -> tuple[list[dict[str, object]], bool]:
    """Return what fits of that which the caller does not know, and whether there is more.

    `seen` are ids of messages that it knows, or ID:CHARACTERS where it knows the beginning. Of each statement
    `from` and `to` are the characters that it has; `to` is TOLD_WHOLE at the end of the message.
    """
    known = {}
    for known_part in seen:
        message_id, _, characters = known_part.partition(":")
        known[message_id] = int(characters) if characters.isdecimal() else TOLD_WHOLE
    room = MOST_BYTES
    found: list[dict[str, object]] = []
    for message in messages:
        begun = known.get(message.id, 0)
        if begun == TOLD_WHOLE:
            continue
        text = (message.content + "".join(f"\n{line.strip()}" for line in marks(message, texts)))[begun:]
        taken = text[:room].encode("utf-8", "replace")[:room].decode("utf-8", "ignore")
        if text and not taken:
            return found, True
        whole = len(taken) == len(text)
        end = TOLD_WHOLE if whole else begun + len(taken)
        name = user_name(message.author, texts) if message.author.program else message.author.name
        told = {"id": message.id, "from": begun, "to": end}
        found.append(told | {"name": name, "round": message.round, "text": taken})
        if not whole:
            return found, True
        room -= len(taken.encode("utf-8", "replace"))
    return found, False


def _status(status: str) -> str:
    """Return the status of a session for a caller: a chat in which it is the user's turn is completed."""
    return Status.COMPLETED if status == Status.IDLE else status


def _said(live: LiveSession) -> list[Message]:
    """Return what was said: in a chat since the user's last message, in a council and a debate
    from the beginning.
    """
    session = live.session
    if session.debate is None:
        messages = [each for each in live.shown() if not each.is_interim]
        last = max((place for place, each in enumerate(messages) if each.role == Role.USER), default=-1)
        return [each for each in messages[last + 1 :] if each.role == Role.ASSISTANT and each.ended]
    parts = set(SPOKEN) - {CouncilPart.QUESTION}
    spoken = (each for each in live.whole_messages() if each.part in parts and not each.is_interim)
    return [each for each in spoken if each.role in (Role.ASSISTANT, Role.USER) and each.ended]


def _progress(live: LiveSession) -> str:
    """Return in a few words how far a session is."""
    debate = live.session.debate
    speaking = [message.author.name for message in live.streaming()]
    if debate is None or debate.is_council:
        return ", ".join(speaking) or live.session.status
    at = f"round {min(debate.round, debate.rounds)} of {debate.rounds}"
    return f"{at}: {', '.join(speaking)}" if speaking else at
