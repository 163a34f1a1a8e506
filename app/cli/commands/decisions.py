"""`moot decisions`, `moot decide` and `moot outcome`: what was decided, and what came of it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated

from app.cli.arguments import SessionId, Typed
from app.cli.command_run import CommandRun, checked_id
from app.cli.exit_status import FAULT, OK
from app.cli.printing.lines import columns, lines_text, one_line
from app.core.council import FAILED, HELD, PICKS, Decision, wilson
from app.core.texts import without_steering
from app.engine.decisions import DecisionState, decided_object, listed, made_at, standing
from app.engine.scores import ENOUGH, Score, held_up, panel_scores, scores, standing_lines


async def list_decisions(
    run: CommandRun, due: Annotated[bool, Typed("--due", text="decisions_due")] = False
) -> int:
    """Print what was decided, due ones first, and the verdicts that wait; then how right models were."""
    texts, journal = run.texts, run.moot.engine.journal
    today, everything = journal.today(), journal.all()
    decisions = listed([decision for decision in everything if decision.decided], today)
    waiting = listed([decision for decision in everything if not decision.decided], today)
    if due:
        decisions, waiting = list(journal.due()), []
    lines = columns(
        (
            texts(f"journal.state.{standing(decision, today)}"),
            decision.due or "-",
            decision.id,
            decision.name,
            decision.decided or texts("journal.verdict", text=decision.headline),
        )
        for decision in (*decisions, *waiting)
    )
    if due:
        told = lines_text(lines or [texts("cli.no_decisions_due")])
        return await run.answer({"decisions": [_row(run, decision) for decision in decisions]}, told)
    lines += map(one_line, standing_lines(everything, texts))
    shares = []
    for key, (held, count) in sorted(held_up(everything).items()):
        low, high = wilson(held, count)
        shares.append({"of": key, "held": held, "count": count, "from": round(low, 4), "to": round(high, 4)})
    record = {
        "decisions": [_row(run, decision) for decision in decisions],
        "undecided": [_row(run, decision) for decision in waiting],
        "scores": _enough(scores(everything)),
        "panel_scores": _enough(panel_scores(everything)),
        "held_up": shares,
    }
    return await run.answer(record, lines_text(lines or [texts("cli.no_decisions")]))


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
    kept = await run.moot.engine.journal.decide(live, option, why=why, sure=sure, sign=signal, due=check_on)
    return await run.answer(_row(run, kept), run.texts("cli.decided", text=one_line(kept.decided)) + "\n")


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
    councils, live, texts = run.moot.engine.councils, await run.open(session), run.texts
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


async def outcome(
    run: CommandRun,
    session: SessionId,
    came: Annotated[str, Typed(text="outcome_came", choices=("true", "false"))],
    note: Annotated[str, Typed("--note", text="outcome_note", metavar="TEXT")] = "",
) -> int:
    """Keep what came of a decision."""
    result = HELD if came == "true" else FAILED
    kept = await run.moot.engine.journal.settle(checked_id(session), result, note=note)
    state = run.texts(f"journal.state.{standing(kept, run.moot.engine.journal.today())}")
    return await run.answer(_row(run, kept), f"{one_line(kept.decided)}: {state}\n")


def _row(run: CommandRun, decision: Decision) -> dict[str, object]:
    """Return a decision as JSON, with how it stands and what `moot show` says of it."""
    state = standing(decision, run.moot.engine.journal.today())
    return {
        **asdict(decision),
        "at": made_at(decision),
        "state": str(state),
        "session_id": decision.id,
        **({} if state == DecisionState.NOT_DECIDED else {"decision": decided_object(decision)}),
    }


def _enough(found: Mapping[str, Score]) -> dict[str, object]:
    return {name: asdict(score) for name, score in sorted(found.items()) if score.count >= ENOUGH}
