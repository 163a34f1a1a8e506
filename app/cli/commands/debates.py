"""The commands of debates and councils: start, extend; the saved panels; what was decided and came of it."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Annotated, Any

from app.cli.arguments import AsItLooks, Folder, Many, SessionId, Typed, absolute, amount, parse_spec
from app.cli.command_run import CommandRun, Step, checked_id
from app.cli.commands.chats import attachments_of
from app.cli.exit_status import FAULT, OK
from app.cli.printing.chats import CouncilPrinter, DebatePrinter
from app.cli.printing.lines import columns, lines_text, one_line
from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, EMBEDDED_VOICES
from app.core.council import ANY_JUDGE, FAILED, HELD, MIN_PARTICIPANTS, NO_JUDGE, PICKS, Ends, Participant
from app.core.errors import BadInput
from app.core.ids import new_id, utc_now
from app.core.message import Message, MessageState
from app.core.session import CLASSIC_MODES, DEFAULT_ROUNDS, DebateMode, DebateSession, DebateTools
from app.core.texts import language_of, without_steering
from app.engine.council.outcome import outcome
from app.engine.council.panels import check_rounds
from app.engine.council.record import Record
from app.engine.debate.estimates import Estimate, beside_text, price_text
from app.engine.debate.modes import ROLES as ROLE_NAMES
from app.engine.debate.setup import local_debaters
from app.engine.decisions import decision_object, listed, standing
from app.engine.engine import CouncilSetup, DebateSetup
from app.engine.scores import standing_lines, standing_object
from app.wiring import Moot

DEBATE_ENDS = tuple(ends for ends in Ends if ends != Ends.MERGE)
Judge = Annotated[str, Typed("--judge", text="council_judge", metavar="PROVIDER/MODEL")]
Helper = Annotated[str, Typed("--helper", text="helper", metavar="PROVIDER/MODEL")]
Options = Annotated[Many, Typed("--option", text="option", metavar="TEXT")]
# What a council can be asked to do further.
_FURTHER = ("debate", "argue", "stress", "check", "join", "solo", "judge", "compare", "merge")


async def debate(
    run: CommandRun,
    *,
    text: Annotated[str, Typed(text="topic", metavar="TOPIC")],
    participants: Annotated[Many, Typed("-p", "--participant", text="participant", metavar="SPEC")] = (),
    mode: Annotated[str, Typed("--mode", choices=CLASSIC_MODES)] = "",
    rounds: Annotated[int, Typed("--rounds", type=int, metavar="1..10")] = DEFAULT_ROUNDS,
    seed: Annotated[int | None, Typed("--seed", type=int, metavar="N")] = None,
    ballots: Annotated[str, Typed("--ballots", choices=("final", "rounds"))] = "",
    verdict: Annotated[bool, Typed("--verdict")] = False,
    ends: Annotated[str, Typed("--ends", text="debate_ends", choices=DEBATE_ENDS)] = "",
    judge: Annotated[str, Typed("--judge", text="debate_judge", metavar="PROVIDER/MODEL")] = "",
    helper: Helper = "",
    tools: Annotated[str, Typed("--tools", text="debate_tools", choices=DebateTools)] = DebateTools.NONE,
    context: Annotated[Many, Typed("--context", metavar="FILE", type=absolute)] = (),
    options: Options = (),
    folder: Folder = "",
    as_it_looks: AsItLooks = False,
) -> int:
    """Start a debate; without participants, models of this computer take part."""
    judges = verdict or judge not in ("", NO_JUDGE)
    # A verdict comes after votes.
    votes = ballots and ends != Ends.VERDICT
    _check_ends(ends, Ends.VERDICT if judges else Ends.VOTE if votes else "")
    chosen = participants_of(run, participants)
    mode = mode or (DebateMode.ROLES if any(each.role for each in chosen) else DebateMode.ROUND_ROBIN)
    how: dict[str, Any] = {"mode": mode, "rounds": rounds, "seed": seed, "helper": helper, "tools": tools}
    how |= {"polls": ballots == "rounds", "final_ballots": ballots == "final", "options": options}
    how |= {"judge": judge or (ANY_JUDGE if verdict else NO_JUDGE), "participants": chosen}
    seen = await attachments_of(run, context, chosen, as_it_looks=as_it_looks, pictures=False)
    setup = _setup(run, text, folder, context=seen, **how)
    setup = setup.ending(Ends(ends)) if ends else setup
    run.engine.debates.check(setup)
    await run.warm_up(embedded=any(each.provider == EMBEDDED for each in chosen))
    if not run.arguments.json:
        helpers, estimate = run.engine.councils.first_helpers(setup), run.engine.estimates.debate(setup, 0)
        await _say_helpers(run, *helpers, estimate)
    return await run.follow(lambda: run.engine.debates.start(setup), DebatePrinter(run.texts))


async def _say_helpers(run: CommandRun, judge: str, helper: str, estimate: Estimate) -> None:
    """Print who judges and who helps in what is about to begin, each a "provider/model", "" for nobody,
    and how many calls read the web.
    """
    named = {"council.judge.choose": judge, "setup.helper": helper}
    parts = [f"{run.texts(key)}: {one_line(model)}" for key, model in named.items() if model]
    reads = beside_text(run.texts, replace(estimate, checks=0))
    line = " · ".join(filter(None, (*parts, reads)))
    if line:
        await run.print(line)


def _setup(run: CommandRun, text: str, folder: str, **how: Any) -> DebateSetup:
    """Return the set-up of a debate or a council about a text, in a folder."""
    return DebateSetup(topic=text, language=language_of(text), folder=run.folder_id(folder), **how)


def _check_ends(ends: str, other: str) -> None:
    """Raise BadInput where a decision is to end in one way, and other options mean another."""
    if ends and other and ends != other:
        raise BadInput("ends_differ", ends=ends, other=other)


def participants_of(run: CommandRun, specs: Sequence[str]) -> tuple[Participant, ...]:
    """Return the participants that are described, without any those of this computer. Raises BadInput."""
    described = [_participant(run.moot, spec) for spec in specs]
    return tuple(described or local_debaters(run.engine.providers())) or tuple(
        Participant(id=new_id(), name=name, provider=EMBEDDED, model=EMBEDDED_MODEL)
        for name in EMBEDDED_VOICES[:MIN_PARTICIPANTS]
    )


def _participant(moot: Moot, text: str) -> Participant:
    spec = parse_spec(text, ROLE_NAMES)
    status = next((each for each in moot.engine.providers() if each.config.id == spec.provider), None)
    model, colon, word = spec.model.rpartition(":")
    offered = status.models if status is not None and not status.local else ()
    if colon and model in offered and spec.model not in offered:
        # Few hosted models have tags, and this one is not offered with it, so the word was meant as a role.
        raise BadInput("unknown_role", role=word, name=spec.name, roles=", ".join(ROLE_NAMES))
    return spec


async def council(
    run: CommandRun,
    *,
    text: Annotated[str, Typed(text="question", metavar="QUESTION")],
    participants: Annotated[
        Many, Typed("-p", "--participant", text="council_participant", metavar="SPEC")
    ] = (),
    panel: Annotated[str, Typed("--panel", metavar="NAME")] = "",
    files: Annotated[Many, Typed("--file", text="council_file", metavar="PATH", type=absolute)] = (),
    options: Options = (),
    no_differences: Annotated[bool, Typed("--no-differences")] = False,
    debate: Annotated[bool, Typed("--debate", text="council_debate")] = False,
    ends: Annotated[str, Typed("--ends", text="council_ends", choices=Ends)] = "",
    rounds: Annotated[int | None, Typed("--rounds", text="council_rounds", type=int, metavar="1..5")] = None,
    judge: Judge = "",
    helper: Helper = "",
    tools: Annotated[
        str, Typed("--tools", text="council_tools", choices=[*DebateTools][:2])
    ] = DebateTools.NONE,
    seed: Annotated[int | None, Typed("--seed", text="council_seed", type=int, metavar="N")] = None,
    max_usd: Annotated[float, Typed("--max-usd", "--budget-usd", type=amount, metavar="X")] = 0.0,
    folder: Folder = "",
    as_it_looks: AsItLooks = False,
) -> int:
    """Ask several models, or those of a saved panel, and compare their answers."""
    if debate or judge not in ("", NO_JUDGE):
        other = Ends.VOTE if judge == NO_JUDGE else Ends.VERDICT
        _check_ends(ends, other)
        ends = ends or other
    councils = run.engine.councils
    saved = councils.panels.find(panel) if panel else None
    described = participants_of(run, participants) if participants else ()
    chosen = saved.participants if saved else described
    if len(chosen) < MIN_PARTICIPANTS:
        raise BadInput("too_few_participants", count=len(chosen), least=MIN_PARTICIPANTS)
    how: dict[str, Any] = {"seed": seed, "helper": helper, "tools": tools, "options": options}
    how |= {"mode": DebateMode.COUNCIL, "rounds": DEFAULT_ROUNDS if rounds is None else rounds}
    seen = await attachments_of(run, files, chosen, as_it_looks=as_it_looks, pictures=False)
    setup = _setup(run, text, folder, participants=chosen, context=seen, **how)
    wanted = CouncilSetup(
        setup=setup,
        differences=False if no_differences else None,
        max_usd=max_usd,
        panel=saved.id if saved else "",
        rounds=rounds,
        judge=judge or None,
        ends=Ends(ends) if ends else None,
    )
    councils.check(wanted)
    await run.warm_up(embedded=any(each.provider == EMBEDDED for each in chosen))
    if not run.arguments.json:
        await _say_helpers(run, *councils.first_helpers(wanted), councils.first_estimate(wanted))
    return await run.follow(lambda: councils.start(wanted), CouncilPrinter(run.texts))


async def extend(
    run: CommandRun,
    session: SessionId,
    action: Annotated[str, Typed(text="council_step", choices=_FURTHER)],
    rounds: Annotated[int | None, Typed("--rounds", text="extend_rounds", type=int, metavar="1..5")] = None,
    judge: Judge = "",
    helper: Helper = "",
    option: Annotated[str, Typed("--option", text="extend_option", metavar="LETTER")] = "",
) -> int:
    """Let a council do something more, or a debate be judged once more, after a line with what
    that costs at most.
    """
    councils = run.engine.councils
    live = await run.open(session)
    of, messages = live.session, live.messages
    if not isinstance(of, DebateSession):
        raise BadInput("not_a_council", title=of.title)
    if judge:
        councils.providers.check_judge(judge, of)
    if not of.debate.is_council and action != "judge":
        raise BadInput("extend_debate", title=of.title)
    record = Record(of.debate, messages)
    council = record.council
    rounds = council.offered_rounds if rounds is None else rounds
    check_rounds(rounds)
    options = {letter: each for each, letter in record.letters.items()}
    chosen = options.get(option.upper(), "")
    if action == "argue" and not chosen:
        raise BadInput("council_option", option=option, options=", ".join(options))
    if helper:
        await councils.choose_helper(live.id, helper)
        of = live.debate_session
    ways: dict[str, Step] = {
        "debate": lambda: councils.debate(live.id, rounds, judge),
        "argue": lambda: councils.argue(live.id, chosen),
        "judge": lambda: councils.judge(live.id, judge or ANY_JUDGE),
    }
    before = len(messages)

    async def take_step() -> None:
        if action != "join":
            wanted = replace(council, offered_rounds=rounds)
            debate = replace(of.debate, council=wanted, judge=judge or of.debate.judge)
            await say_price(run, replace(of, debate=debate), live.messages, action)
        await ways.get(action, lambda: councils.further(live.id, action))()

    status = await run.go_on(live, take_step)
    failed = any(each.state == MessageState.FAILED for each in live.messages[before:])
    if not of.debate.is_council:
        failed = bool(outcome(Record(live.debate_session.debate, live.messages)).failure)
    one_call = action in ("check", "solo", "compare", "merge") or not of.debate.is_council
    return FAULT if status == OK and failed and one_call else status


async def say_price(
    run: CommandRun, session: DebateSession, messages: Sequence[Message], what: str, asked: Sequence[str] = ()
) -> None:
    """Print what a step uses: a line, or the event `estimate`.
    In a what-if round only those that are `asked` speak.
    """
    estimated = partial(run.engine.councils.estimate, session, messages, what, asked)
    found = await run.engine.estimates.priced(estimated)
    usd = list(found.usd) if found.usd else None
    record: dict[str, Any] = {"event": "estimate", "session_id": session.id, "at": utc_now(), "step": what}
    record |= {"calls": found.turns, "checks": found.checks, "reads": found.reads}
    record |= {"tokens": list(found.tokens), "usd": usd, "helpers": run.engine.councils.helpers_of(session)}
    name = run.texts("council.judge.choose" if what == "judge" else f"council.{what}")
    words = run.texts("estimate.call", count=found.turns, money=price_text(run.texts, found))
    line = " · ".join(filter(None, (words, beside_text(run.texts, found))))
    await run.answer(record, f"{name}: {line}\n")


async def list_panels(run: CommandRun) -> int:
    """Print the saved panels with their participants and rounds."""
    panels = run.engine.councils.panels.all()
    rows = []
    for panel in panels:
        participants = ", ".join(f"{each.name}={each.provider}/{each.model}" for each in panel.participants)
        rows.append((panel.id, panel.name, run.texts("verdict.rounds", count=panel.rounds), participants))
    return await run.answer_rows([asdict(panel) for panel in panels], rows, "cli.no_panels")


async def list_decisions(
    run: CommandRun, due: Annotated[bool, Typed("--due", text="decisions_due")] = False
) -> int:
    """Print what was decided, due ones first, and the verdicts that wait; then how right models were."""
    texts, journal = run.texts, run.engine.journal
    today, everything = journal.today(), journal.all()
    decisions = listed([decision for decision in everything if decision.decided], today)
    waiting = listed([decision for decision in everything if not decision.decided], today)
    if due:
        decisions, waiting = list(journal.due()), []
    rows = []
    for each in (*decisions, *waiting):
        state = texts(f"journal.state.{standing(each, today)}")
        said = each.decided or texts("journal.verdict", text=each.headline)
        rows.append((state, each.due or "-", each.id, each.name, said))
    record: dict[str, object] = {"decisions": [decision_object(each, today) for each in decisions]}
    if due:
        return await run.answer_rows(record, rows, "cli.no_decisions_due")
    record["undecided"] = [decision_object(each, today) for each in waiting]
    lines = [*columns(rows), *map(one_line, standing_lines(everything, texts))]
    told = lines_text(lines or [texts("cli.no_decisions")])
    return await run.answer(record | standing_object(everything), told)


async def decide(
    run: CommandRun,
    session: SessionId,
    option: Annotated[str, Typed(text="decide_option", metavar="OPTION")],
    why: Annotated[str, Typed("--why", text="decide_why", metavar="TEXT")] = "",
    sure: Annotated[int | None, Typed("--sure", text="decide_sure", type=int, metavar="0..100")] = None,
    signal: Annotated[str, Typed("--signal", text="decide_signal", metavar="TEXT")] = "",
    check_on: Annotated[str, Typed("--check-on", text="decide_check_on", metavar="DATE")] = "",
) -> int:
    """Keep what was decided in a session: one of its options, or other words."""
    live = await run.open(session)
    kept = await run.engine.journal.decide(live, option, why=why, sure=sure, sign=signal, due=check_on)
    record = decision_object(kept, run.engine.journal.today())
    return await run.answer(record, run.texts("cli.decided", text=one_line(kept.decided)) + "\n")


async def blind(
    run: CommandRun,
    session: SessionId,
    pick: Annotated[str, Typed("--pick", text="blind_pick", choices=PICKS, either=True)] = "",
    read: Annotated[bool, Typed("--read", text="blind_read", either=True)] = False,
) -> int:
    """Show what all came to and the answer of one model alone, without saying which is which; keep
    which is better.

    With `read` keep only that the verdict was read.
    """
    councils, live, texts = run.engine.councils, await run.open(session), run.texts
    if read:
        await councils.note_read(live.id)
        return OK
    if pick:
        kept = await councils.pick(live.id, pick)
        first = texts(f"blind.{kept.order[0]}")
        said = texts("blind.picked", first=first, second=texts(f"blind.{kept.order[1]}"))
        said += "" if kept.was_blind else f" {texts('blind.read_before')}"
        return await run.answer({"session_id": live.id, **asdict(kept)}, said + "\n")
    if (answers := await councils.show_blind(live.id)) is None:
        status = await run.quietly(live, lambda: councils.ask_blind(live.id))
        answers = await councils.show_blind(live.id)
        if answers is None:
            await run.out.complain(texts("blind.failed"))
            return FAULT if status == OK else status
    record = {"session_id": live.id, "A": answers[0], "B": answers[1]}
    first, second = map(without_steering, answers)
    lines = ["A:", first, "", "B:", second, "", texts("blind.how", session_id=live.id)]
    return await run.answer(record, lines_text(lines))


async def note_outcome(
    run: CommandRun,
    session: SessionId,
    came: Annotated[str, Typed(text="outcome_came", choices=("true", "false"))],
    note: Annotated[str, Typed("--note", text="outcome_note", metavar="TEXT")] = "",
) -> int:
    """Keep what came of a decision."""
    kept = await run.engine.journal.settle(checked_id(session), HELD if came == "true" else FAILED, note=note)
    record = decision_object(kept, run.engine.journal.today())
    state = run.texts(f"journal.state.{record['state']}")
    return await run.answer(record, f"{one_line(kept.decided)}: {state}\n")
