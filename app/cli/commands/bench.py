"""`moot bench council`: asks a panel puzzles whose answers are known, and says what each way to ask came to.

Each puzzle is a session, so that a run that was cut goes on where it was.
"""

from dataclasses import replace

from app.cli.command_run import CommandRun
from app.cli.commands.councils import wanted_of
from app.cli.exit_status import OK, PAUSED_OR_STOPPED
from app.cli.printing.lines import lines_text
from app.core.errors import BadInput
from app.core.session import DEFAULT_COUNCIL_ROUNDS, NO_JUDGE, DebateMode, DebateSession, Status
from app.core.texts import Texts
from app.core.usage import amount_text
from app.engine.council.measuring import FEW, Measured, wilson
from app.engine.council.outcome import outcome
from app.engine.council.puzzles import LEAST, MOST, Puzzle, puzzles
from app.engine.engine import CouncilSetup, DebateSetup
from app.engine.live_session import LiveSession

KNIGHTS = "knights"


async def bench(run: CommandRun) -> int:
    """Hold a council on each puzzle, and print what each way to ask came to."""
    arguments = run.arguments
    people = _people(arguments.tasks)
    if arguments.count < 1:
        raise BadInput("bench_count", count=arguments.count)
    wanted = wanted_of(run)
    setup = replace(wanted.setup, language="en")
    asked = puzzles(arguments.count, people, arguments.seed or 1)
    run.moot.engine.councils.check(CouncilSetup(setup=replace(setup, topic=asked[0].question)))
    known = await _held_before(run, setup, asked)
    # Answers, the comparison, the turns of two rounds and the ballots.
    calls = len(setup.participants) * (DEFAULT_COUNCIL_ROUNDS + 2) + 1
    left = (arguments.count - len(known)) * calls
    if left and not await run.confirm(run.texts("cli.bench.ask", count=arguments.count, calls=left)):
        return PAUSED_OR_STOPPED
    await run.warm_up()
    measured, spent = Measured(), 0.0
    for number, puzzle in enumerate(asked, 1):
        rest = arguments.max_usd - spent if arguments.max_usd else 0.0
        if rest < 0 or run.interrupted.is_set():
            break
        live = await _held(run, replace(setup, topic=puzzle.question), known.get(puzzle.question), rest)
        if live is None:
            break
        messages = list(live.whole_messages())
        spent += sum(one.usage.cost_usd or 0.0 for one in messages if one.usage is not None)
        measured.add(puzzle, live.debate_session.debate, messages)
        if not arguments.json:
            await run.out.complain(run.texts("cli.bench.done", number=number, count=arguments.count))
    await run.answer(_object(measured), _table(measured, run.texts))
    return OK if measured.questions == arguments.count else PAUSED_OR_STOPPED


def _people(tasks: str) -> int:
    name, _, people = tasks.partition(":")
    if name != KNIGHTS or not people.isdecimal() or not LEAST <= int(people) <= MOST:
        raise BadInput("bench_tasks", tasks=tasks, least=LEAST, most=MOST)
    return int(people)


async def _held_before(run: CommandRun, setup: DebateSetup, asked: list[Puzzle]) -> dict[str, str]:
    """Return the sessions that were begun with the same participants, by their puzzle."""
    panel = [(one.name, one.provider, one.model) for one in setup.participants]
    questions = {one.question for one in asked}
    found: dict[str, str] = {}
    for summary in run.moot.engine.sessions():
        if summary.mode == DebateMode.COUNCIL and summary.title[:24] == asked[0].question[:24]:
            live = await run.moot.engine.open(summary.id)
            debate = live.debate_session.debate
            same = [(one.name, one.provider, one.model) for one in debate.participants] == panel
            if same and debate.topic in questions:
                found.setdefault(debate.topic, summary.id)
    return found


async def _held(run: CommandRun, setup: DebateSetup, known: str | None, max_usd: float) -> LiveSession | None:
    """Hold a council to its end, or go on with one; None if it was paused."""
    engine = run.moot.engine
    wanted = CouncilSetup(setup=setup, max_usd=max_usd, differences=True, debates=False)
    session_id = known or await engine.councils.start(wanted)
    live = await engine.open(session_id)
    if live.session.status == Status.PAUSED:
        await engine.resume(session_id)
    if not await _waited(run, live):
        return None
    debate = live.debate_session.debate
    council = debate.council
    if council and council.helper and not council.rounds and outcome(debate, live.messages).is_open:
        await engine.councils.debate(session_id, DEFAULT_COUNCIL_ROUNDS, NO_JUDGE)
        if not await _waited(run, live):
            return None
    return live


async def _waited(run: CommandRun, live: LiveSession) -> bool:
    """Wait until a council has ended; pause it when Ctrl-C is pressed."""
    await run.unless_interrupted(run.moot.engine.wait(live.id))
    if live.session.status == Status.RUNNING:
        for _ in range(2):
            await run.moot.engine.pause(live.id)
        await run.moot.engine.wait(live.id)
    await run.moot.store.flush(live.id)
    session = live.session
    return isinstance(session, DebateSession) and session.status in (Status.COMPLETED, Status.ERROR)


def _object(measured: Measured) -> dict[str, object]:
    count = measured.questions
    arms = {
        name: {
            "right": round(arm.right, 2),
            "share": round(arm.right / count, 4) if count else None,
            "from": round(wilson(arm.right, count)[0], 4),
            "to": round(wilson(arm.right, count)[1], 4),
            "tokens": arm.tokens,
            "cost_usd": arm.cost_usd,
        }
        for name, arm in measured.arms.items()
    }
    return {
        "questions": count,
        "arms": arms,
        "better": measured.better,
        "worse": measured.worse,
        "trailers_read": measured.trailers,
        "ballots_read": measured.ballots,
    }


def _table(measured: Measured, texts: Texts) -> str:
    count = measured.questions
    lines = ["", texts("cli.bench.heading", count=count)]
    for name, arm in measured.arms.items():
        low, high = wilson(arm.right, count)
        share = f"{100 * arm.right / max(1, count):5.1f} % ({100 * low:.0f}–{100 * high:.0f})"
        cost = amount_text(arm.cost_usd) if arm.cost_usd is not None else texts("cost.unknown")
        tokens = texts("cli.bench.tokens", tokens=f"{arm.tokens // max(1, count):,}")
        lines.append(f"  {texts(f'cli.bench.arm.{name}')}: {share} · {tokens} · {cost}")
    lines.append(texts("cli.bench.moved", better=measured.better, worse=measured.worse))
    for part, (read, of) in (("trailers", measured.trailers), ("ballots", measured.ballots)):
        if of:
            lines.append(texts(f"cli.bench.{part}", read=read, count=of))
    if count < FEW:
        lines.append(texts("cli.bench.few", least=FEW))
    return lines_text(lines)
