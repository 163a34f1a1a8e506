"""Why a session has its status: a code of `reason.<code>`, numbers after `:`, several joined by `+`.

`rounds_done+failed_turns:2` says that all rounds are done and that two turns failed. Also why a model does not
vote: a code of `no_vote.<code>`.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import TYPE_CHECKING

from app.core.catalog import usual_label
from app.core.errors import BY_PROVIDER, FailureKind
from app.core.summary import ENDED, SessionSummary, Status
from app.core.texts import Texts
from app.core.workflow import QUEUED, StepStatus

if TYPE_CHECKING:
    from app.core.session import Session

MOST_DIGITS = 9


class Reason(StrEnum):
    """Why a session has its status; each has a text `reason.<code>`. A FailureKind is a reason as well."""

    BY_USER = "by_user"
    APP_CLOSED = "app_closed"
    APP_RESTART = "app_restart"
    SAVE_FAILED = "save_failed"
    FAULT = "fault"
    FROM_FILE = "from_file"
    DAMAGED = "damaged"
    FORKED = "forked"
    QUESTION = "question"
    BUSY = QUEUED
    SUMMARISING = "summarising"
    CHECKING_VOTES = "checking_votes"
    NO_ASSISTANT = "no_assistant"
    FAILED_TURNS = "failed_turns"
    TWO_FAILURES = "two_failures"
    NOBODY_ANSWERED = "nobody_answered"
    ROUNDS_DONE = "rounds_done"
    TOO_FEW = "too_few"
    EXHAUSTED = "exhausted"
    COMPARED = "compared"
    STEP_FAILED = "step_failed"
    NO_MARKER = "no_marker"
    BLOCKED = "blocked"
    TURNS_LIMIT = "turns_limit"
    STEPS = "steps"
    REPEATED = "repeated"
    BUDGET_MODEL_CALLS = "budget_model_calls"
    BUDGET_TOOL_ROUNDS = "budget_tool_rounds"
    BUDGET_SUB_AGENT_RUNS = "budget_sub_agent_runs"
    BUDGET_MINUTES = "budget_minutes"
    BUDGET_COST = "budget_cost"


# The reasons of a pause because of a turn: it can be retried or skipped, or its participant left out.
HELD_UP = (FailureKind.RATE_LIMIT, FailureKind.QUOTA, Reason.TWO_FAILURES)

RESTART = "restart"
# The codes for scripts of the limits that can end a run; `budget` is that of money, tool rounds and the month.
LIMITS = ("turn_limit", "step_limit", "repeated_call", "budget", "budget_calls", "budget_minutes")
# The stable codes for scripts, whatever else the reasons of sessions become.
_FOR_SCRIPTS = {
    **dict.fromkeys((*FailureKind, Reason.TWO_FAILURES, "nobody_answered"), "provider_error"),
    **dict.fromkeys(("app_closed", "app_restart"), RESTART),
    Reason.BY_USER: "user",
    Reason.FAULT: Reason.FAULT,
    FailureKind.RATE_LIMIT: "rate_limit",
    FailureKind.BUDGET_MONTH: "budget",
    Reason.TURNS_LIMIT: "turn_limit",
    Reason.STEPS: "step_limit",
    Reason.REPEATED: "repeated_call",
    Reason.BUDGET_MODEL_CALLS: "budget_calls",
    Reason.BUDGET_MINUTES: Reason.BUDGET_MINUTES,
}


def counted(code: str, *counts: int) -> str:
    """Return a code that carries a number, or how many there are of how many."""
    return ":".join((code, *map(str, counts)))


def joined(*reasons: str) -> str:
    """Return several reasons as one."""
    return "+".join(reasons)


def main_code(reason: str) -> str:
    """Return the code of the first part of a reason, without its number."""
    return reason.split("+", 1)[0].partition(":")[0]


def reason_code(reason: str) -> str:
    """Return the code of a reason for scripts, "" where it has none."""
    code = main_code(reason)
    return _FOR_SCRIPTS.get(code, "budget" if code.startswith("budget_") else "")


def code_of_session(session: "Session") -> str:
    """Return the code for scripts of why a session has its status; of a workflow, of its first failed step."""
    if session.workflow is not None and session.reason == Reason.STEP_FAILED:
        failed = (one.reason for one in session.workflow.steps if one.state == StepStatus.FAILED)
        return reason_code(next(failed, ""))
    return reason_code(session.reason)


def resumable(session: "Session | SessionSummary") -> bool:
    """Say whether a session can be resumed: it is paused, it was stopped, or a fault ended its run."""
    return session.status in (Status.PAUSED, Status.STOPPED) or _failed(session)


def has_ended(session: "Session | SessionSummary") -> bool:
    """Say whether a session has ended; one that was stopped has, and can be resumed."""
    return session.status in ENDED and not _failed(session)


def _failed(session: "Session | SessionSummary") -> bool:
    """Say whether a fault of the program ended a session's run."""
    return (session.status, session.reason) == (Status.ERROR, Reason.FAULT)


def reason_text(reason: str, texts: Texts) -> str:
    """Return a reason in words; an unknown code of a newer version's file unchanged."""
    return " ".join(_part_text(part, texts) for part in reason.split("+") if part)


def at_limit(session: "Session | SessionSummary") -> bool:
    """Say whether a limit of the user's has paused a session."""
    return session.status == Status.PAUSED and reason_code(session.reason) in LIMITS


def short_reason(session: "Session | SessionSummary", texts: Texts) -> str:
    """Return in a few words what has stopped, paused or failed a session; "" where its status says it all."""
    code, blanks = _with_numbers(session.reason.split("+", 1)[0])
    if session.status == Status.STOPPED and code == Reason.BY_USER:
        return texts("status.stopped_by_user")
    if session.status == Status.PAUSED and reason_code(code) == RESTART:
        return texts("status.paused_closed")
    if at_limit(session) and not blanks:
        return ""
    with suppress(KeyError, IndexError):
        return texts(f"status.{'at' if at_limit(session) else 'failed'}.{code}", **blanks)
    return ""


def paused_text(session: "Session | SessionSummary", texts: Texts) -> str:
    """Return that a session is paused or was stopped, and why; "" where no reason is known."""
    reason, said = session.reason, short_reason(session, texts)
    if reason_code(reason) in (RESTART, "user"):
        return said or texts("status.paused_by_user")
    if said and at_limit(session):
        return texts("limit.again", state=said)
    why = reason_text(reason, texts)
    return why if said or not reason else texts("discussion.paused", reason=why)


def in_words(details: Mapping[str, object], texts: Texts) -> dict[str, object]:
    """Return what fills the blanks of an error or a notice.

    Pairs of a name and a provider's problem become words, and so do the `problem` of an MCP server, the `kind` of a
    failure and its `detail`.
    """
    words = {
        name: "; ".join(f"{who}: {texts(f'provider.{problem}')}" for who, problem in value)
        if isinstance(value, tuple)
        else value
        for name, value in details.items()
    }
    if f"problem.{details.get('problem')}" in texts:
        words["problem"] = texts(f"problem.{details['problem']}")
    kind = str(details.get("kind"))
    if f"failure.{kind}" not in texts:
        return words
    said = failure_detail(kind, str(details.get("detail", "")), str(details.get("provider", "")), texts)
    return words | {"kind": texts(f"failure.{kind}"), "detail": said}


def failure_text(kind: str, detail: str, provider: str, texts: Texts) -> str:
    """Return why a model did not answer, and on a second line what `failure_detail` says."""
    said = texts(f"failure.{kind}")
    more = failure_detail(kind, detail, provider, texts) if detail not in said else ""
    return f"{said}\n{more}" if more else said


def failure_detail(kind: str, detail: str, provider: str, texts: Texts) -> str:
    """Return the detail of a failure, "" where there is none: marked as the words of `provider` ("" if not known) if they are."""
    detail = detail.strip()
    if not detail or kind not in tuple(FailureKind):
        return ""
    if kind not in BY_PROVIDER:
        return texts("provider.detail", detail=detail)
    label = usual_label(provider)
    return texts("provider.says" if label else "provider.says.unknown", provider=label, detail=detail)


def no_vote_reason(reason: str, words: Callable[..., str]) -> str:
    """Return why a model does not vote in words; `words` gives a text by its key, if it has that."""
    code, blanks = _with_numbers(reason)
    with suppress(KeyError, IndexError):
        return words(f"no_vote.{code}", **blanks)
    return code


def _with_numbers(part: str) -> tuple[str, dict[str, object]]:
    """Return the code of a reason, and its numbers as the blanks of a text."""
    code, *numbers = part.split(":")
    whole = [int(one) for one in numbers if one.isdecimal() and len(one) <= MOST_DIGITS]
    # An amount of money is counted in cents.
    amounts = [f"{one / 100:.2f}" for one in whole[:1]]
    return code, dict(zip(("amount", "count", "all"), (*amounts, *whole), strict=False))


def _part_text(part: str, texts: Texts) -> str:
    code, blanks = _with_numbers(part)
    for prefix in ("reason", "failure"):
        try:
            return texts(f"{prefix}.{code}", **blanks)
        except (KeyError, IndexError):
            continue
    return part
