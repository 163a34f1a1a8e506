"""How a step of a workflow is displayed: text and tone of its state, its assistant, and its actions; pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from app.core.agent import Agent
from app.core.reasons import Reason
from app.core.session import ENDED, Status, WorkflowSession
from app.core.workflow import StepState, StepStatus, WorkflowDefinition, WorkflowStep, dependents
from app.gui.display.appearance import Language
from app.gui.display.descriptions import time_text
from app.gui.markdown.blocks import parse
from app.gui.markdown.document import plain_of
from app.gui.widgets.badge import initials

ACCEPT, RETRY, SKIP, STOP, ANSWER = "accept", "retry", "skip", "stop", "answer"
CUT = "cut"
TONES: dict[str, str] = {
    StepStatus.DONE: "ok",
    StepStatus.RUNNING: "accent",
    StepStatus.WAITING: "warn",
    StepStatus.FAILED: "error",
}
# Longer names do not fit into a chip.
SHORT_NAME = 8
# The part of a step's result that fits into a row; the transcript has all of it.
MOST_READ, MOST_LINES, MOST_MADE, MOST_LINKS = 4_000, 4, 240, 6
CHANGED = (StepStatus.RUNNING, StepStatus.WAITING, StepStatus.READY, StepStatus.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class StepLook:
    """A step as its row shows it; `action` is the most helpful action now, `others` are the rest.

    `made` is its result, short and in plain text; `links` are the (address, text) in it.
    """

    id: str
    name: str
    role: str
    who: str
    state: str
    depth: int = 0
    text: str = ""
    tone: str = "neutral"
    why: str = ""
    artifacts: str = ""
    made: str = ""
    links: tuple[tuple[str, str], ...] = ()
    action: str = ""
    others: tuple[str, ...] = field(default=())
    colour: int | None = None
    letters: str = ""


def depths(definition: WorkflowDefinition) -> dict[str, int]:
    """Return the depth of each step: the length of the longest path to it.

    In a cycle only the steps before it in the definition count.
    """
    known = {step.id for step in definition.steps}
    missing = {step.id: len({one for one in step.depends_on if one in known}) for step in definition.steps}
    after, depth = dependents(definition), dict.fromkeys(known, 0)
    due = [step_id for step_id, count in missing.items() if not count]
    for step_id in due:
        for one in after.get(step_id, ()):
            depth[one] = max(depth[one], depth[step_id] + 1)
            missing[one] -= 1
            if not missing[one]:
                due.append(one)
    reached = set(due)
    for step in definition.steps:
        if step.id not in reached:
            depth[step.id] = 1 + max((depth[one] for one in step.depends_on if one in reached), default=-1)
            reached.add(step.id)
    return depth


def in_order(definition: WorkflowDefinition, depth: Mapping[str, int]) -> list[WorkflowStep]:
    """Return the steps ordered by depth."""
    return sorted(definition.steps, key=lambda step: depth[step.id])


def seconds_of(state: StepState, now: datetime) -> int | None:
    """Return the seconds a step took, or takes so far; None if it has not started."""
    if not state.started_at:
        return None
    try:
        if state.state != StepStatus.RUNNING and state.seconds:
            return int(state.seconds)
        begun = datetime.fromisoformat(state.started_at)
        ended = datetime.fromisoformat(state.ended_at) if state.ended_at else now
        return max(0, int(state.seconds + (ended - begun).total_seconds()))
    except (ValueError, TypeError, OverflowError):  # A damaged file may hold anything as a date.
        return None


def looks_of(
    session: WorkflowSession, agents: Mapping[str, Agent], colours: Mapping[str, int], words: Language
) -> list[StepLook]:
    """Return the rows of a workflow's steps in order; `agents` and `colours` are by id."""
    work = session.workflow
    states = {state.id: state for state in work.steps}
    names = {step.id: step.name for step in work.definition.steps}
    depth, now = depths(work.definition), datetime.now(UTC)
    looks = []
    for step in in_order(work.definition, depth):
        state = states.get(step.id, StepState(id=step.id))
        if state.state == StepStatus.RUNNING and not any_runs(session):
            # It was interrupted, by a pause or by the end of the program, and continues with the rest.
            state = replace(state, state=StepStatus.WAITING, reason=CUT)
        elif (state.state, state.reason) == (
            StepStatus.WAITING,
            Reason.BUSY,
        ) and session.status != Status.RUNNING:
            # It no longer waits for anybody.
            state = replace(state, state=StepStatus.READY, reason="")
        agent = agents.get(state.assistant_id)
        who = agent.name if agent else step.role
        text, tone = words.texts.named("step", state.state), TONES.get(state.state, "neutral")
        took = seconds_of(state, now)
        if state.state == StepStatus.DONE and took is not None:
            text = time_text(took, words)
        elif state.state == StepStatus.RUNNING and took is not None:
            text = words("step.working_for", time=time_text(took, words))
        why = _why(state, who, words)
        before = next((one for one in step.depends_on if _changes(states.get(one))), "")
        if state.state == StepStatus.PENDING and before:
            awaited = names.get(before, before)
            text, tone = words("step.waits_for", name=awaited), "warn"
            if len(awaited) > SHORT_NAME:
                text, why = words("step.waits"), text
        made, links = made_of(state.artifacts)
        action, others = _actions(state, open_=session.status not in ENDED or bool(session.reason))
        looks.append(
            StepLook(
                id=step.id,
                name=step.name,
                role=step.role,
                who=who,
                state=state.state,
                depth=depth[step.id],
                text=text,
                tone=tone,
                why=why,
                artifacts=state.artifacts.strip(),
                made=made,
                links=links,
                action=action,
                others=others,
                colour=colours.get(state.assistant_id),
            )
        )
    people = tuple(dict.fromkeys(one.who for one in looks))
    letters = dict(zip(people, initials(people), strict=True))
    return [replace(one, letters=letters[one.who]) for one in looks]


def made_of(artifacts: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a step's result for its row: a few lines without Markdown, and the links in it."""
    blocks = parse(artifacts[:MOST_READ])
    lines = [line for line in plain_of(blocks, 0, MOST_READ).splitlines() if line.strip()]
    text = "\n".join(lines[:MOST_LINES])[:MOST_MADE]
    if len(artifacts) > MOST_READ or text != "\n".join(lines):
        text = f"{text.rstrip()}…"
    links = ((span.link, span.text) for block in blocks for span in block.spans if span.link)
    return text, tuple(dict.fromkeys(links))[:MOST_LINKS]


def _changes(state: StepState | None) -> bool:
    return state is not None and state.state in CHANGED


def _why(state: StepState, who: str, words: Language) -> str:
    """Return why a step waits, failed or was skipped, in words; "" if there is no reason."""
    key = f"step_reason.{state.reason}"
    if not state.reason or state.state == StepStatus.DONE:
        return ""
    return words(key, name=who) if key in words.texts else words.problem(state.reason)


def _actions(state: StepState, *, open_: bool) -> tuple[str, tuple[str, ...]]:
    """Return the most helpful action for a step, and the other actions."""
    match state.state, state.reason:
        case ("running", _):
            return STOP, ()
        case ("waiting", "no_marker"):
            return ACCEPT, (RETRY, SKIP)
        case ("waiting", "cut"):
            return "", (SKIP,)
        case ("waiting", "question"):
            return ANSWER, (RETRY, SKIP)
        case ("failed", _):
            return RETRY, (SKIP,)
        case ("cancelled", _):
            return RETRY, (SKIP,)
        case ("skipped", "by_user"):
            return RETRY, ()
        case ("done", _):
            return "", (RETRY,)
        case ("pending" | "ready" | "waiting", _) if open_:
            return "", (SKIP,)
    return "", ()


def done_count(session: WorkflowSession) -> int:
    """Return how many steps are done or were skipped by the user; a blocked step is neither."""
    return sum(
        state.state == StepStatus.DONE
        or (state.state == StepStatus.SKIPPED and state.reason != Reason.BLOCKED)
        for state in session.workflow.steps
    )


def any_runs(session: WorkflowSession) -> bool:
    """Return whether a step is running."""
    return session.status == Status.RUNNING and any(
        state.state == StepStatus.RUNNING for state in session.workflow.steps
    )
