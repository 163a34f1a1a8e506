"""The tools for the files of a session: each path is one in the session's own folder, or
in the one the user chose for it; and the tools that read pages of an attached file, and skills.
"""

import contextlib
import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from app.core.errors import BadInput
from app.core.files import pages_of
from app.core.message import MessageState, Role
from app.core.session import AgentMode
from app.core.session_files import MOST_LISTED, BadPathError, FileVersion, Writer
from app.core.skills import SKILL_FILE
from app.core.texts import clean_text, visible
from app.core.tool import (
    FILE_PARTS,
    FILES,
    READ_FILE_PART,
    READ_SKILL,
    SKILLS,
    ToolContext,
    ToolError,
    ToolResult,
)
from app.tools.declared import Declared, Outside

# Longer results are cut in requests.
MOST_CHARACTERS: Final = 18_000
_RANGE: Final = re.compile(r"\s*(\d{1,7})\s*(?:[-–]\s*(\d{1,7})\s*)?")


async def read_file_part(context: ToolContext, name: str, pages: str) -> ToolResult:
    """Read pages of an attached file of which only the beginning is in the conversation.

    Args:
        context: The session.
        name: The name of the file.
        pages: A page, or the first and the last page, such as "12" or "12-15".
    """
    attached = [item for message in context.messages() for item in message.attachments if item.text]
    wanted = " ".join(clean_text(name).split())
    found = [attachment for attachment in attached if " ".join(attachment.name.split()) == wanted]
    if not found:
        names = ", ".join(sorted({attachment.name for attachment in attached})) or "none"
        raise ToolError(f"read_file_part: there is no file {wanted[:200]!r}. Files: {names[:2_000]}.")
    # Of several files of one name the newest counts.
    return ToolResult(content=pages_text("read_file_part", found[-1].text, pages))


def pages_text(tool: str, text: str, pages: str) -> str:
    """Return pages of a text, each with its number before it, as many as one result holds. Raises
    ToolError.
    """
    texts = pages_of(text)
    given = _RANGE.fullmatch(pages)
    first, last = (int(given[1]), int(given[2] or given[1])) if given is not None else (0, 0)
    if not 1 <= first <= last or first > len(texts):
        asked = f"a page or a range from 1 to {len(texts)}, not {pages[:60]!r}"
        raise ToolError(f"{tool}: argument `pages` must be {asked}.")
    parts, length = list[str](), 0
    for number, page in enumerate(texts[first - 1 : last], first):
        if parts and length + len(page) > MOST_CHARACTERS:
            left = f"Pages {number} to {min(last, len(texts))}"
            parts.append(f"[{left} did not fit: ask for them in another call.]")
            break
        length += len(page)
        cut = page[:MOST_CHARACTERS]
        parts.append(f"[page {number} of {len(texts)}]\n{cut}{' …' * (len(cut) < len(page))}")
    return "\n\n".join(parts)


_SAID: Final = {
    "file_not_found": "there is no file {path!r}; list_files says which there are",
    "file_is_there": "there is {path!r} already: delete it first, or choose another path",
    "file_changed": "another program has changed {path!r} just now: read it again first",
    "file_too_large_mb": "the file is larger than {most} MB",
    "too_many_files": "the session has {most} files, and no more are taken: delete some first",
    "files_too_large": "all versions of the session's files may take {most} MB, and this would be more",
}


async def write_file(outside: Outside, context: ToolContext, path: str, content: str) -> ToolResult:
    """Write a text file, such as a report, that stays with the session and that the user can open.
    It replaces what the file held; all versions are kept.

    Args:
        outside: The files.
        context: The session.
        path: The file's name, with folders if there are several, as in report.md or notes/plan.md.
        content: The whole text of the file.
    """
    data = clean_text(content).encode()
    with _explained("write_file"):
        made = await outside.files.write(context.session_id, path, lambda _before, _held: data, _by(context))
    return ToolResult(content=f"Wrote {_name(made)}, {made.bytes:,} bytes.")


async def edit_file(outside: Outside, context: ToolContext, path: str, old: str, new: str) -> ToolResult:
    """Replace a passage of a file.
    It fails where somebody has changed the file since you read it, and where the passage is not there just
    once.

    Args:
        outside: The files.
        context: The session.
        path: The file's name, as list_files says it.
        old: The passage, to the letter, with enough around it to be there only once.
        new: What stands in its place.
    """
    known = _version_known(context, path)

    def change(before: FileVersion | None, held: bytes) -> bytes:
        if before is None:
            raise BadInput("file_not_found", path=path)
        if known is not None and known != _number(before):
            by = before.author or "the user"
            changed = f"{path!r} has changed since you read it: you know version {known}"
            wrote = f"{by} wrote version {_number(before)}"
            raise ToolError(f"edit_file: {changed}, and {wrote}. Read it again first.")
        text = _text("edit_file", path, held)
        count = text.count(clean_text(old)) if old else 0
        if count != 1:
            places = f"is in {path!r} {count} times: give more of what stands around it"
            nowhere = f"is not in {path!r}: read the file, and give it to the letter"
            raise ToolError(f"edit_file: the text of `old` {places if count else nowhere}.")
        return text.replace(clean_text(old), clean_text(new)).encode()

    with _explained("edit_file"):
        made = await outside.files.write(context.session_id, path, change, _by(context))
    return ToolResult(content=f"Changed {_name(made)}, {made.bytes:,} bytes.")


async def read_file(outside: Outside, context: ToolContext, path: str, pages: str = "") -> ToolResult:
    """Read a text file of the session; of a long one the first pages.

    Args:
        outside: The files.
        context: The session.
        path: The file's name, as list_files says it.
        pages: Of a long file: a page, or the first and the last page, such as "2" or "2-5".
    """
    with _explained("read_file"):
        found, held = await outside.files.read(context.session_id, path)
    text = _shortened("read_file", _text("read_file", path, held), pages)
    return ToolResult(content=f"{_name(found)}:\n{text}")


async def list_files(outside: Outside, context: ToolContext) -> ToolResult:
    """List the files of the session, with who wrote each last; in a folder
    of the user's own also the other files there.

    Args:
        outside: The files.
        context: The session.
    """
    with _explained("list_files"):
        files = await outside.files.list(context.session_id)
        others = await outside.files.others(context.session_id)
    lines = [f"{_name(file)}, {file.bytes:,} bytes, by {file.author or 'the user'}" for file in files]
    lines += others
    if len(lines) > MOST_LISTED:
        lines = [*lines[:MOST_LISTED], f"… (there are more; these are the first {MOST_LISTED:,})"]
    return ToolResult(content="\n".join(lines) or "There are no files yet.")


async def move_file(outside: Outside, context: ToolContext, source: str, target: str) -> ToolResult:
    """Give a file of the session another name, or move it to another folder.

    Args:
        outside: The files.
        context: The session.
        source: The file's name, as list_files says it.
        target: Its new name, which no file has.
    """
    with _explained("move_file"):
        made = await outside.files.move(context.session_id, source, target, _by(context))
    return ToolResult(content=f"Moved {made.moved_from} to {_name(made)}.")


async def delete_file(outside: Outside, context: ToolContext, path: str) -> ToolResult:
    """Delete a file of the session. The user can bring it back.

    Args:
        outside: The files.
        context: The session.
        path: The file's name, as list_files says it.
    """
    with _explained("delete_file"):
        gone = await outside.files.delete(context.session_id, path, _by(context))
    return ToolResult(content=f"Deleted {gone.path}.")


async def read_skill(context: ToolContext, name: str, path: str = "", pages: str = "") -> ToolResult:
    """Read one of your skills, or a further file of it. Nothing in it is run.

    Args:
        context: The session.
        name: The name of the skill.
        path: One of its further files, as the skill names it; without it the skill itself.
        pages: Of a long file: a page, or the first and the last page, such as "2" or "2-5".
    """
    contents = await context.skill(name)
    wanted = path.removeprefix("./") or SKILL_FILE
    if wanted not in contents:
        listed = ", ".join(sorted(contents))[:2_000]
        raise ToolError(f"read_skill: the skill {name!r} has no file {path[:200]!r}. Its files: {listed}.")
    whole = visible(clean_text(_text("read_skill", wanted, contents[wanted])))
    text = f"{name}/{wanted}:\n{_shortened('read_skill', whole, pages)}"
    if wanted == SKILL_FILE and len(contents) > 1:
        text += f"\n\n[Further files: {', '.join(sorted(contents.keys() - {SKILL_FILE}))[:2_000]}]"
    return ToolResult(content=text)


def _shortened(tool: str, text: str, pages: str) -> str:
    """Return the pages of a text that are asked for; without any the whole, of a long text the first ones."""
    whole = not pages and len(text) <= MOST_CHARACTERS
    return text if whole else pages_text(tool, text, pages or "1-9999999")


def _by(context: ToolContext) -> Writer:
    return Writer(context.author.name, context.message_id)


@contextlib.contextmanager
def _explained(tool: str) -> Iterator[None]:
    """Raise a ToolError that says why a file could not be read or written."""
    try:
        yield
    except BadPathError as error:
        raise ToolError(f"{tool}: {error}.") from error
    except BadInput as error:
        said = _SAID.get(error.code, "the folder that the user chose cannot be used any more; tell them so")
        raise ToolError(f"{tool}: {said.format(**error.details)}.") from error


def _text(tool: str, path: str, held: bytes) -> str:
    try:
        return held.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{tool}: {path!r} holds no text.") from None


def _name(version: FileVersion) -> str:
    return f"{version.path} (version {_number(version)})"


def _number(version: FileVersion) -> str:
    """Return the number of a version; of the user's own file, which changes without one, with a mark
    of what it holds.
    """
    return str(version.version) if version.version else f"0 {version.sha256[:8]}"


def _version_known(context: ToolContext, path: str) -> str | None:
    """Return which version of a file its caller read or wrote last, as its results say; None for none."""
    number = r"\(version (\d+(?: [0-9a-f]{8})?)\)"
    said = re.compile(rf"(?:Wrote |Changed |Moved .+ to )?{re.escape(path)} {number}")
    messages = context.messages()
    for message in reversed(messages):
        found = said.match(message.content) if message.role == Role.TOOL else None
        if found is None or message.author.id != context.author.id or message.state != MessageState.DONE:
            continue
        calls = (call for item in messages if item.turn_id == message.turn_id for call in item.tool_calls)
        if any(call.id == message.tool_call_id and call.name in _KEYS for call in calls):
            return found[1]
    return None


# An edit that was cut may have been made, and would be made twice: the user is asked. What the others do may
# be done again.
_of_files = partial(Declared, group=FILES, modes=(AgentMode.DEFAULT,))
TOOLS: Final = (
    Declared(key=READ_FILE_PART, function=read_file_part, group=FILE_PARTS, repeatable=True),
    Declared(key=READ_SKILL, function=read_skill, group=SKILLS, repeatable=True, reads=True),
    _of_files(key="write_file", function=write_file, repeatable=True),
    _of_files(key="edit_file", function=edit_file),
    _of_files(key="read_file", function=read_file, repeatable=True, reads=True),
    _of_files(key="list_files", function=list_files, repeatable=True, reads=True),
    _of_files(key="move_file", function=move_file, repeatable=True),
    _of_files(key="delete_file", function=delete_file, repeatable=True),
)
_KEYS: Final = ("write_file", "edit_file", "read_file", "move_file")
