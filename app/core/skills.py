"""Skills: texts with further files that an assistant reads when a task needs them, as agents share them.

Which are taken, what one says that the user looks at before it is allowed, and the plug that keeps them.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from hashlib import sha256
from typing import Final, Protocol

from app.core.errors import BadInput
from app.core.frozen import Frozen
from app.core.session_files import DEVICES, check_beside
from app.core.texts import MARK, bare_links, visible

SKILL_FILE: Final = "SKILL.md"
MOST_SKILLS: Final = 50
MOST_FILES: Final = 200
MOST_BYTES: Final = 5_000_000
MOST_TEXT: Final = 100_000
MOST_DESCRIPTION: Final = 1_024
# How many tokens the names and descriptions of an assistant's skills may have together.
MOST_TOLD: Final = 2_000

_NAME: Final = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*")
_TITLE: Final = re.compile(r"^# +(.{1,80})$", re.MULTILINE)
_SHELL_NAMES: Final = "bash sh shell zsh fish console terminal powershell ps1 cmd bat"
_SHELLS: Final = ("", *_SHELL_NAMES.split())
_PROGRAMS: Final = (
    "bash|brew|bun|bunx|cargo|chmod|cmd|cp|curl|deno|docker|eval|gh|git|go|iex|iwr|kill|make|mv|node|npm|npx|"
    "osascript|perl|php|pip3?|pipx|pnpm|powershell|pwsh|python3?|rm|ruby|rundll32|scp|sh|ssh|start|sudo|tar|"
    "uvx?|wget|yarn|zsh"
)
# A program with what it is given, also behind the `!` by which some agents run a line at once.
_COMMAND: Final = re.compile(rf"`([^`]*)`|^(?:[-*+] |\d+[.)] |[$>] )?((?:{_PROGRAMS})[ \t]\S.*)")
_CALL: Final = re.compile(rf"!.+|(?:[$>] )?(?:\./|(?:{_PROGRAMS})[ \t])\S.*")


class SkillState(StrEnum):
    """Whether a skill is read by assistants: only one that comes with Moot or is allowed as it is now."""

    BUILT_IN = "built_in"
    ALLOWED = "allowed"
    ASKING = "asking"
    CHANGED = "changed"
    REFUSED = "refused"


class Skill(Frozen):
    """A skill; `digest` stands for all its paths and bytes, `changed_at` is the day of its last change.

    One that cannot be used has a `problem`. `place` is where one was found that is not kept here.
    """

    name: str
    title: str = ""
    description: str = ""
    files: int = 0
    size: int = 0
    digest: str = ""
    changed_at: str = ""
    built_in: bool = False
    problem: BadInput | None = None
    place: str = ""

    @property
    def consent(self) -> str:
        """What the user's consent is bound to."""
        return f"{consent_to(self.name)}{self.digest}"


def consent_to(name: str) -> str:
    """Return how the consents to a skill begin, whatever it held when it was allowed."""
    return f"skill/{name}/"


class SkillLook(Frozen):
    """What a skill says that the user should know of: how many invisible characters, addresses, commands."""

    hidden: int = 0
    links: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()


# The files of a skill by path.
Contents = Mapping[str, bytes]


def is_skill_name(name: str) -> bool:
    """Return whether a skill may have a name: 1 to 64 small letters, digits and hyphens."""
    return _NAME.fullmatch(name) is not None and name not in DEVICES


def text_of(data: bytes) -> str:
    """Return the text of a file, "" for what is none."""
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        return ""


def whole_text(contents: Contents) -> str:
    """Return all texts of a skill, further ones behind their paths, invisible characters as codes."""
    others = sorted(contents.keys() - {SKILL_FILE})
    texts = [text_of(contents[SKILL_FILE]), *(f"--- {path}\n{text_of(contents[path])}" for path in others)]
    return visible("\n\n".join(texts))


def checked_skill(name: str, description: str, contents: Contents, **more: object) -> Skill:
    """Return a skill with the name and the description of its head. Raises BadInput for what is not taken."""
    if not is_skill_name(name):
        raise BadInput("skill_name", name=name[:80])
    description = " ".join(description.split())
    if not description or len(description) > MOST_DESCRIPTION:
        raise BadInput("skill_description", name=name, most=MOST_DESCRIPTION)
    size = sum(map(len, contents.values()))
    if len(contents) > MOST_FILES or size > MOST_BYTES:
        raise too_large(name)
    for path in contents:
        check_beside(path, contents)
    heading = _TITLE.search(text_of(contents[SKILL_FILE]))
    title = visible(heading[1].strip()) if heading else name
    more |= {"files": len(contents), "size": size, "digest": digest_of(contents)}
    return Skill(name=name, title=title, description=visible(description), **more)  # type: ignore[arg-type]


def too_large(name: str) -> BadInput:
    """Return the error for a skill of too many files or bytes."""
    return BadInput("skill_too_large", name=name[:80], most=MOST_FILES, size=MOST_BYTES // 1_000_000)


def digest_of(contents: Contents) -> str:
    """Return a hash of all paths and bytes."""
    digest = sha256()
    for path, data in sorted(contents.items()):
        digest.update(f"{path}\0{len(data)}\0".encode() + data)
    return digest.hexdigest()


def look_at(contents: Contents) -> SkillLook:
    """Return what the user should know of a skill's texts, word for word."""
    texts = [text_of(contents[path]) for path in sorted(contents)]
    hidden = sum(len(MARK.findall(visible(text))) - len(MARK.findall(text)) for text in texts)
    links = dict.fromkeys(text[start:end] for text in texts for start, end in bare_links(text))
    pages = [text_of(data) for path, data in contents.items() if path.endswith(".md")]
    commands = dict.fromkeys(visible(line) for text in pages for line in _commands(text))
    return SkillLook(hidden=hidden, links=tuple(links), commands=tuple(commands))


def _commands(text: str) -> Iterator[str]:
    """Yield what a text has an agent run, as it is written."""
    fence, is_shell = "", False
    for line in map(str.strip, text.splitlines()):
        marks = line[: len(line) - len(line.lstrip(line[:1]))] if line[:1] in ("`", "~") else ""
        if fence and line == marks and line.startswith(fence):
            fence = ""
        elif not fence and len(marks) >= 3:
            fence, (language, *_) = marks, (*line[len(marks) :].split(), "")
            is_shell = language.casefold() in _SHELLS
        elif fence and is_shell and line:
            yield line
        elif not fence:
            for quoted, plain in _COMMAND.findall(line):
                if plain or _CALL.fullmatch(quoted):
                    yield plain or quoted


class SkillFiles(Protocol):
    """Keeps the skills of the user, and knows those that come with Moot. Everything raises StorageError."""

    def known(self, language: str) -> tuple[Skill, ...]:
        """Return the skills as they were last looked at, those of Moot first."""

    async def look(self, names: Collection[str] | None = None) -> None:
        """Look at the skills of these names as they are now, or at all."""

    async def read(self, name: str, language: str) -> tuple[Skill, Contents]:
        """Return a skill as it is now, with its files. Raises NotFound, BadInput for one not taken."""

    async def add(self, path: str) -> tuple[Skill, ...]:
        """Keep the skills of a folder or a zip, each in place of one of its name, which goes to the trash.

        Those not taken have a problem. Raises BadInput where there are none, or the zip is not taken.
        """

    async def take(self, sent: Mapping[str, Contents]) -> tuple[Skill, ...]:
        """Keep the skills that came with an assistant, by name, none in place of another.

        Return those that were not there as they are, some with a problem.
        """

    async def elsewhere(self) -> tuple[Skill, ...]:
        """Return the skills that other programs keep in the user's home, each with its place."""

    async def remove(self, name: str) -> str:
        """Move a skill to the trash, and return its file there. Raises NotFound."""

    async def put_back(self, file: str) -> None:
        """Bring a skill back from the trash. Raises BadInput where there is one of its name."""
