"""The entries of the palette: commands, settings, assistants, sessions and messages, filtered by the typed text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from app.core.agent import Agent, Group
from app.core.council import Panel
from app.core.matching import fits
from app.core.session import SessionSummary
from app.core.store import Hit
from app.gui.display.descriptions import icon_of

MOST_SESSIONS = 8
RECENT = 5
SETTING = "setting"
PROMPT = "prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaletteCommand:
    """A command of the palette; `key` is the key of its text, or `text` is that itself.

    Commands of the sections `setting` and `prompt` are listed only once something was typed, and are found by the text
    of `more` as well; `page` is the key of their page's title.
    """

    key: str = ""
    text: str = ""
    icon: str
    act: Callable[[], object]
    shortcut: str = ""
    section: str = "command"
    page: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaletteEntry:
    """An entry of the palette.

    `section` is command, setting, prompt, assistant, panel, group, session or message; `detail` is shown at the right.
    """

    section: str
    text: str
    detail: str = ""
    icon: str = ""
    colour: int | None = None
    act: Callable[[], object] | None = None
    session_id: str = ""
    message_id: str = ""
    agent_id: str = ""


def command_entries(
    commands: Sequence[PaletteCommand], words: Callable[[str], str], typed: str
) -> list[PaletteEntry]:
    """Return the commands and settings that match."""
    return [
        PaletteEntry(
            section=command.section,
            text=command.text or words(command.key),
            detail=command.shortcut or (words(command.page) if command.page else ""),
            icon=command.icon,
            act=command.act,
        )
        for command in commands
        if (command.section not in (SETTING, PROMPT) or typed.strip())
        and fits(
            " ".join(
                [command.text, *(words(key) for key in (command.key, command.page, command.more) if key)]
            ),
            typed,
        )
    ]


def session_entries(
    summaries: Sequence[SessionSummary], typed: str, age: Callable[[str], str]
) -> list[PaletteEntry]:
    """Return the sessions whose title or speakers match; the newest few if nothing is typed."""
    found: list[PaletteEntry] = []
    for summary in summaries:
        if len(found) == (MOST_SESSIONS if typed.strip() else RECENT):
            break
        if fits(" ".join((summary.title, *summary.speakers)), typed):
            icon = icon_of(summary.kind)
            text = " ".join(summary.title[:200].split())
            found.append(
                PaletteEntry(
                    section="session",
                    text=text,
                    detail=age(summary.updated_at),
                    icon=icon,
                    session_id=summary.id,
                )
            )
    return found


def assistant_entries(agents: Sequence[Agent], colours: dict[str, int], typed: str) -> list[PaletteEntry]:
    """Return the enabled assistants whose name or role matches."""
    return [
        PaletteEntry(
            section="assistant",
            text=agent.name,
            detail=agent.role,
            colour=colours[agent.id],
            agent_id=agent.id,
        )
        for agent in agents
        if agent.enabled and fits(f"{agent.name} {agent.role}", typed)
    ]


def partner_entries(
    partners: Sequence[Group | Panel], section: str, icon: str, typed: str, begin: Callable[[str], object]
) -> list[PaletteEntry]:
    """Return the groups or panels whose name matches; `begin` begins a session with one by its id."""
    return [
        PaletteEntry(section=section, text=one.name, icon=icon, act=partial(begin, one.id))
        for one in partners
        if fits(one.name, typed)
    ]


def hit_entries(hits: Sequence[Hit]) -> list[PaletteEntry]:
    """Return the messages that were found; titles are already listed as sessions."""
    return [
        PaletteEntry(
            section="message",
            text=" ".join(hit.excerpt.split()),
            detail=hit.title,
            icon="file-text",
            session_id=hit.session_id,
            message_id=hit.message_id,
        )
        for hit in hits
        if hit.message_id
    ]
