"""The commands of debates and councils: start, resume, reply, show; the saved panels, and the journal."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import groupby

from app.cli.arguments import BallotTimes, CouncilStepName, parse_spec
from app.cli.command_run import CommandRun
from app.cli.commands.chats import answering, attachments_of, check_no_files, context_of
from app.cli.exit_status import BY_STATUS, FAULT, OK, PAUSED_OR_STOPPED
from app.cli.printing.debates import CouncilPrinter, DebatePrinter, council_text, verdict_text
from app.cli.printing.lines import columns, json_line, lines_text, one_line
from app.cli.printing.sessions import cost_line, last_line
from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, EMBEDDED_VOICES
from app.core.errors import BadInput
from app.core.events import MessageFinished, utc_now
from app.core.ids import new_id
from app.core.message import Message, MessageState
from app.core.session import (
    ANY_JUDGE,
    DEFAULT_ROUNDS,
    MIN_PARTICIPANTS,
    NO_JUDGE,
    DebateMode,
    DebateSession,
    Participant,
)
from app.core.texts import language_of
from app.core.verdict import wilson
from app.engine.council.journal import ENOUGH, Score, held_up, listed, panel_scores, standing_lines
from app.engine.council.outcome import lettered
from app.engine.council.panels import check_rounds
from app.engine.council.record import Record
from app.engine.debate.estimates import price_text
from app.engine.debate.modes import ROLES as ROLE_NAMES
from app.engine.debate.setup import local_debaters
from app.engine.engine import CouncilSetup, DebateSetup
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


def wanted_of(run: CommandRun) -> CouncilSetup:
    """Return the council that the command line describes: of its participants, or of a saved panel; without its files.

    Raises MootError.
    """
    arguments = run.arguments
    panel = run.moot.engine.councils.panels.find(arguments.panel) if arguments.panel else None
    setup = setup_of(run)
    chosen = panel.participants if panel else setup.participants if arguments.participants else ()
    if len(chosen) < MIN_PARTICIPANTS:
        raise BadInput("too_few_participants", count=len(chosen), least=MIN_PARTICIPANTS)
    return CouncilSetup(
        setup=replace(setup, participants=chosen, mode=DebateMode.COUNCIL, judge=""),
        differences=False if arguments.no_differences else None,
        max_usd=arguments.max_usd,
        panel=panel.id if panel else "",
        rounds=arguments.rounds,
        judge=arguments.judge or None,
        debates=arguments.debate or None,
    )


async def council(run: CommandRun) -> int:
    """Ask the models that a command line names, and compare their answers."""
    arguments = run.arguments
    wanted = wanted_of(run)
    context = await context_of(run, arguments.files, wanted.setup.participants)
    wanted = replace(wanted, setup=replace(wanted.setup, context=context))
    run.moot.engine.councils.check(wanted)
    await run.warm_up(embedded=any(one.provider == EMBEDDED for one in wanted.setup.participants))
    return await _follow(run, lambda: run.moot.engine.councils.start(wanted))


async def extend(run: CommandRun) -> int:
    """Let a council do something more, after a line with what that costs at most."""
    arguments, councils = run.arguments, run.moot.engine.councils
    what = CouncilStepName(arguments.action)
    live = await run.moot.engine.open(run.session_id)
    session = live.session
    council = session.debate.council if isinstance(session, DebateSession) else None
    if not isinstance(session, DebateSession) or council is None:
        raise BadInput("not_a_council", title=session.title)
    if arguments.judge:
        councils.check_judge(arguments.judge)
    rounds = council.offered_rounds if arguments.rounds is None else arguments.rounds
    check_rounds(rounds)
    record = Record(session.debate, live.messages)
    options = {letter: one for one, letter in lettered(record).items()}
    option = options.get(arguments.option.upper(), "")
    if what == CouncilStepName.ARGUE and not option:
        raise BadInput("council_option", option=arguments.option, options=", ".join(options))
    judge = arguments.judge or None
    ways: dict[str, Callable[[], Awaitable[None]]] = {
        CouncilStepName.DEBATE: lambda: councils.debate(live.id, rounds, judge),
        CouncilStepName.ARGUE: lambda: councils.argue(live.id, option),
        CouncilStepName.STRESS: lambda: councils.stress(live.id),
        CouncilStepName.CHECK: lambda: councils.check_outside(live.id),
        CouncilStepName.JOIN: lambda: councils.join(live.id),
        CouncilStepName.SOLO: lambda: councils.solo(live.id),
        CouncilStepName.JUDGE: lambda: councils.judge(live.id, judge or ANY_JUDGE),
        CouncilStepName.COMPARE: lambda: councils.compare(live.id),
        CouncilStepName.MERGE: lambda: councils.merge(live.id),
    }
    before = len(live.messages)

    async def take_step() -> None:
        if what != CouncilStepName.JOIN:
            wanted = replace(council, offered_rounds=rounds)
            debate = replace(session.debate, council=wanted, judge=judge or session.debate.judge)
            await _say_price(run, replace(session, debate=debate), live.messages, what)
        await ways[what]()

    status = await _go_on(run, live, take_step)
    failed = any(one.state == MessageState.FAILED for one in live.messages[before:])
    one_call = what in (
        CouncilStepName.CHECK,
        CouncilStepName.SOLO,
        CouncilStepName.COMPARE,
        CouncilStepName.MERGE,
    )
    return FAULT if status == OK and failed and one_call else status


async def _say_price(
    run: CommandRun, session: DebateSession, messages: Sequence[Message], what: CouncilStepName
) -> None:
    """Print what a step uses: a line, or the event `estimate`."""
    engine = run.moot.engine
    await engine.estimates.ask(engine.councils.estimate(session, messages, what).unasked)
    found = engine.councils.estimate(session, messages, what)
    if run.arguments.json:
        usd = list(found.usd) if found.usd else None
        record = {"event": "estimate", "session_id": session.id, "at": utc_now(), "step": what.value}
        await run.out.write(
            json_line({**record, "calls": found.turns, "tokens": list(found.tokens), "usd": usd})
        )
        return
    name = run.texts("council.judge.choose" if what == CouncilStepName.JUDGE else f"council.{what}")
    money = price_text(run.texts, found)
    await run.print(f"{name}: {run.texts('estimate.call', count=found.turns, money=money)}")


async def list_panels(run: CommandRun) -> int:
    """Print the saved panels with their participants and rounds."""
    panels = run.moot.engine.councils.panels.all()
    rows = []
    for one in panels:
        participants = ", ".join(f"{each.name}={each.provider}/{each.model}" for each in one.participants)
        rows.append((one.id, one.name, run.texts("verdict.rounds", count=one.rounds), participants))
    lines = columns(rows) or [run.texts("cli.no_panels")]
    return await run.answer([asdict(one) for one in panels], lines_text(lines))


async def list_decisions(run: CommandRun) -> int:
    """Print the journal: each decision and what came of it, then how right models were and which results held up."""
    texts, journal = run.texts, run.moot.engine.councils.journal
    decisions = journal.all()
    lines = columns(
        (
            one.due or "-",
            one.id,
            texts(f"journal.result.{one.result}") if one.result else "-",
            one.name,
            one.decided,
        )
        for one in listed(decisions)
    )
    lines += map(one_line, standing_lines(decisions, texts))
    shares = []
    for key, (held, count) in sorted(held_up(decisions).items()):
        low, high = wilson(held, count)
        shares.append({"of": key, "held": held, "count": count, "from": round(low, 4), "to": round(high, 4)})
    record = {
        "decisions": [asdict(one) for one in decisions],
        "scores": _enough(journal.scores()),
        "panel_scores": _enough(panel_scores(decisions)),
        "held_up": shares,
    }
    return await run.answer(record, lines_text(lines or [texts("cli.no_decisions")]))


def _enough(found: Mapping[str, Score]) -> dict[str, object]:
    return {name: asdict(one) for name, one in sorted(found.items()) if one.count >= ENOUGH}


async def resume_council(run: CommandRun, live: LiveSession) -> int:
    """Go on with a council: what has ended is not asked again."""
    return await _go_on(run, live, lambda: run.moot.engine.resume(live.id))


async def reply_to_council(run: CommandRun, live: LiveSession) -> int:
    """Ask all participants something more."""
    check_no_files(run)
    return await _go_on(run, live, lambda: run.moot.engine.councils.ask(live.id, run.arguments.text))


async def show_council(run: CommandRun, live: LiveSession) -> int:
    """Print a whole council."""
    printer = CouncilPrinter(run.texts)
    await run.out.write(printer.heading(live.session))
    messages = list(live.whole_messages())
    for message in messages:
        await run.out.write(printer.message(message))
    await run.print(council_text(live.debate_session, messages, run.texts))
    await run.print(
        cost_line(live.session, live.messages, run.texts) + last_line(live.session, run.texts, read=True)
    )
    return 0


async def _go_on(run: CommandRun, live: LiveSession, step: Callable[[], Awaitable[None]]) -> int:
    """Take a step of a council and print it until its calls have ended."""

    async def start() -> str:
        await run.warm_up()
        await step()
        return live.id

    return await _follow(run, start)


async def _follow(run: CommandRun, start: Callable[[], Awaitable[str]]) -> int:
    """Print a council until its calls have ended, then what follows from it; return the exit status."""
    session = await run.follow(start, CouncilPrinter(run.texts))
    live = run.moot.engine.live(session.id)
    if live is not None and not run.arguments.json:
        text = council_text(live.debate_session, list(live.whole_messages()), run.texts)
        cost = cost_line(session, live.messages, run.texts)
        await run.print(f"{text}\n{cost}{last_line(session, run.texts)}")
    return BY_STATUS.get(session.status, PAUSED_OR_STOPPED)
