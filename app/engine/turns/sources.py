"""The sources that a provider names beside an answer, as links at its end: a part of the answer, also in exports."""

from collections.abc import Sequence

from app.core.text import closed, escape_markdown

_IN_A_LINK = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "\\": "%5C"})


def sources_text(answer: str, sources: Sequence[tuple[str, str]]) -> str:
    """Return what follows an answer: a numbered list of its sources without those that it links to itself, "" for none.

    The numbers are those of all sources, which answers refer to.
    """
    lines = [
        f"{number}. [{escape_markdown(title or address)}]({address.translate(_IN_A_LINK)})"
        for number, (address, title) in enumerate(sources, 1)
        if f"]({address})" not in answer
    ]
    fence = closed(answer).removeprefix(answer.rstrip())
    return "\n".join([f"{fence}\n\n---\n", *lines]) if lines else ""
