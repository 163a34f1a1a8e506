"""The form of an assistant: name, model, instructions, tools, sub-agents, servers and limits.

Also what happens to work that arrives while it is busy, and the folder it works in.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, Signal, SignalInstance
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.core.agent import Agent, Busy
from app.core.catalog import PROGRAM
from app.core.provider import ProviderStatus
from app.core.texts import exact
from app.core.tool import ServerStatus, ToolChoice
from app.core.usage import ModelFacts
from app.engine.availability import DEFAULT_DEPTH, DEFAULT_LIMIT, DEFAULT_TIMEOUT_S, Strategy, policy_of
from app.engine.library.agents import SUB_AGENT
from app.gui.display.appearance import Language, Look, tall
from app.gui.display.descriptions import server_state
from app.gui.widgets.boxes import STRETCH, frame, hbox, vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import Choice, NumberBox, TextBox, TickBox, WrappedTick, button
from app.gui.widgets.model_choice import AnswerStyleChoice, ModelChoice
from app.gui.widgets.steps import BuiltInSteps, Steps
from app.gui.widgets.text import Paragraph, named, plain_label, say

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


class AssistantForm(QWidget, BuiltInSteps):
    """Shows an assistant for editing; emits `changed` with every change the user makes.

    The name, role and model are there at once, the other parts are built in steps.
    """

    changed = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self._language, self._look = language, look
        self._agent = Agent(id="", name="")
        self._choices = Choices()
        self._fixed = False
        self._called = 0
        self._width = 0
        # What is built already: its parts by what is done with them.
        self._whole = False
        self._labels: dict[str, QLabel] = {}
        self.errors: dict[str, QLabel] = {}
        self._shown: list[Callable[[], None]] = []
        self._hinted: dict[str, QLineEdit | TextBox] = {}
        self._chips: dict[str, ChipList] = {}
        self._across: list[QBoxLayout] = []
        self._styles: list[AnswerStyleChoice] = []
        self._limit_labels: list[QLabel] = []
        # Only an external agent works in a folder; it has its own tools.
        self._of_agents: list[QWidget] = []
        self._of_others: list[QWidget] = []
        self._column = vbox(inside=self, spacing=14)
        self._steps = Steps(self, self._build())
        language.changed.connect(self._retranslate)

    def show_assistant(self, agent: Agent, *, fixed: bool) -> None:
        """Show an assistant; `fixed` makes it read-only."""
        self._agent, self._fixed = agent, fixed
        self._called = len(agent.sub_agents)
        # Signals are for the user's changes only; setting the same text again would lose the undo history.
        with QSignalBlocker(self):
            self._show_hints()
            for show in self._shown:
                show()
            self._show_facts()
            self._offer()
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
        self._steps.finish()
        self.errors[field].setText(text)
        self.errors[field].setVisible(bool(text))

    def fit(self, width: int) -> None:
        """Lay out side by side what fits into `width` pixels.

        The form's own width cannot be used: the parts side by side keep it wide.
        """
        self._width = width
        across = QBoxLayout.Direction.LeftToRight
        for row in self._across:
            parts = [row.itemAt(place).minimumSize().width() for place in range(row.count())]
            least = max(tall(NARROW), sum(parts) + row.spacing() * (len(parts) - 1))
            row.setDirection(QBoxLayout.Direction.TopToBottom if width < least else across)
        for answers in self._styles:
            answers.set_across(width >= tall(NARROW))

    def _build(self) -> Iterator[None]:
        words = self._language
        self.name, self.role = _line("assistant_name", MOST_NAME), _line("assistant_role", MOST_NAME)
        self.model = named("assistant_model", ModelChoice(words, self._look))
        pair = self._row(14)
        for name, field in (("name", self.name), ("role", self.role), ("model", self.model)):
            pair.addLayout(self._field(name, field), 3 if name == "model" else 2)
        self._hinted["role"] = self.role
        self._column.addLayout(pair)
        self.model.changed.connect(self._show_facts)
        self.model.changed.connect(self.changed)
        self._add(self._show_head, self.name, self.role)
        yield
        self.folder = FolderChoice("assistant_folder", words)
        hint = say(Paragraph("hint"), words, "assistant.folder.text")
        self._hinted["folder"] = self.folder.path
        self._column.addLayout(self._field("folder", self.folder, hint))
        self._of_agents += [self._labels["folder"], self.folder, hint]
        self.answers = AnswerStyleChoice(words, self._look)
        self._styles.append(self.answers)
        self._column.addLayout(vbox(self._label("answers"), self.answers, spacing=5))
        self._add(self._show_answers, self.folder, self.answers)
        yield
        self.description = _line("assistant_description", MOST_LINE)
        self.instructions = named("assistant_instructions", TextBox(lines=6, most=18, submits=False))
        for name, text in (("description", self.description), ("instructions", self.instructions)):
            self._hinted[name] = text
            self._column.addLayout(self._field(name, text))
        self._add(self._show_texts, self.description, self.instructions)
        yield
        boxes = QWidget()
        self._of_others.append(boxes)
        trio = self._row(14, boxes)
        self._column.addWidget(boxes)
        self.tools = ChipList(words, self._look, "assistant_tools")
        trio.addLayout(
            self._box("tools", self.tools, say(Paragraph("hint"), words, "assistant.tools.text")), 1
        )
        self._add(lambda: self.tools.show_chosen(self._agent.tools, fixed=self._fixed), self.tools)
        yield
        self.sub_agents = ChipList(words, self._look, "assistant_sub_agents")
        self.deep = say(NumberBox("assistant_depth", 0, DEEPEST), words, name="assistant.depth.name")
        self.steps = say(NumberBox("assistant_steps", 1, MOST_STEPS), words, name="assistant.steps.name")
        self._limit_labels += [plain_label("hint") for _ in range(3)]
        self._name_limits()
        trio.addLayout(self._box("sub_agents", self.sub_agents, self._limits()), 1)
        self._add(self._show_sub_agents, self.sub_agents, self.deep, self.steps)
        yield
        self.servers = ChipList(words, self._look, "assistant_servers")
        servers_hint = say(Paragraph("hint"), words, "assistant.servers.text")
        trio.addLayout(self._box("servers", self.servers, servers_hint), 1)
        own_tools = say(Paragraph("hint"), words, "assistant.own_tools.text")
        self._of_agents.append(own_tools)
        self._column.addWidget(own_tools)
        self._add(lambda: self.servers.show_chosen(self._agent.mcp_servers, fixed=self._fixed), self.servers)
        yield
        self.pages = self._hinted["pages"] = named("assistant_pages", TextBox(lines=2, most=6, submits=False))
        self.busy = BusyChoice(words, self._look)
        self.role.textEdited.connect(self.busy.show_role)
        self._column.addLayout(self._field("pages", self.pages))
        self._column.addLayout(vbox(self._label("busy"), self.busy, spacing=5))
        self._add(self._show_pages, self.pages, self.busy)
        yield
        self.knows_user = say(
            named("assistant_knows_user", WrappedTick(self._look)), words, "assistant.knows_user"
        )
        self.enabled = say(named("assistant_enabled", TickBox(self._look)), words, "assistant.enabled")
        self._column.addWidget(self.knows_user)
        self._column.addWidget(self.enabled)
        self._column.addStretch(1)
        self._add(self._show_ticks, self.knows_user, self.enabled)
        self._whole = True
        self._put_in_order()

    def _add(self, show: Callable[[], None], *fields: QWidget) -> None:
        """Fill a part that was just built, and connect its fields."""
        self._shown.append(show)
        with QSignalBlocker(self):
            self._show_hints()
            self._offer()
            show()
            self._show_facts()
        self.fit(self._width)
        for field in fields:
            _change_of(field).connect(lambda *_value: self.changed.emit())
            if isinstance(field, ChipList):
                field.changed.connect(self._grant_calls)
                field.drawn.connect(self._put_in_order)

    def _show_head(self) -> None:
        agent = self._agent
        for field, text in ((self.name, agent.name), (self.role, agent.role)):
            self._show_line(field, text)
        self.model.show_model(agent.provider, agent.model)
        self.model.set_fixed(self._fixed)

    def _show_answers(self) -> None:
        agent, fixed = self._agent, self._fixed
        self.folder.show_folder(agent.folder, fixed=fixed)
        self.answers.show_style(agent.effort, agent.creativity, agent.length, fixed=fixed)

    def _show_texts(self) -> None:
        self._show_line(self.description, self._agent.description)
        self.instructions.setPlainText(self._agent.instructions)
        self.instructions.setReadOnly(self._fixed)

    def _show_sub_agents(self) -> None:
        agent, fixed = self._agent, self._fixed
        self.sub_agents.show_chosen(agent.sub_agents, fixed=fixed)
        for number, value in ((self.deep, agent.max_depth), (self.steps, agent.max_steps)):
            number.setValue(value)
            number.setReadOnly(fixed)

    def _show_pages(self) -> None:
        self.pages.setPlainText("\n".join(self._agent.pages))
        self.pages.setReadOnly(self._fixed)
        self.busy.show_busy(self._agent.busy, self._agent.role, fixed=self._fixed)

    def _show_ticks(self) -> None:
        for tick, on in ((self.knows_user, self._agent.knows_user), (self.enabled, self._agent.enabled)):
            tick.setChecked(on)
            tick.setEnabled(not self._fixed)

    def _show_line(self, field: QLineEdit, text: str) -> None:
        field.setText(text)
        field.setCursorPosition(0)
        field.setReadOnly(self._fixed)

    def _row(self, spacing: int, inside: QWidget | None = None) -> QBoxLayout:
        """Return a row whose parts stand one below the other where they do not fit side by side."""
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        if inside is not None:
            inside.setLayout(row)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(spacing)
        self._across.append(row)
        return row

    def _limits(self) -> QBoxLayout:
        limits = self._row(6)
        before, between, after = self._limit_labels
        for limit in (hbox(before, self.deep, between, spacing=6), hbox(self.steps, after, spacing=6)):
            limit.addStretch(0)
            limits.addLayout(limit)
        limits.addStretch(1)
        return limits

    def _label(self, name: str) -> QLabel:
        words = f"assistant.field.{name}"
        label = self._labels[name] = say(plain_label("field", wrap=True), self._language, words)
        return label

    def _field(self, name: str, widget: QWidget, *under: QWidget) -> QVBoxLayout:
        label, error = self._label(name), plain_label("error", wrap=True)
        self.errors[name] = error
        error.hide()
        label.setBuddy(widget)
        says = widget.path if isinstance(widget, FolderChoice) else widget
        say(says, self._language, name=f"assistant.field.{name}")
        return vbox(label, widget, *under, error, spacing=5)

    def _box(self, name: str, chips: ChipList, under: QWidget | QBoxLayout) -> QVBoxLayout:
        self._chips[name] = chips
        self._name_chips(name)
        return vbox(
            self._label(name),
            frame("card", vbox(chips, under, margins=(12, 11, 12, 11), spacing=9)),
            STRETCH,
            spacing=5,
        )

    def _grant_calls(self) -> None:
        """Give an assistant the tool that calls sub-agents with each one it gets."""
        before, self._called = self._called, len(self.sub_agents.chosen())
        calls = next((one for one in self._choices.tools if one.key == SUB_AGENT), None)
        has = {calls.key, calls.group} & set(self.tools.chosen()) if calls is not None else True
        if self._called > before and calls is not None and not has:
            self.tools.choose(calls.key)

    def _put_in_order(self) -> None:
        """Set the Tab order from top to bottom, including chips that were added later."""
        if not self._whole:
            return
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
        facts = self._choices.facts(provider, model) if provider else ModelFacts()
        for answers in self._styles:
            answers.show_facts(facts)
        kinds = {one.config.id: one.config.kind for one in self._choices.providers}
        external = kinds.get(provider) == PROGRAM
        for part in self._of_agents:
            part.setVisible(external)
        for part in self._of_others:
            part.setVisible(not external)

    def _offer(self) -> None:
        for name, chips in self._chips.items():
            chips.set_offers(self._offers_of(name))

    def _offers_of(self, name: str) -> list[ChipOption]:
        words, choices = self._language, self._choices
        if name == "tools":
            return _tool_offers(choices.tools, words)
        if name == "sub_agents":
            others = [agent for agent in choices.agents if agent.id != self._agent.id]
            return [ChipOption(agent.id, agent.name, agent.description) for agent in others]
        offers = []
        for status in choices.servers:
            text, tone = server_state(status, words)
            shown = words("assistant.server", name=exact(status.server.name), state=text)
            offers.append(ChipOption(status.server.name, shown, status.detail, "", tone))
        return offers

    def _show_hints(self) -> None:
        """Show placeholders in empty fields that can be edited."""
        for name, box in self._hinted.items():
            box.setPlaceholderText("" if self._fixed else self._language(f"assistant.hint.{name}"))

    def _name_chips(self, name: str) -> None:
        words = self._language
        self._chips[name].set_words(words(f"assistant.field.{name}"), words(f"assistant.none.{name}"))

    def _name_limits(self) -> None:
        texts = self._language("assistant.limits.row").split("{}")
        for label, text in zip(self._limit_labels, texts, strict=False):
            label.setText(text.strip())

    def _retranslate(self) -> None:
        self._show_hints()
        for name in self._chips:
            self._name_chips(name)
        self._name_limits()
        self.set_choices(self._choices)


def _change_of(field: QWidget) -> SignalInstance:
    """Return the signal of a field that says that the user has changed it."""
    if isinstance(field, TickBox):
        return field.toggled
    if isinstance(field, NumberBox):
        return field.valueChanged
    if isinstance(field, QLineEdit | TextBox):
        return field.textChanged
    assert isinstance(field, FolderChoice | AnswerStyleChoice | BusyChoice | ChipList)
    return field.changed


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
        self.strategy = Choice(look)
        self.strategy.setObjectName("assistant_busy")
        self.number = NumberBox("assistant_busy_number", 0, MOST)
        self.places = NumberBox("assistant_busy_depth", 0, MOST)
        self._number_labels = plain_label("hint"), plain_label("hint")
        self._places_labels = plain_label("hint"), plain_label("hint")
        column = vbox(inside=self, spacing=5)
        number_row, places_row = QHBoxLayout(), QHBoxLayout()
        number_row.addWidget(self.strategy)
        for row, box, (before, after) in (
            (number_row, self.number, self._number_labels),
            (places_row, self.places, self._places_labels),
        ):
            row.setSpacing(8)
            for widget in (before, box, after):
                row.addWidget(widget)
            row.addStretch(1)
            column.addLayout(row)
        self.strategy.activated.connect(self._on_strategy)
        self.number.valueChanged.connect(lambda _value: self._on_number())
        self.places.valueChanged.connect(lambda _value: self._on_depth())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_busy(self, busy: Busy | None, role: str, *, fixed: bool) -> None:
        """Show a policy, None for that of the role; `fixed` if it cannot be changed."""
        self._busy, self._role = busy, role
        self.strategy.setEnabled(not fixed)
        for box in (self.number, self.places):
            box.setReadOnly(fixed)
        self._retranslate()

    def show_role(self, role: str) -> None:
        """Set the role."""
        self._role = role
        self._retranslate()

    def busy(self) -> Busy | None:
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

    def _on_number(self) -> None:
        if self._busy is not None:
            self._busy = _with_number(self._busy, self.number.value())
            self.changed.emit()

    def _on_depth(self) -> None:
        if self._busy is not None:
            self._busy = replace(self._busy, depth=self.places.value())
            self.changed.emit()

    def _show_numbers(self) -> None:
        policy = self._busy
        shown = policy is not None and policy.strategy != Strategy.REJECT
        parallel = policy is not None and policy.strategy == Strategy.PARALLEL
        self.number.setVisible(shown)
        self.places.setVisible(parallel)
        for label in (*self._number_labels, *self._places_labels):
            label.hide()
        if policy is None or not shown:
            return
        for box, labels, value, key in (
            (self.number, self._number_labels, _number(policy), policy.strategy),
            (self.places, self._places_labels, _depth(policy), Strategy.QUEUE),
        ):
            box.blockSignals(True)
            # At least one runs; none may wait, and for no second.
            box.setMinimum(1 if key == Strategy.PARALLEL else 0)
            box.setValue(value)
            box.blockSignals(False)
            text = self._language(f"busy.unit.{key}")
            for label, part in zip(labels, text.split("{}"), strict=True):
                label.setText(part.strip())
                label.setVisible(bool(part) and not box.isHidden())
            box.setAccessibleName(text.replace("{}", "").strip())

    def _retranslate(self) -> None:
        words = self._language
        self.strategy.clear()
        usual = policy_of(None, self._role).strategy
        self.strategy.addItem(words("busy.by_role", strategy=words(f"busy.strategy.{usual}")), "")
        for name in STRATEGIES:
            self.strategy.addItem(words(f"busy.do.{name}"), name)
        chosen = self._busy.strategy if self._busy else ""
        self.strategy.setCurrentIndex(max(0, self.strategy.findData(chosen)))
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

    def show_folder(self, folder: str, *, fixed: bool) -> None:
        """Show a folder; `fixed` makes it read-only."""
        self.path.setText(folder)
        self.path.setReadOnly(fixed)
        self.choose.setVisible(not fixed)

    def chosen(self) -> str:
        """Return the path, "" for none."""
        return self.path.text().strip()

    def _on_choose(self) -> None:
        dialog = QFileDialog(self.window(), self.path.accessibleName(), self.chosen())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self.path.setText)
        dialog.open()
