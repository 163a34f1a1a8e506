"""The commands of debates: start, resume, reply, show."""

from dataclasses import replace
from itertools import groupby

from app.cli.arguments import BallotTimes
from app.cli.command_run import CommandRun
from app.cli.commands.chats import answering, attachments_of, context_of
from app.cli.exit_status import OK
from app.cli.parser import parse_spec
from app.cli.printing.debates import DebatePrinter, verdict_text
from app.cli.printing.lines import json_line, one_line
from app.cli.printing.sessions import cost_line, last_line
from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, EMBEDDED_VOICES
from app.core.errors import BadInput
from app.core.events import MessageFinished
from app.core.ids import new_id
from app.core.session import (
    ANY_JUDGE,
    DEFAULT_ROUNDS,
    MIN_PARTICIPANTS,
    NO_JUDGE,
    DebateMode,
    Participant,
)
from app.core.texts import language_of
from app.engine.debate.modes import ROLES as ROLE_NAMES
from app.engine.debate.setup import local_debaters
from app.engine.engine import DebateSetup
from app.engine.export.event_lines import event_line
from app.engine.live_session import LiveSession
from app.wiring import Moot


async def debate(run: CommandRun) -> int:
    """Start the debate that a command line describes."""
    setup = setup_of(run)
    context = await context_of(run, run.arguments.context, setup.participants)
    setup = replace(setup, context=context)
    run.moot.engine.debates.check(setup)
    await run.warm_up(embedded=any(one.provider == EMBEDDED for one in setup.participants))
    return await run.follow_debate(lambda: run.moot.engine.debates.start(setup))


async def resume_debate(run: CommandRun, live: LiveSession) -> int:
    """Resume a debate; skip a turn or leave out a participant if that is asked for."""
    engine, arguments, session_id = run.moot.engine, run.arguments, live.id
    held = engine.debates.held
    left_out = await held.participant(session_id, arguments.without) if arguments.without else None

    async def start() -> str:
        await run.warm_up()
        if left_out is not None:
            await held.go_on_without(session_id, left_out.id)
        elif arguments.skip_turn:
            await held.skip(session_id)
        else:
            await engine.resume(session_id)
        return session_id

    return await run.follow_debate(start)


async def reply_to_debate(run: CommandRun, live: LiveSession) -> int:
    """Answer the oldest open question; if there is none, say something, which the next participant reads."""
    answer = await answering(run, live)
    if answer is not None:

        async def start() -> str:
            await answer()
            return live.id

        return await run.follow_debate(start)
    session_id, before = live.id, len(live.messages)
    attachments = await attachments_of(run, live.debate_session.debate.participants)
    await run.moot.engine.debates.say(session_id, run.arguments.text, attachments)
    await run.moot.store.flush(session_id)
    if run.arguments.json:
        said = next(message for message in live.messages[before:] if message.role == "user")
        line = event_line(MessageFinished(session_id=session_id, message=said))
        await run.out.write(json_line(line))
    else:
        await run.print(run.texts("cli.said", title=one_line(live.session.title)))
    return OK


async def show_debate(run: CommandRun, live: LiveSession) -> int:
    """Print a whole debate."""
    printer = DebatePrinter(run.texts)
    printer.know(live.session)
    await run.out.write(printer.heading(live.session))
    said = list(live.whole_messages())
    for interim, messages in groupby(said, lambda one: one.is_interim):
        for text in [printer.work(messages)] if interim else map(printer.message, messages):
            await run.out.write(text)
    cost = cost_line(live.session, live.messages, run.texts)
    verdict = verdict_text(live.session, said, run.texts)
    await run.print(f"\n{verdict}{cost}{last_line(live.session, run.texts, read=True)}")
    return OK


def setup_of(run: CommandRun) -> DebateSetup:
    """Return the set-up that the command line describes, without its files; the engine checks it."""
    arguments = run.arguments
    participants = [_participant(run.moot, spec) for spec in arguments.participants]
    if not participants:
        participants = local_debaters(run.moot.engine.providers()) or [
            Participant(id=new_id(), name=name, provider=EMBEDDED, model=EMBEDDED_MODEL)
            for name in EMBEDDED_VOICES[:MIN_PARTICIPANTS]
        ]
    roles_given = any(participant.role for participant in participants)
    return DebateSetup(
        topic=arguments.text,
        participants=tuple(participants),
        mode=arguments.mode or (DebateMode.ROLES if roles_given else DebateMode.ROUND_ROBIN),
        rounds=DEFAULT_ROUNDS if arguments.rounds is None else arguments.rounds,
        seed=arguments.seed,
        polls=arguments.ballots == BallotTimes.ROUNDS,
        final_ballots=arguments.ballots == BallotTimes.FINAL,
        judge=arguments.judge or (ANY_JUDGE if arguments.verdict else NO_JUDGE),
        tools=arguments.tools,
        language=language_of(arguments.text),
        folder=run.folder,
    )


def _participant(moot: Moot, text: str) -> Participant:
    spec = parse_spec(text, ROLE_NAMES)
    status = next((one for one in moot.engine.providers() if one.config.id == spec.provider), None)
    model, colon, word = spec.model.rpartition(":")
    offered = status.models if status is not None and not status.local else ()
    if colon and model in offered and spec.model not in offered:
        # Few hosted models have tags, and this one is not offered with it, so the word was meant as a role.
        raise BadInput("unknown_role", role=word, name=spec.name, roles=", ".join(ROLE_NAMES))
    return Participant(id=new_id(), name=spec.name, provider=spec.provider, model=spec.model, role=spec.role)
