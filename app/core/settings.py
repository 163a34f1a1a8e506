"""The user's settings; the page of the settings and the reader of `settings.json` are both made from these
fields.
"""

from dataclasses import field, fields, replace
from enum import StrEnum
from typing import Any

from app.core.frozen import Frozen
from app.core.texts import LANGUAGES

SYSTEM = "system"


class HistoryLength(StrEnum):
    """How much of a long conversation is sent before it is summarised."""

    THRIFTY = "thrifty"
    DEFAULT = "default"
    ALL = "all"


MOST = 1_000_000_000


class DebateHistory(StrEnum):
    """What participants of debates are sent of what was said: the last messages, or all that fits."""

    LAST = "last"
    ALL = "all"


class WhenClosed(StrEnum):
    """What becomes of what runs when the window is closed: the user is asked, it is kept running, or
    paused.
    """

    ASK = "ask"
    KEEP = "keep"
    PAUSE = "pause"


class RunLimits(Frozen):
    """How far a run goes before it pauses: minutes, calls of models, dollars; 0 for no limit."""

    minutes: int = 0
    calls: int = 0
    usd: float = 0.0


# What a run that is left alone for an hour may take.
AN_HOUR = RunLimits(minutes=60, calls=500, usd=5.0)


class Rule(Frozen):
    """What a setting may be, and on which `page` of the dialog it is chosen ("" where it is not a row there).

    A setting with `choices` is one of them; a number is between `least` and `most`, `step` by `step`.
    `unit` stands with a number, in the words of `unit.<unit>` ("" for none).
    """

    page: str = ""
    choices: tuple[str | int, ...] = ()
    least: float = 0
    most: float = MOST
    step: float = 1
    unit: str = ""


def _setting(default: Any, page: str = "", **rule: Any) -> Any:
    return field(default=default, metadata={"rule": Rule(page=page, **rule)})


class Settings(Frozen):
    """What the user chose, in the order of the dialog's rows.
    `may_read_any` are ids of providers that may be asked for titles and summaries of any session,
    `helper_model` is who writes these ("provider/model", "" for the model that answers), `favourite_models`
    come first where a model is chosen. `language` and `theme` are `system` or a name.

    `text_size` is in percent, `motion` says whether things may move. Assistants are told `about_user`;
    `titles` lets the model that answered a chat write its title. `history` is a HistoryLength,
    `debate_history` a DebateHistory. `notifications` say what needs the user while another window is in
    front, `tray` keeps an icon beside the clock, `when_closed` is a WhenClosed. `shortcuts` are
    `command=keys`, those that differ from the program's. `assistant_order`, `group_order`, `panel_order` and
    `folder_order` are ids as the sidebar lists them, `pinned_sessions` the ids of sessions that it lists
    first, `tools_off` are `assistant/tool`, `held_back` the ids of assistants that begin nothing more.
    `search_engine` is a name of the catalogue, or the address of a SearXNG server, `model_source` the
    addresses of mirrors for downloads of models, with spaces between them ("": the usual hub). `proxy` is an
    address, `certificates` the path of a PEM file with certificates to trust. `new_versions` lets Moot ask
    once a day whether there is a newer version. `max_month_usd` is the limit of
    a calendar month, all sessions together; the other `max_…` are that of one user message, for the whole
    tree it sets off; 0 means no limit.
    """

    language: str = _setting(SYSTEM, "appearance", choices=(SYSTEM, *LANGUAGES))
    theme: str = _setting(SYSTEM, "appearance", choices=(SYSTEM, "light", "dark"))
    text_size: int = _setting(100, "appearance", choices=(85, 100, 115, 130, 150))
    motion: str = _setting(SYSTEM, "appearance", choices=(SYSTEM, "full", "reduced"))
    about_user: str = _setting("", "chats")
    titles: bool = _setting(True, "chats")
    history: str = _setting(HistoryLength.DEFAULT, "chats", choices=tuple(HistoryLength))
    debate_history: str = _setting(DebateHistory.LAST, "chats", choices=tuple(DebateHistory))
    may_read_any: tuple[str, ...] = ()
    helper_model: str = ""
    favourite_models: tuple[str, ...] = ()
    notifications: bool = _setting(True, "appearance")
    tray: bool = _setting(False, "appearance")
    when_closed: str = _setting(WhenClosed.ASK, "appearance", choices=tuple(WhenClosed))
    shortcuts: tuple[str, ...] = ()
    project_context: tuple[str, ...] = ()
    assistant_order: tuple[str, ...] = ()
    tools_off: tuple[str, ...] = ()
    group_order: tuple[str, ...] = ()
    panel_order: tuple[str, ...] = ()
    folder_order: tuple[str, ...] = ()
    pinned_sessions: tuple[str, ...] = ()
    held_back: tuple[str, ...] = ()
    search_engine: str = "duckduckgo"
    model_source: str = ""
    proxy: str = ""
    certificates: str = ""
    new_versions: bool = _setting(False, "privacy")
    max_model_calls: int = _setting(100, "limits", most=10_000)
    max_tool_rounds: int = _setting(60, "limits", most=10_000)
    max_sub_agent_runs: int = _setting(20, "limits", most=1_000)
    max_minutes: int = _setting(30, "limits", most=1_440, unit="minutes")
    max_cost_usd: float = _setting(2.0, "limits", most=1_000, step=0.5, unit="usd")
    max_month_usd: float = _setting(0.0, "usage", most=100_000, unit="usd")

    @property
    def limits(self) -> RunLimits:
        """The limits of a run for which no others were chosen."""
        return RunLimits(minutes=self.max_minutes, calls=self.max_model_calls, usd=self.max_cost_usd)

    def within(self, limits: RunLimits | None) -> "Settings":
        """Return these settings for a run with own limits: then its calls are counted, not their kinds."""
        if limits is None:
            return self
        chosen = {"max_minutes": limits.minutes, "max_model_calls": limits.calls, "max_cost_usd": limits.usd}
        return replace(self, **chosen, max_tool_rounds=0, max_sub_agent_runs=0)  # type: ignore[arg-type]


def rules() -> dict[str, Rule]:
    """Return the rule of every setting by name; a setting without one may have any value of its type."""
    return {item.name: item.metadata.get("rule", Rule()) for item in fields(Settings)}
