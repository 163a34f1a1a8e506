"""The form of an assistant: name, model, instructions, tools, sub-agents, servers and limits.

Also what happens to work that arrives while it is busy, and the folder it works in.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.catalog import PROGRAM
from app.core.definitions import COLOURS, Agent, Busy
from app.core.provider import ModelFacts, ProviderStatus
from app.core.texts import exact
from app.core.tool import ServerStatus, ToolChoice
from app.engine.availability import DEFAULT_DEPTH, DEFAULT_LIMIT, DEFAULT_TIMEOUT_S, Strategy, policy_of
from app.engine.library.agents import SUB_AGENT
from app.gui.display.appearance import Language, Look, tall
from app.gui.display.descriptions import server_state
from app.gui.files.user_files import ask_for_folder
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import Choice, NumberBox, TextBox, TickBox, WrappedTick, button
from app.gui.widgets.form import NARROW, Field, Form, Sentence
from app.gui.widgets.model_choice import AnswerStyleChoice, ModelChoice
from app.gui.widgets.text import Paragraph, named, say

MOST_NAME = 60
MOST_LINE = 300
DEEPEST = 10
MOST_STEPS = 100
# The attributes of an assistant, or of a group's orchestrator, that say which model answers, and how.
MODEL, STYLE = ("provider", "model"), ("effort", "creativity", "length")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The choices of the form: providers, tools, other assistants, MCP servers,
    and what is known about a model.
    """

    providers: tuple[ProviderStatus, ...] = ()
    tools: tuple[ToolChoice, ...] = ()
    agents: tuple[Agent, ...] = ()
    servers: tuple[ServerStatus, ...] = ()
    facts: Callable[[str, str], ModelFacts] = lambda _provider, _model: ModelFacts()


class AssistantForm(Form):
    """Shows an assistant for editing.

    The name, role and model are there at once, the other rows follow in steps.
    """

    def __init__(self, language: Language, look: Look) -> None:
        self._agent, self._choices = Agent(id="", name=""), Choices()
        self._called = 0
        # Only an external agent works in a folder; it has its own tools.
        self._external = False
        self.name = named("assistant_name", QLineEdit(maxLength=MOST_NAME))
        self.role = named("assistant_role", QLineEdit(maxLength=MOST_NAME))
        self.model = named("assistant_model", ModelChoice(language, look))
        self.folder = FolderChoice("assistant_folder", language)
        self.answers = AnswerStyleChoice(language, look)
        self.description = named("assistant_description", QLineEdit(maxLength=MOST_LINE))
        self.instructions = named("assistant_instructions", TextBox(lines=6, most=18, submits=False))
        self.tools = ChipList(language, look, "assistant_tools")
        self.sub_agents = ChipList(language, look, "assistant_sub_agents")
        self.servers = ChipList(language, look, "assistant_servers")
        self.pages = named("assistant_pages", TextBox(lines=2, most=6, submits=False))
        self.busy = BusyChoice(language, look)
        self.colour = named("assistant_colour", Choice(look))
        self.deep = NumberBox("assistant_depth", 0, DEEPEST)
        self.steps = NumberBox("assistant_steps", 1, MOST_STEPS)
        self._limits = Sentence(language, "assistant.limits.row", self.deep, self.steps)
        self._own_tools = say(Paragraph("hint"), language, "assistant.own_tools.text")
        super().__init__(
            language,
            (
                Field("name", self.name, share=2, fits=bool, error="assistant.error.name"),
                Field("role", self.role, share=2, hint="assistant.hint.role"),
                Field("model", self.model, share=3, of=MODEL, error="assistant.error.model"),
            ),
            Field(
                "folder",
                self.folder,
                hint="assistant.hint.folder",
                help="assistant.folder.text",
                fits=lambda folder: not folder or Path(folder).is_absolute(),
                error="assistant.error.folder",
                shown_when=lambda: self._external,
            ),
            Field("answers", self.answers, of=STYLE),
            Field("description", self.description, hint="assistant.hint.description"),
            Field("instructions", self.instructions, hint="assistant.hint.instructions"),
            (
                self._box("tools", self.tools, help="assistant.tools.text"),
                self._box("sub_agents", self.sub_agents, under=(self._limits,)),
                self._box(
                    "servers",
                    self.servers,
                    get=lambda agent: agent.mcp_servers,
                    put=lambda names: {"mcp_servers": names},
                    help="assistant.servers.text",
                ),
            ),
            self._own_tools,
            Field(
                "pages",
                self.pages,
                hint="assistant.hint.pages",
                get=lambda agent: "\n".join(agent.pages),
                put=lambda text: {"pages": _lines_of(text)},
                fits=lambda text: not _wrong_page(text),
            ),
            # None is the policy of the role.
            Field("busy", self.busy, fits=lambda _policy: True),
            Field(
                "colour",
                self.colour,
                options=[(place, f"assistant.colour.{place}") for place in range(COLOURS)],
            ),
            Field(
                "knows_user", named("assistant_knows_user", WrappedTick(look)), text="assistant.knows_user"
            ),
            Field("enabled", named("assistant_enabled", TickBox(look)), text="assistant.enabled"),
            STRETCH,
            inner=(
                Field("max_depth", self.deep, says="assistant.depth.name"),
                Field("max_steps", self.steps, says="assistant.steps.name"),
            ),
            labels="assistant.field",
            spacing=14,
        )
        self.model.changed.connect(self._show_facts)
        self.sub_agents.changed.connect(self._grant_calls)
        self.role.textChanged.connect(self.busy.show_role)
        self.lay_out_in_steps()

    def show_assistant(self, agent: Agent, *, fixed: bool) -> None:
        """Show an assistant; `fixed` makes it read-only."""
        self._agent, self._called = agent, len(agent.sub_agents)
        self.fill(agent, fixed=fixed)
        self._show_facts()
        self._offer()

    def set_choices(self, choices: Choices) -> None:
        """Set the choices."""
        self._choices = choices
        with QSignalBlocker(self):
            self.model.set_providers(choices.providers, choices.facts)
        self._show_facts()
        self._offer()

    def assistant(self) -> Agent | None:
        """Return the assistant as edited, or None if a field is invalid;
        the reason is shown beside the field.
        """
        fits, wrong = self.check(), _wrong_page(self.pages.text())[:80]
        self.show_error("pages", self._language("assistant.error.page", page=wrong) if wrong else "")
        return replace(self._agent, **self.values()) if fits else None

    def fit(self, width: int) -> None:
        super().fit(width)
        for part in (self.answers, self._limits):
            part.set_across(width >= tall(NARROW))

    def _box(self, name: str, chips: ChipList, **more: Any) -> Field:
        none = f"assistant.none.{name}"
        return Field(name, chips, hint=none, card=True, shown_when=lambda: not self._external, **more)

    def _grant_calls(self) -> None:
        """Give an assistant the tool that calls sub-agents with each one it gets."""
        before, self._called = self._called, len(self.sub_agents.chosen())
        calls = next((tool for tool in self._choices.tools if tool.key == SUB_AGENT), None)
        has = {calls.key, calls.group} & set(self.tools.chosen()) if calls is not None else True
        if self._called > before and calls is not None and not has:
            self.tools.choose(calls.key)

    def _show_facts(self) -> None:
        """Offer for the answers what the chosen model takes, and show what its provider leaves to choose."""
        provider, model = self.model.chosen() or ("", "")
        self.answers.show_facts(self._choices.facts(provider, model) if provider else ModelFacts())
        kinds = {status.config.id: status.config.kind for status in self._choices.providers}
        self._external = kinds.get(provider) == PROGRAM
        self._own_tools.setVisible(self._external)
        self.show_rows()

    def _offer(self) -> None:
        words, choices = self._language, self._choices
        self.tools.set_offers(_tool_offers(choices.tools, words))
        others = [agent for agent in choices.agents if agent.id != self._agent.id]
        self.sub_agents.set_offers([ChipOption(agent.id, agent.name, agent.description) for agent in others])
        servers = []
        for status in choices.servers:
            text, tone = server_state(status, words)
            shown = words("assistant.server", name=exact(status.server.name), state=text)
            servers.append(ChipOption(status.server.name, shown, status.detail, "", tone))
        self.servers.set_offers(servers)


def _lines_of(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in text.splitlines() if line.strip())


def _wrong_page(text: str) -> str:
    """Return the first line that is no address of a page, "" if all are."""
    return next((page for page in _lines_of(text) if not page.startswith(("https://", "http://"))), "")


def _tool_offers(tools: Sequence[ToolChoice], words: Language) -> list[ChipOption]:
    """Return the tools to choose from, each set before its members.

    The tool tip begins with the tool's name for models.
    """
    offers: list[ChipOption] = []
    for name in dict.fromkeys(tool.group for tool in tools):
        title = known_text(f"tool.group.{name}", words) or name
        members = [tool for tool in tools if tool.group == name]
        if name and len(members) > 1:
            keys = ", ".join(tool.key for tool in members)
            offers.append(ChipOption(name, words("assistant.tools.all", group=title), keys, title, "accent"))
        elif name:
            # A set of one tool is that tool; a definition may name either.
            offers.append(ChipOption(name, title, members[0].key, "", "accent"))
        for tool in members:
            text = known_text(f"tool.{tool.key}.name", words) or tool.key
            told = known_text(f"tool.{tool.key}.help", words) or tool.description
            offers.append(ChipOption(tool.key, text, f"{tool.key}: {told}", title, "accent"))
    return offers


def known_text(key: str, words: Language) -> str:
    """Return the text of a key, "" if there is none."""
    return words(key) if key in words.texts else ""


STRATEGIES = (Strategy.WAIT, Strategy.QUEUE, Strategy.PARALLEL, Strategy.REJECT)
MOST = 3_600


class BusyChoice(QWidget):
    """A strategy with its numbers, or that of the assistant's role; emits `changed`.

    The parallel strategy has two numbers: how many run, and how many more may wait.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language = language
        self._role = ""
        self._busy: Busy | None = None
        self.strategy = named("assistant_busy", Choice(look))
        self.number = NumberBox("assistant_busy_number", 0, MOST)
        self.places = NumberBox("assistant_busy_depth", 0, MOST)
        self._number = Sentence(language, "", self.number, spacing=8)
        self._places = Sentence(language, "", self.places, spacing=8)
        vbox(hbox(self.strategy, self._number, spacing=8), self._places, inside=self, spacing=5)
        self.strategy.activated.connect(self._on_strategy)
        for box in (self.number, self.places):
            box.valueChanged.connect(lambda _value: self._on_numbers())
        language.follow(self._retranslate)

    def show_value(self, value: Busy | None) -> None:
        """Show a policy, None for that of the role."""
        self._busy = value
        self._retranslate()

    def set_fixed(self, fixed: bool) -> None:
        """Let the policy be changed, or only be looked at."""
        self.strategy.setEnabled(not fixed)
        for box in (self.number, self.places):
            box.setReadOnly(fixed)

    def show_role(self, role: str) -> None:
        """Set the role."""
        self._role = role
        self._retranslate()

    def value(self) -> Busy | None:
        """Return the chosen policy, None for that of the role."""
        return self._busy

    def _on_strategy(self, _place: int) -> None:
        name = str(self.strategy.currentData() or "")
        defaults: dict[str, Busy] = {
            Strategy.WAIT: Busy(strategy=Strategy.WAIT, timeout_s=DEFAULT_TIMEOUT_S),
            Strategy.QUEUE: Busy(strategy=Strategy.QUEUE, depth=DEFAULT_DEPTH),
            Strategy.PARALLEL: Busy(strategy=Strategy.PARALLEL, limit=DEFAULT_LIMIT, depth=DEFAULT_DEPTH),
            Strategy.REJECT: Busy(strategy=Strategy.REJECT),
        }
        self._busy = defaults.get(name)
        self._show_numbers()
        self.changed.emit()

    def _on_numbers(self) -> None:
        if (busy := self._busy) is not None:
            busy = _with_number(busy, self.number.value())
            parallel = busy.strategy == Strategy.PARALLEL
            self._busy = replace(busy, depth=self.places.value()) if parallel else busy
            self.changed.emit()

    def _show_numbers(self) -> None:
        policy = self._busy
        counts = policy is not None and policy.strategy != Strategy.REJECT
        self._number.setVisible(counts)
        self._places.setVisible(policy is not None and policy.strategy == Strategy.PARALLEL)
        if policy is None or not counts:
            return
        for box, sentence, value, key in (
            (self.number, self._number, _number(policy), policy.strategy),
            (self.places, self._places, _depth(policy), Strategy.QUEUE),
        ):
            with QSignalBlocker(box):
                # At least one runs; none may wait, and for no second.
                box.setMinimum(1 if key == Strategy.PARALLEL else 0)
                box.setValue(value)
            sentence.show_text(f"busy.unit.{key}")
            box.setAccessibleName(self._language(f"busy.unit.{key}").replace("{}", "").strip())

    def _retranslate(self) -> None:
        words = self._language
        usual = policy_of(None, self._role).strategy
        by_role = words("busy.by_role", strategy=words(f"busy.strategy.{usual}"))
        offered = [("", by_role), *((name, words(f"busy.do.{name}")) for name in STRATEGIES)]
        self.strategy.offer(offered, self._busy.strategy if self._busy else "")
        self.strategy.setAccessibleName(words("assistant.field.busy"))
        self._show_numbers()


def _number(busy: Busy) -> int:
    """Return the first number of a strategy: seconds, places in the queue, or how many run at once."""
    if busy.strategy == Strategy.WAIT:
        return round(DEFAULT_TIMEOUT_S if busy.timeout_s is None else busy.timeout_s)
    if busy.strategy == Strategy.PARALLEL:
        return busy.limit or DEFAULT_LIMIT
    return _depth(busy)


def _depth(busy: Busy) -> int:
    return DEFAULT_DEPTH if busy.depth is None else busy.depth


def _with_number(busy: Busy, value: int) -> Busy:
    """Return a policy with another first number."""
    if busy.strategy == Strategy.WAIT:
        return replace(busy, timeout_s=float(value))
    return replace(busy, limit=value) if busy.strategy == Strategy.PARALLEL else replace(busy, depth=value)


class FolderChoice(QWidget):
    """Shows the path of a folder, "" for none; emits `changed` with every change the user makes."""

    changed = Signal()

    def __init__(self, name: str, language: Language) -> None:
        super().__init__()
        self.setObjectName(name)
        self._language = language
        self.path = named(f"{name}_path", QLineEdit())
        self.choose = say(button("", f"{name}_choose", self._on_choose), language, "form.choose")
        self.choose.setAutoDefault(False)
        self.path.textChanged.connect(lambda _text: self.changed.emit())
        self.setFocusProxy(self.path)
        hbox((self.path, 1), self.choose, inside=self, spacing=6)

    def show_value(self, value: str) -> None:
        """Show a folder."""
        self.path.setText(value)

    def set_fixed(self, fixed: bool) -> None:
        """Let the folder be changed, or only be looked at."""
        self.path.setReadOnly(fixed)
        self.choose.setVisible(not fixed)

    def value(self) -> str:
        """Return the path, "" for none."""
        return self.path.text().strip()

    def _on_choose(self) -> None:
        ask_for_folder(self.window(), self.path.accessibleName(), self.path.setText, self.value())
