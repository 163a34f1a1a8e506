"""Why a session stands as it does: a code of `reason.<code>`, a number behind `:`, several joined by `+`.

`rounds_done+failed_turns:2` says that all rounds are done and that two turns failed.
"""

from app.core.errors import PROVIDER_FAILURES, QUOTA, RATE_LIMIT
from app.core.texts import Texts

FAILED_TURNS = "failed_turns"
TWO_FAILURES = "two_failures"
# Why a debate has paused because of a turn: it can be tried again, skipped, or its participant left out.
HELD_UP = (RATE_LIMIT, QUOTA, TWO_FAILURES)

# What scripts are told: few codes that stay, whatever else the reasons of sessions become.
_FOR_SCRIPTS = {
    **dict.fromkeys((*PROVIDER_FAILURES, TWO_FAILURES, "nobody_answered"), "provider_error"),
    **dict.fromkeys(("app_closed", "app_restart"), "restart"),
    "by_user": "user",
    RATE_LIMIT: "rate_limit",
}


def counted(code: str, count: int) -> str:
    """Return a code that carries a number."""
    return f"{code}:{count}"


def joined(*reasons: str) -> str:
    """Return several reasons as one."""
    return "+".join(reasons)


def main_code(reason: str) -> str:
    """Return the code of the first part of a reason, without its number."""
    return reason.split("+", 1)[0].partition(":")[0]


def reason_code(reason: str) -> str:
    """Return the code of a reason for scripts, "" where it has none."""
    return _FOR_SCRIPTS.get(main_code(reason), "")


def reason_text(reason: str, texts: Texts) -> str:
    """Return a reason in words; a code as it is where a file of a newer version brought it."""
    return " ".join(_part_text(part, texts) for part in reason.split("+") if part)


def _part_text(part: str, texts: Texts) -> str:
    code, _, number = part.partition(":")
    blanks = {"count": int(number)} if number.isdecimal() else {}
    for prefix in ("reason", "failure"):
        try:
            return texts(f"{prefix}.{code}", **blanks)
        except (KeyError, IndexError):
            continue
    return part
