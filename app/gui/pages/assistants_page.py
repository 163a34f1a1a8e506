"""The page of assistants: all of them as cards, and the editor of the chosen one, which saves automatically
and shows earlier versions.

Its form: name, model, instructions, tools, sub-agents, servers, skills and limits, what happens to work that
arrives while the assistant is busy, and the folder it works in.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QSignalBlocker, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from app.core.catalog import PROGRAM
from app.core.definitions import COLOURS, Agent, Busy
from app.core.provider import ModelFacts, ProviderStatus
from app.core.texts import exact
from app.core.tool import ServerStatus, ToolChoice
from app.engine.availability import DEFAULT_DEPTH, DEFAULT_LIMIT, DEFAULT_TIMEOUT_S, Strategy, policy_of
from app.engine.library.agents import SUB_AGENT
from app.gui.display.appearance import Language, Look, tall
from app.gui.display.descriptions import model_line, server_state
from app.gui.files.user_files import ask_for_folder
from app.gui.pages.skill_list import SkillList
from app.gui.widgets import controls
from app.gui.widgets.badge import Avatar, initials, told_apart
from app.gui.widgets.boxes import STRETCH, FontFitting, Frame, frame, hbox, hold_width, set_across, vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import ENTER, Choice, TextBox, TickBox, button
from app.gui.widgets.form import NARROW, DefinitionEditor, Field, Form, Sentence, Steps
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.memory import MemorySection
from app.gui.widgets.model_choice import AnswerStyleChoice, ModelChoice
from app.gui.widgets.text import ElidedLabel, Paragraph, named, plain_label, say, show_if

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
        self.skills = SkillList(language, look)
        self.pages = named("assistant_pages", TextBox(lines=2, most=6, submits=False))
        self.busy = BusyChoice(language, look)
        self.colour = named("assistant_colour", Choice(look))
        self.deep = controls.NumberBox("assistant_depth", 0, DEEPEST)
        self.steps = controls.NumberBox("assistant_steps", 1, MOST_STEPS)
        self._limits = Sentence(language, "assistant.limits.row", self.deep, self.steps)
        self._own_tools = say(Paragraph("hint"), language, "assistant.own_tools.text")
        colours = [(place, f"assistant.colour.{place}") for place in range(COLOURS)]
        remembers = named("assistant_remembers", controls.WrappedTick(look))
        knows_user = named("assistant_knows_user", controls.WrappedTick(look))
        servers = {"get": lambda agent: agent.mcp_servers, "put": lambda names: {"mcp_servers": names}}
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
                self._box("servers", self.servers, **servers, help="assistant.servers.text"),
            ),
            self._own_tools,
            Field(
                "skills", self.skills, says="assistant.field.skills", shown_when=lambda: not self._external
            ),
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
            Field("colour", self.colour, options=colours),
            Field("knows_user", knows_user, text="assistant.knows_user"),
            Field("remembers", remembers, text="assistant.remembers"),
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
        elif name and name != members[0].key:
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


# The numbers of each strategy: the attribute of its policy, what that is by default, and the strategy that
# has its unit.
NUMBERS: dict[str, tuple[tuple[str, float, str], ...]] = {
    Strategy.WAIT: (("timeout_s", DEFAULT_TIMEOUT_S, Strategy.WAIT),),
    Strategy.QUEUE: (("depth", DEFAULT_DEPTH, Strategy.QUEUE),),
    Strategy.PARALLEL: (
        ("limit", DEFAULT_LIMIT, Strategy.PARALLEL),
        ("depth", DEFAULT_DEPTH, Strategy.QUEUE),
    ),
    Strategy.REJECT: (),
}
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
        self.number = controls.NumberBox("assistant_busy_number", 0, MOST)
        self.places = controls.NumberBox("assistant_busy_depth", 0, MOST)
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
        known: dict[str, Any] = {attribute: usual for attribute, usual, _unit in NUMBERS.get(name, ())}
        self._busy = Busy(strategy=name, **known) if name else None
        self._show_numbers()
        self.changed.emit()

    def _on_numbers(self) -> None:
        if (busy := self._busy) is not None:
            boxes = zip(NUMBERS.get(busy.strategy, ()), (self.number, self.places), strict=False)
            said: dict[str, Any] = {name: type(usual)(box.value()) for (name, usual, _unit), box in boxes}
            self._busy = replace(busy, **said)
            self.changed.emit()

    def _show_numbers(self) -> None:
        numbers = NUMBERS.get(self._busy.strategy, ()) if self._busy is not None else ()
        show_if(numbers, self._number)
        show_if(numbers[1:], self._places)
        boxes = ((self.number, self._number), (self.places, self._places))
        for (box, sentence), (name, usual, unit) in zip(boxes, numbers, strict=False):
            value, runs = getattr(self._busy, name), name == "limit"
            with QSignalBlocker(box):
                # At least one runs; none may wait, and for no second.
                box.setMinimum(int(runs))
                box.setValue(round(usual if value is None or (runs and not value) else value))
            sentence.show_text(f"busy.unit.{unit}")
            box.setAccessibleName(self._language(f"busy.unit.{unit}").replace("{}", "").strip())

    def _retranslate(self) -> None:
        words = self._language
        usual = policy_of(None, self._role).strategy
        by_role = words("busy.by_role", strategy=words(f"busy.strategy.{usual}"))
        offered = [("", by_role), *((name, words(f"busy.do.{name}")) for name in NUMBERS)]
        self.strategy.offer(offered, self._busy.strategy if self._busy else "")
        self.strategy.setAccessibleName(words("assistant.field.busy"))
        self._show_numbers()


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


MARGIN = 24
# The width of the memory, and of an editor that has room for it beside the form.
MEMORY_WIDTH, BESIDE = 370, 800
# The fields in which a version may differ, with the keys of their texts.
FIELD_OF = {"provider": "model", "mcp_servers": "servers", "max_depth": "limits", "max_steps": "limits"}
FIELD_OF |= dict.fromkeys(("effort", "creativity", "length"), "answers")


class AssistantEditor(FontFitting, DefinitionEditor[Agent]):
    """Shows an assistant; emits `save_requested` with it as edited, a moment after a change.

    If `embedded` in the page of a group, it has no buttons to share or chat, which the group has, and no
    memory. Emits `shown` when another assistant is shown.
    """

    versions_requested = Signal(str)
    shown = Signal()

    def __init__(self, language: Language, look: Look, *, embedded: bool = False) -> None:
        super().__init__(language, "assistant_state")
        self._embedded = embedded
        self._shown: Agent | None = None
        self._built_in = False
        self._others: Sequence[str] = ()
        self._avatar = Avatar(look, 30)
        self._title = ElidedLabel("page_title")
        versions, share = self.asking(self.versions_requested), self.asking(self.share_requested)
        versions_button = controls.icon_button(look, "history", "assistant_versions", versions)
        self._versions = say(versions_button, language, tip="assistant.versions")
        share_button = controls.icon_button(look, "share", "assistant_share", share)
        self._share = say(share_button, language, tip="assistant.share")
        chat = button("primary", "assistant_chat", self.asking(self.chat_requested))
        self._chat = say(chat, language, "assistant.chat_with")
        self._banner_text = plain_label(wrap=True)
        self._banner_act = button("", "assistant_banner_act", self._on_banner)
        back = button("plain", "assistant_banner_back", self._show_again)
        self._banner_back = say(back, language, "assistant.version.back")
        self.form = AssistantForm(language, look)
        if not embedded:
            self.memory = MemorySection(language, look)
        self.named = self.form.name
        self._lay_out()
        self.form.changed.connect(self._on_changed)
        language.follow(self._show_banner)

    def show_assistant(self, agent: Agent, *, built_in: bool, others: Sequence[str] = ()) -> None:
        """Show an assistant; the same one again keeps unsaved changes.

        `others` are the names that its letters are told apart from.
        """
        self._others = others
        if self.definition_id == agent.id and not self._built_in:
            if self._is_changed_elsewhere(agent):
                self.show_stored(agent)
            elif not self._differs(agent):
                self._definition = agent
            return
        self.save_now()
        self._definition, self._built_in = agent, built_in
        self.state.start_over()
        self._show_again()
        self.shown.emit()

    def set_choices(self, choices: Choices) -> None:
        """Set the choices of the form."""
        self.form.set_choices(choices)

    def written(self) -> Agent | None:
        # An earlier version is only looked at.
        return self.form.assistant() if self._shown is None else None

    def show_error(self, field: str, text: str) -> None:
        self.form.show_error(field, text)

    def show_stored(self, definition: Agent) -> None:
        self._definition = definition
        self._show_again()

    def show_versions(self, versions: Sequence[Agent]) -> None:
        """Open a menu of earlier versions, newest first."""
        menu = self.versions_menu(versions)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self._versions.mapToGlobal(QPoint(0, self._versions.height() + 4)))

    def versions_menu(self, versions: Sequence[Agent]) -> QMenu:
        """Return the menu of versions, without the current one, with the fields in which each differs."""
        words, menu = self._language, QMenu(self)
        for version in versions:
            if self._definition is not None and version.version == self._definition.version:
                continue
            text = words("assistant.version", number=version.version, fields=self._difference(version))
            menu.addAction(text, partial(self.show_version, version))
        if menu.isEmpty():
            menu.addAction(words("assistant.versions.none")).setEnabled(False)
        return menu

    def show_version(self, version: Agent) -> None:
        """Show an earlier version read-only, with a button to restore it."""
        self.save_now()
        self._shown = version
        self.form.show_assistant(version, fixed=True)
        self._show_banner()
        self._banner_act.setFocus()

    def _fit(self) -> None:
        across = not self._embedded and self.width() >= tall(BESIDE)
        if not self._embedded:
            set_across(self._body, across)
            hold_width(self.memory, MEMORY_WIDTH if across else 0)
        beside = MEMORY_WIDTH + MARGIN if across else 0
        self.form.fit(self.width() - 2 * MARGIN - beside)

    def _difference(self, version: Agent) -> str:
        """Return the names of the fields in which a version differs from the current one."""
        assert self._definition is not None
        words, now = self._language, self._definition
        known = [field.name for field in fields(Agent) if field.name != "version"]
        differing = [name for name in known if getattr(version, name) != getattr(now, name)]
        names = dict.fromkeys(FIELD_OF.get(name, name) for name in differing)
        shown = [known_text(f"assistant.field.{name}", words) or name for name in names]
        return ", ".join(shown) or words("assistant.version.same")

    def _show_again(self) -> None:
        """Show the current version again."""
        if self._definition is not None:
            self._shown = None
            self.form.show_assistant(self._definition, fixed=self._built_in)
            self._show_head()
            self._show_banner()

    def _show_head(self) -> None:
        if self._definition is None:
            return
        name = self.form.name.text().strip() or self._definition.name
        self._title.setText(name)
        self._avatar.set_speaker(name, self.form.colour.value(), letters=told_apart(name, self._others))
        self._chat.setEnabled(self._definition.enabled)

    def _show_banner(self) -> None:
        words, version = self._language, self._shown
        self._banner.setVisible(self._built_in or version is not None)
        self._banner_back.setVisible(version is not None)
        if version is not None:
            self._banner_text.setText(words("assistant.version.shown", number=version.version))
            self._banner_act.setText(words("assistant.version.bring_back"))
        else:
            self._banner_text.setText(words("assistant.built_in"))
            self._banner_act.setText(words("assistant.duplicate_to_change"))

    def _on_changed(self) -> None:
        self.state.touch()
        self._show_head()

    def _on_banner(self) -> None:
        version, agent = self._shown, self._definition
        if agent is None:
            return
        if version is None:
            self.duplicate_requested.emit(agent.id)
            return
        self._shown = None
        self.form.show_assistant(version, fixed=False)
        self._show_banner()
        self.state.touch()
        self.save_now()
        self.form.name.setFocus()

    def _lay_out(self) -> None:
        edges = (MARGIN, 0, MARGIN, 0)
        head = self._avatar, (self._title, 1), self.state, self._versions, self._share, self._chat
        if self._embedded:
            show_if(False, self._share, self._chat)
        said = hbox((self._banner_text, 1), self._banner_back, self._banner_act, margins=(14, 8, 10, 8))
        self._banner = frame("banner", said)
        self._banner.setProperty("tone", "accent")
        beside = () if self._embedded else (self.memory,)
        self._body = hbox((self.form, 1), *beside, margins=(MARGIN, 0, MARGIN, 18), spacing=MARGIN)
        body = frame("", self._body)
        rows = hbox(*head, margins=edges, spacing=10), hbox(self._banner, margins=edges)
        form = controls.scrolling(body, keeps_bar=True)
        vbox(*rows, (form, 1), inside=self, margins=(0, 16, 0, 0), spacing=12)


_SIZES = ListStyle(height=56, gap=6, left=12, right=10, mark=30, space=11, edge=8, note=11, chip=19)
CARDS = replace(_SIZES, weight=600, selected_weight=600, fill="surface", card=True)
# The width of the cards, and of a page that has room for them beside the editor.
CARDS_WIDTH, ROOMY = 300, 1_000


class AssistantCards(ItemList):
    """A card for each assistant: name over model and tools, and a mark; emits `chosen`
    with an assistant's id.

    `removal` is the key of the text for Del.
    """

    chosen = Signal(str)
    EDITS = (*ItemList.EDITS, *ENTER)

    def __init__(self, language: Language, look: Look, name: str, removal: str = "assistant.delete") -> None:
        super().__init__(look, name, CARDS, ordered=True)
        self._language, self._removal = language, removal
        self.currentItemChanged.connect(self._on_current_changed)
        self.doubleClicked.connect(lambda _index: self.edit_requested.emit(self.current_id()))

    def show_assistants(
        self, agents: Sequence[Agent], tools: Sequence[ToolChoice], marks: Mapping[str, str], chosen: str
    ) -> None:
        """Show these assistants and mark the chosen one; `marks` are texts by id."""
        words, rows, off = self._language, list[RowItem](), self._language("assistant.mark.off")
        for agent, mark in zip(agents, initials([agent.name for agent in agents]), strict=True):
            note = marks.get(agent.id, "") or ("" if agent.enabled else off)
            second, colour, faint = model_line(agent, tools, words), agent.colour, not agent.enabled
            row = RowItem(
                id=agent.id,
                title=agent.name,
                second=second,
                note=note,
                colour=colour,
                letters=mark,
                faint=faint,
            )
            rows.append(row)
        with QSignalBlocker(self):
            self.show_rows(rows)
            self.setCurrentRow(self.rows.row_of(chosen))

    def menu_of(self, row_id: str) -> QMenu:
        menu, words, fixed = self.new_menu(), self._language, row_id in self.fixed
        edit = f"{words('assistant.look' if fixed else 'assistant.edit')}\tF2"
        menu.addAction(edit, lambda: self.edit_requested.emit(row_id))
        self.add_moves(menu, words, row_id)
        if not fixed:
            menu.addSeparator()
            self.add_delete(menu, words(self._removal), row_id)
        return menu

    def _on_current_changed(self, item: RowItem | None) -> None:
        if item is not None:
            self.chosen.emit(item.id)


class AssistantsPage(QWidget):
    """Cards at the left, if they fit, and the editor; emits the user's requests.

    The editor is made in the next turns of the event loop, which emit `editor_made`.
    """

    editor_made = Signal()
    new_requested = Signal()
    bring_in_requested = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("assistants_page")
        self._language = language
        self._agents: dict[str, Agent] = {}
        self._choices = Choices()
        # The id of the assistant in the editor, also of one that is not made yet.
        self._shown_id = ""
        # Whether the editor takes the keyboard once it is made.
        self._wants_focus = False
        self._built_in: frozenset[str] = frozenset()
        self._title = say(plain_label("field"), language, "side.assistants")
        self.cards = AssistantCards(language, look, "assistant_cards")
        say(self.cards, language, name="side.assistants")
        new = button("", "assistants_new", self.new_requested).dress(look, "plus", "text")
        self._new = say(new, language, "assistant.new")
        self._editor: AssistantEditor | None = None
        self._side = Frame("cards")
        self._side.setFixedWidth(CARDS_WIDTH)
        self._lay_out()
        self.cards.chosen.connect(self.show_assistant)
        self.cards.edit_requested.connect(self._on_edit)
        self._show_cards("")
        self._steps = Steps(self, self._make_editor(look))

    @property
    def editor(self) -> AssistantEditor:
        """The editor of the chosen assistant."""
        self._steps.finish()
        assert self._editor is not None
        return self._editor

    def _make_editor(self, look: Look) -> Iterator[None]:
        yield
        editor = AssistantEditor(self._language, look)
        yield
        self._editor = editor
        self._beside.addWidget(editor, 1)
        editor.set_choices(self._choices)
        self.editor_made.emit()
        if self._shown_id in self._agents:
            self._show_in_editor(self._shown_id)
        yield
        if self._wants_focus:
            self.take_focus()

    def set_assistants(self, agents: Sequence[Agent], built_in: frozenset[str], choices: Choices) -> None:
        """Show these assistants; the one in the editor stays if it still exists."""
        self._agents = {agent.id: agent for agent in agents}
        self._built_in, self._choices = built_in, choices
        if self._editor is not None:
            self._editor.set_choices(choices)
        shown = self._shown_id
        if shown not in self._agents:
            shown = next(iter(self._agents), "")
        self._show_cards(shown)
        if shown:
            self._show_in_editor(shown)

    def show_assistant(self, agent_id: str) -> None:
        """Show an assistant in the editor, as soon as it is known."""
        if agent_id in self._agents:
            self._show_in_editor(agent_id)
            self._show_cards(agent_id)

    def take_focus(self) -> None:
        """Focus the cards, or the name where only the editor fits."""
        self._wants_focus = self._editor is None and not self._side.isVisible()
        if not self._wants_focus:
            (self.cards if self._side.isVisible() else self.editor.form.name).setFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # The sidebar has the same list: if only one fits, show the editor.
        focused = self.cards.hasFocus()
        self._side.setVisible(self.width() >= tall(ROOMY))
        if focused:
            self.take_focus()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._editor is not None:
            self._editor.save_now()

    def _on_edit(self, agent_id: str) -> None:
        self.show_assistant(agent_id)
        self.editor.form.name.setFocus()

    def _show_in_editor(self, agent_id: str) -> None:
        self._shown_id = agent_id
        if self._editor is None:
            return
        agents = tuple(self._agents.values())
        others = [agent.name for agent in agents if agent.id != agent_id]
        built_in = agent_id in self._built_in
        self._editor.show_assistant(self._agents[agent_id], built_in=built_in, others=others)

    def _show_cards(self, chosen: str) -> None:
        marks = dict.fromkeys(self._built_in, self._language("assistant.mark.built_in"))
        self.cards.fixed = self._built_in
        self.cards.show_assistants(tuple(self._agents.values()), self._choices.tools, marks, chosen)

    def _lay_out(self) -> None:
        bring_in = button("plain", "assistants_bring_in", self.bring_in_requested)
        say(bring_in, self._language, "assistant.bring_in")
        foot = hbox(self._new, bring_in, STRETCH)
        vbox(self._title, (self.cards, 1), foot, inside=self._side, margins=(16, 14, 12, 14), spacing=9)
        self._beside = hbox(self._side, inside=self, spacing=0)
