"""The lines of the palette: what can be done or gone to, and which of it fits what was typed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.agent import Agent
from app.core.session import SessionSummary
from app.core.store import Hit
from app.gui.display.session_kinds import icon_of

MOST_SESSIONS = 8
RECENT = 5
SETTING = "setting"


@dataclass(frozen=True, slots=True, kw_only=True)
class PaletteCommand:
    """Something the palette can do: its words are the `key` of the catalogue.

    What is of the section `setting` is listed only once something was typed, and found by the words of
    `more` as well; `page` is the key of where it is set.
    """

    key: str
    icon: str
    act: Callable[[], object]
    shortcut: str = ""
    section: str = "command"
    page: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A line of the palette: a command, a setting, an assistant, a session, or a message that was found.

    `section` is command, setting, assistant, session or message; `detail` stands quietly at the right.
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


def fits(text: str, typed: str) -> bool:
    """Say whether every word typed stands somewhere in a text, whatever its case."""
    folded = text.casefold()
    return all(word in folded for word in typed.casefold().split())


def command_entries(
    commands: Sequence[PaletteCommand], words: Callable[[str], str], typed: str
) -> list[Entry]:
    """Return the commands whose words fit, then the settings that were asked for."""
    return [
        Entry(
            section=command.section,
            text=words(command.key),
            detail=command.shortcut or (words(command.page) if command.page else ""),
            icon=command.icon,
            act=command.act,
        )
        for command in commands
        if (command.section != SETTING or typed.strip())
        and fits(" ".join(words(key) for key in (command.key, command.page, command.more) if key), typed)
    ]


def session_entries(
    summaries: Sequence[SessionSummary], typed: str, age: Callable[[str], str]
) -> list[Entry]:
    """Return the sessions whose title or speakers fit; the newest few where nothing is typed."""
    found: list[Entry] = []
    for summary in summaries:
        if len(found) == (MOST_SESSIONS if typed.strip() else RECENT):
            break
        if fits(" ".join((summary.title, *summary.speakers)), typed):
            icon = icon_of(summary.kind)
            text = " ".join(summary.title[:200].split())
            found.append(
                Entry(
                    section="session",
                    text=text,
                    detail=age(summary.updated_at),
                    icon=icon,
                    session_id=summary.id,
                )
            )
    return found


def assistant_entries(agents: Sequence[Agent], colours: dict[str, int], typed: str) -> list[Entry]:
    """Return the assistants that can be chatted with and whose name or role fits."""
    return [
        Entry(
            section="assistant",
            text=agent.name,
            detail=agent.role,
            colour=colours[agent.id],
            agent_id=agent.id,
        )
        for agent in agents
        if agent.enabled and fits(f"{agent.name} {agent.role}", typed)
    ]


def hit_entries(hits: Sequence[Hit]) -> list[Entry]:
    """Return the messages that were found; titles are listed as sessions already."""
    return [
        Entry(
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
