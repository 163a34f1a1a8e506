"""The lines that the command line prints about everything: texts, columns, errors, problems of files."""

import functools
import json
import re
import traceback
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path

from app.cli.terminal import Out, cells
from app.core.errors import UNWRITTEN, MootError, Problem, ProviderError
from app.core.session import failure_text, in_words
from app.core.texts import Texts, choose_language, without_steering
from app.storage.paths import resources_dir

# JSON allows these characters unescaped, but a terminal must not get them, and a reader that splits
# lines as Unicode does must still see one event on a line.
# The most characters of a value in a message; what can be chosen is longer than what a user writes.
MOST_BLANK = 600
_NOT_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029]")


def safe_json(text: str) -> str:
    """Return a JSON text with such characters escaped."""
    return _NOT_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def load_texts(language: str) -> Texts:
    """Return the texts of a language, or of the system's language if `language` is no language's name."""
    return _texts_of(choose_language(language))


@functools.cache
def _texts_of(language: str) -> Texts:
    return Texts.load(resources_dir() / "i18n", language)


def one_line(text: str) -> str:
    """Return the text on one line, without terminal control characters."""
    return " ".join(without_steering(text).split())


def lines_text(lines: Iterable[str]) -> str:
    """Return lines as one text, each with its line end."""
    return "".join(f"{line}\n" for line in lines)


def columns(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the rows of a list as lines with aligned columns; each cell is made one line."""
    shown = [[one_line(cell) for cell in row] for row in rows]
    # Nothing follows the last column that could be aligned.
    widths = [max(map(cells, column)) for column in zip_longest(*(row[:-1] for row in shown), fillvalue="")]
    lines = []
    for row in shown:
        padded = [cell + " " * (width - cells(cell)) for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append("  ".join([*padded, row[-1]]).rstrip())
    return lines


def json_line(value: object) -> str:
    """Return a value as one line of JSON, with Korean unescaped."""
    return safe_json(json.dumps(value, ensure_ascii=False)) + "\n"


def error_line(error: MootError, texts: Texts) -> str:
    """Return an error as one line in the user's language."""
    if isinstance(error, ProviderError):
        return one_line(failure_text(error.kind, error.detail[:MOST_BLANK], "", texts))
    said = in_words(error.details, texts).items()
    details = {name: one_line(str(value))[:MOST_BLANK] for name, value in said}
    return one_line(named_text(texts, "error", error.code, details))


def lost_line(error: MootError, texts: Texts, session_id: str = "") -> str:
    """Return the error with which this process ends as one line: what is not saved is lost, and what
    to do then.
    """
    if error.code not in UNWRITTEN:
        return error_line(error, texts)
    lost = texts(f"cli.lost.{error.code}", **in_words(error.details, texts))
    then = texts("cli.lost.resume", session=session_id) if session_id else texts("cli.lost.again")
    return one_line(f"{lost} {then}")


def named_text(texts: Texts, prefix: str, code: str, details: Mapping[str, object] | None = None) -> str:
    """Return the text `<prefix>.<code>`; the code itself if it comes from a newer version."""
    try:
        return texts(f"{prefix}.{code}", **(details or {}))
    except KeyError:
        return code


def problem_line(problem: Problem, texts: Texts) -> str:
    """Return a problem of a file as one line: the file, the place in it, and what is wrong."""
    place = problem.path + (f":{problem.line}" if problem.line else "")
    field = f" {problem.field}" if problem.field else ""
    detail = f" ({problem.detail[:300]})" if problem.detail else ""
    return one_line(f"{place}{field}: {named_text(texts, 'problem', problem.code)}{detail}")


async def say_problems(problems: Iterable[Problem], out: Out, texts: Texts) -> None:
    """Report the files that could not be used.

    What is damaged in a session's log is said where that session is shown, and by the doctor.
    """
    for problem in (each for each in problems if each.code != "damaged_log"):
        await out.complain(problem_line(problem, texts))


def whereabouts(error: BaseException) -> dict[str, object]:
    """Return type and place of an unexpected error; its text might contain anything."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "?"
    return {"kind": type(error).__name__, "place": place}
