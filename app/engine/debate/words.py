"""What comes of a debate in words, for the command line and documents; pure.

`words` gives a text by its key, with its blanks filled.
"""

from collections.abc import Callable, Sequence

from app.core.message import Message
from app.core.session import Debate
from app.core.verdict import Point, Verdict
from app.engine.debate.minority import minority_points
from app.engine.debate.verdict import readings_points


def outcome_parts(
    debate: Debate, messages: Sequence[Message], words: Callable[..., str]
) -> list[tuple[str, list[Point]]]:
    """Return the verdict and the minority report in parts, each with its heading and its sentences."""
    verdict = debate.verdict or Verdict()
    key = "verdict.judged_by_participant" if debate.judged_inside else "verdict.judged_by"
    left = "verdict.open" if verdict.judge else "verdict.last_statements"
    parts = (
        (words(key, name=verdict.judge), (*verdict.answer, *readings_points(verdict, words))),
        (words("council.minority_report"), minority_points(debate, messages, words)),
        (words("verdict.agreed"), verdict.agreed),
        (words(left), verdict.open),
    )
    return [(heading, [*points]) for heading, points in parts if points]
