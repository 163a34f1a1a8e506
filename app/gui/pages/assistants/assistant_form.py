"""The form of an assistant: name, model, instructions, tools, sub-agents, servers and limits."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QBoxLayout, QFrame, QLineEdit, QVBoxLayout, QWidget

from app.core.agent import Agent
from app.core.catalog import PROGRAM
from app.core.model_facts import ModelFacts
from app.core.provider import ProviderStatus
from app.core.text import exact
from app.core.tool import ServerStatus, ToolChoice
from app.engine.turns.sub_agents import SUB_AGENT
from app.gui.display.i18n import Language
from app.gui.display.server_display import server_state
from app.gui.display.style import Look, tall
from app.gui.widgets.agent_choices import BusyChoice
from app.gui.widgets.answer_style_choice import AnswerStyleChoice
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.chip_list import ChipList, ChipOption
from app.gui.widgets.composer import TextBox
from app.gui.widgets.controls import NumberBox, TickBox, WrappedTick
from app.gui.widgets.folder_choice import FolderChoice
from app.gui.widgets.label import Paragraph, plain_label
from app.gui.widgets.model_choice import ModelChoice
from app.gui.widgets.wording import named, say

MOST_NAME = 60
MOST_LINE = 300
DEEPEST = 10
MOST_STEPS = 100
NARROW = 560
TEXTS = ("name", "role", "model", "folder", "description", "instructions", "pages")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The choices of the form: providers, tools, other assistants, MCP servers, and what is known about a model."""

    providers: tuple[ProviderStatus, ...] = ()
    tools: tuple[ToolChoice, ...] = ()
    agents: tuple[Agent, ...] = ()
    servers: tuple[ServerStatus, ...] = ()
    facts: Callable[[str, str], ModelFacts] = lambda _provider, _model: ModelFacts()


class AssistantForm(QWidget):
    """Shows an assistant for editing; emits `changed` with every change the user makes."""

    changed = Signal()

    def __init__(self, language: Language, look: Look, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._language = language
        self._agent = Agent(id="", name="")
        self._choices = Choices()
        self._fixed = False
        self._called = 0
        self._labels = {
            name: plain_label("field", wrap=True)
            for name in (*TEXTS, "answers", "tools", "sub_agents", "servers", "busy")
        }
        self.errors = {name: plain_label("error", wrap=True) for name in TEXTS}
        self.name = _line("assistant_name", MOST_NAME)
        self.role = _line("assistant_role", MOST_NAME)
        self.model = named("assistant_model", ModelChoice(language, look))
        self.folder = FolderChoice("assistant_folder", language)
        self._folder_hint = say(Paragraph("hint"), language, "assistant.folder.text")
        self._own_tools = say(Paragraph("hint"), language, "assistant.own_tools.text")
        self.answers = AnswerStyleChoice(language, look)
        self.description = _line("assistant_description", MOST_LINE)
        self.instructions = named("assistant_instructions", TextBox(lines=6, most=18, submits=False))
        self.tools = ChipList(language, look, "assistant_tools")
        self.sub_agents = ChipList(language, look, "assistant_sub_agents")
        self.servers = ChipList(language, look, "assistant_servers")
        self.deep = say(NumberBox("assistant_depth", 0, DEEPEST), language, name="assistant.depth.name")
        self.steps = say(NumberBox("assistant_steps", 1, MOST_STEPS), language, name="assistant.steps.name")
        self._limit_labels = [plain_label("hint") for _ in range(3)]
        self._tools_hint = say(Paragraph("hint"), language, "assistant.tools.text")
        self._servers_hint = say(Paragraph("hint"), language, "assistant.servers.text")
        self.pages = named("assistant_pages", TextBox(lines=2, most=6, submits=False))
        self.busy = BusyChoice(language, look)
        self.knows_user = say(
            named("assistant_knows_user", WrappedTick(look)), language, "assistant.knows_user"
        )
        self.enabled = say(named("assistant_enabled", TickBox(look)), language, "assistant.enabled")
        self._pair = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._boxes = QWidget()
        self._trio = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._boxes)
        self._trio.setContentsMargins(0, 0, 0, 0)
        self._limits = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._lay_out()
        self._connect()
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_assistant(self, agent: Agent, *, fixed: bool) -> None:
        """Show an assistant; `fixed` makes it read-only."""
        self._agent, self._fixed = agent, fixed
        # Signals are for the user's changes only; setting the same text again would lose the undo history.
        with QSignalBlocker(self):
            for field, text in (
                (self.name, agent.name),
                (self.role, agent.role),
                (self.description, agent.description),
            ):
                field.setText(text)
                field.setCursorPosition(0)
                field.setReadOnly(fixed)
            self._show_hints()
            for box, text in ((self.instructions, agent.instructions), (self.pages, "\n".join(agent.pages))):
                box.setPlainText(text)
                box.setReadOnly(fixed)
            self.model.show_model(agent.provider, agent.model)
            self.model.set_fixed(fixed)
            self.folder.show_folder(agent.folder, fixed=fixed)
            self.answers.show_style(agent.effort, agent.creativity, agent.length, fixed=fixed)
            self._show_facts()
            for number, value in ((self.deep, agent.max_depth), (self.steps, agent.max_steps)):
                number.setValue(value)
                number.setReadOnly(fixed)
            self.busy.show_busy(agent.busy, agent.role, fixed=fixed)
            for tick, on in ((self.knows_user, agent.knows_user), (self.enabled, agent.enabled)):
                tick.setChecked(on)
                tick.setEnabled(not fixed)
            self._show_chips()
            for error in self.errors.values():
                error.setText("")
                error.hide()

    def set_choices(self, choices: Choices) -> None:
        """Set the choices."""
        self._choices = choices
        with QSignalBlocker(self):
            self.model.set_providers(choices.providers, choices.facts)
            self._show_facts()
            self._offer()

    def assistant(self) -> Agent | None:
        """Return the assistant as edited, or None if a field is invalid; the reason is shown beside the field."""
        name, model = self.name.text().strip(), self.model.chosen()
        self.show_error("name", "" if name else self._language("assistant.error.name"))
        self.show_error("model", "" if model is not None else self._language("assistant.error.model"))
        folder = self.folder.chosen()
        lost = bool(folder) and not Path(folder).is_absolute()
        self.show_error("folder", self._language("assistant.error.folder") if lost else "")
        pages = tuple(line.strip() for line in self.pages.text().splitlines() if line.strip())
        wrong = next((page for page in pages if not page.startswith(("https://", "http://"))), "")
        self.show_error("pages", self._language("assistant.error.page", page=wrong[:80]) if wrong else "")
        if not name or model is None or wrong or lost:
            return None
        return replace(
            self._agent,
            name=name,
            role=self.role.text().strip(),
            provider=model[0],
            model=model[1],
            folder=folder,
            description=self.description.text().strip(),
            instructions=self.instructions.text(),
            tools=self.tools.chosen(),
            sub_agents=self.sub_agents.chosen(),
            mcp_servers=self.servers.chosen(),
            max_depth=self.deep.value(),
            max_steps=self.steps.value(),
            pages=pages,
            knows_user=self.knows_user.isChecked(),
            enabled=self.enabled.isChecked(),
            busy=self.busy.busy(),
            **self.answers.values(),  # type: ignore[arg-type]
        )

    def show_error(self, field: str, text: str) -> None:
        """Show beside a field of `TEXTS` what is wrong with it; "" for nothing."""
        self.errors[field].setText(text)
        self.errors[field].setVisible(bool(text))

    def fit(self, width: int) -> None:
        """Lay out side by side what fits into `width` pixels.

        The form's own width cannot be used: the parts side by side keep it wide.
        """
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        for row in (self._pair, self._trio, self._limits):
            row.setDirection(down if width < tall(NARROW) else across)
        self.answers.set_across(width >= tall(NARROW))

    def _lay_out(self) -> None:
        for name, role in (("name", self.name), ("role", self.role), ("model", self.model)):
            self._pair.addLayout(self._field(name, role), 3 if name == "model" else 2)
        self._pair.setSpacing(14)
        before, between, after = self._limit_labels
        for limit in (hbox(before, self.deep, between, spacing=6), hbox(self.steps, after, spacing=6)):
            limit.addStretch(0)
            self._limits.addLayout(limit)
        self._limits.addStretch(1)
        self._limits.setSpacing(6)
        boxes = (
            ("tools", self.tools, self._tools_hint),
            ("sub_agents", self.sub_agents, self._limits),
            ("servers", self.servers, self._servers_hint),
        )
        for name, chips, under in boxes:
            self._trio.addLayout(self._box(name, chips, under), 1)
        self._trio.setSpacing(14)
        vbox(
            self._pair,
            self._field("folder", self.folder, self._folder_hint),
            vbox(self._labels["answers"], self.answers, spacing=5),
            self._field("description", self.description),
            self._field("instructions", self.instructions),
            self._boxes,
            self._own_tools,
            self._field("pages", self.pages),
            vbox(self._labels["busy"], self.busy, spacing=5),
            self.knows_user,
            self.enabled,
            STRETCH,
            inside=self,
            spacing=14,
        )

    def _field(self, name: str, widget: QWidget, *under: QWidget) -> QVBoxLayout:
        column = vbox(self._labels[name], widget, *under, self.errors[name], spacing=5)
        self._labels[name].setBuddy(widget)
        return column

    def _box(self, name: str, chips: ChipList, under: QWidget | QBoxLayout) -> QVBoxLayout:
        frame = QFrame()
        frame.setProperty("kind", "card")
        inside = vbox(chips, inside=frame, margins=(12, 11, 12, 11), spacing=9)
        if isinstance(under, QWidget):
            inside.addWidget(under)
        else:
            inside.addLayout(under)
        return vbox(self._labels[name], frame, STRETCH, spacing=5)

    def _connect(self) -> None:
        for field in (self.name, self.role, self.description):
            field.textChanged.connect(lambda _text: self.changed.emit())
        for box in (self.instructions, self.pages):
            box.textChanged.connect(self.changed)
        for chips in (self.tools, self.sub_agents, self.servers):
            chips.changed.connect(self.changed)
            chips.changed.connect(self._grant_calls)
            chips.drawn.connect(self._put_in_order)
        for number in (self.deep, self.steps):
            number.valueChanged.connect(lambda _value: self.changed.emit())
        self.model.changed.connect(self._show_facts)
        self.model.changed.connect(self.changed)
        self.answers.changed.connect(self.changed)
        self.folder.changed.connect(self.changed)
        self.busy.changed.connect(self.changed)
        self.role.textEdited.connect(lambda role: self.busy.show_role(role))
        for tick in (self.knows_user, self.enabled):
            tick.toggled.connect(lambda _on: self.changed.emit())

    def _grant_calls(self) -> None:
        """Give an assistant the tool that calls sub-agents with each one it gets."""
        before, self._called = self._called, len(self.sub_agents.chosen())
        calls = next((one for one in self._choices.tools if one.key == SUB_AGENT), None)
        has = {calls.key, calls.group} & set(self.tools.chosen()) if calls is not None else True
        if self._called > before and calls is not None and not has:
            self.tools.choose(calls.key)

    def _put_in_order(self) -> None:
        """Set the Tab order from top to bottom, including chips that were added later."""
        stops: tuple[QWidget, ...] = (
            *(self.name, self.role, self.model, self.folder.path, self.folder.choose),
            *(self.answers.effort, self.answers.creativity, self.answers.length),
            *(self.description, self.instructions),
            *(*self.tools.stops, *self.sub_agents.stops, self.deep, self.steps, *self.servers.stops),
            *(self.pages, self.busy.strategy, self.busy.number, self.busy.places),
            *(self.knows_user, self.enabled),
        )
        for before, after in pairwise(stops):
            QWidget.setTabOrder(before, after)

    def _show_facts(self) -> None:
        """Offer for the answers what the chosen model takes."""
        provider, model = self.model.chosen() or ("", "")
        self.answers.show_facts(self._choices.facts(provider, model) if provider else ModelFacts())
        # Only an external agent works in a folder; it has its own tools.
        kinds = {one.config.id: one.config.kind for one in self._choices.providers}
        external = kinds.get(provider) == PROGRAM
        for part in (self._labels["folder"], self.folder, self._folder_hint, self._own_tools):
            part.setVisible(external)
        self._boxes.setVisible(not external)

    def _show_chips(self) -> None:
        agent, fixed = self._agent, self._fixed
        self._called = len(agent.sub_agents)
        self._offer()
        self.tools.show_chosen(agent.tools, fixed=fixed)
        self.sub_agents.show_chosen(agent.sub_agents, fixed=fixed)
        self.servers.show_chosen(agent.mcp_servers, fixed=fixed)

    def _offer(self) -> None:
        words, choices = self._language, self._choices
        self.tools.set_offers(_tool_offers(choices.tools, words))
        self.sub_agents.set_offers(
            [
                ChipOption(agent.id, agent.name, agent.description)
                for agent in choices.agents
                if agent.id != self._agent.id
            ]
        )
        offers = []
        for status in choices.servers:
            text, tone = server_state(status, words)
            name = status.server.name
            offers.append(
                ChipOption(
                    name, words("assistant.server", name=exact(name), state=text), status.detail, "", tone
                )
            )
        self.servers.set_offers(offers)

    def _show_hints(self) -> None:
        """Show placeholders in empty fields that can be edited."""
        for box, name in (
            (self.role, "role"),
            (self.description, "description"),
            (self.instructions, "instructions"),
            (self.pages, "pages"),
            (self.folder.path, "folder"),
        ):
            hint = "" if self._fixed else self._language(f"assistant.hint.{name}")
            box.setPlaceholderText(hint)

    def _retranslate(self) -> None:
        words = self._language
        for name, label in self._labels.items():
            label.setText(words(f"assistant.field.{name}"))
        for field, name in (
            (self.name, "name"),
            (self.role, "role"),
            (self.model, "model"),
            (self.description, "description"),
            (self.instructions, "instructions"),
            (self.pages, "pages"),
            (self.folder.path, "folder"),
        ):
            field.setAccessibleName(words(f"assistant.field.{name}"))
        self._show_hints()
        for chips, name in (
            (self.tools, "tools"),
            (self.sub_agents, "sub_agents"),
            (self.servers, "servers"),
        ):
            chips.set_words(words(f"assistant.field.{name}"), words(f"assistant.none.{name}"))
        for label, text in zip(self._limit_labels, words("assistant.limits.row").split("{}"), strict=True):
            label.setText(text.strip())
        self.set_choices(self._choices)


def _line(name: str, most: int) -> QLineEdit:
    field = named(name, QLineEdit())
    field.setMaxLength(most)
    return field


def _tool_offers(tools: Sequence[ToolChoice], words: Language) -> list[ChipOption]:
    """Return the tools to choose from, each set before its members.

    The tool tip begins with the tool's name for models.
    """
    offers: list[ChipOption] = []
    for name in dict.fromkeys(tool.group for tool in tools):
        title = _known(f"tool.group.{name}", words) or name
        members = [tool for tool in tools if tool.group == name]
        if name and len(members) > 1:
            keys = ", ".join(tool.key for tool in members)
            offers.append(ChipOption(name, words("assistant.tools.all", group=title), keys, title, "accent"))
        elif name:
            # A set of one tool is that tool; a definition may name either.
            offers.append(ChipOption(name, title, members[0].key, "", "accent"))
        for tool in members:
            text = _known(f"tool.{tool.key}.name", words) or tool.key
            told = _known(f"tool.{tool.key}.help", words) or tool.description
            offers.append(ChipOption(tool.key, text, f"{tool.key}: {told}", title, "accent"))
    return offers


def _known(key: str, words: Language) -> str:
    return words(key) if key in words.texts else ""
