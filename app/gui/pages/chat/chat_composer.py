"""The composer of a chat: attachments, the assistant and its tools, editing an earlier message, and Stop.

Also the button that says how far a run goes before it pauses, with the menu and the dialog that change it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent, QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QMenu, QSizePolicy, QWidget

from app.core.definitions import Agent
from app.core.message import limits_text
from app.core.provider import ModelFacts, ProviderStatus, last_part
from app.core.settings import AN_HOUR, RunLimits, Settings
from app.core.texts import exact, has_hangul, unmarked
from app.core.tool import ServerState, ServerStatus, tool_name
from app.gui.dialogs.ask_dialogs import ValueDialog
from app.gui.display.appearance import Language, Look
from app.gui.pages.chat.message_box import AttachingComposer, MessageBox, Reading, ReadingStrip
from app.gui.pages.settings.settings_rows import field_of
from app.gui.widgets import controls
from app.gui.widgets.boxes import hbox, put_in_tab_order, widgets_in
from app.gui.widgets.choices import CHAT, DECIDE, WORK
from app.gui.widgets.controls import Button, MenuButton, ShorteningButton, button, ticked
from app.gui.widgets.model_choice import Facts, ModelButton, model_text
from app.gui.widgets.text import ElidedLabel, Paragraph, name_button, plain_tip, restyle, say, show_if

NAMES = ("max_minutes", "max_model_calls", "max_cost_usd")


class LimitsButton(MenuButton):
    """Offers limits for one run; emits chosen(the RunLimits, None for those of the settings)."""

    chosen = Signal(object)

    def __init__(self, language: Language, look: Look, name: str) -> None:
        super().__init__(look, "clock", name, chevron=False)
        self._language, self._look = language, look
        self._own: RunLimits | None = None
        self._usual: RunLimits | None = None
        self.choices.aboutToShow.connect(self._fill)

    @property
    def known(self) -> bool:
        """Whether the limits are known."""
        return self._usual is not None

    def show_limits(self, own: RunLimits | None, usual: RunLimits) -> None:
        """Set the limits of the run, None for the `usual` ones of the settings."""
        self._own, self._usual = own, usual

    def show_up_to(self, near: str) -> None:
        """Say how far the run goes; `near` says that it is almost there, "" that it is not."""
        words, limits = self._language, limits_text(self._language, self._chosen)
        tip = plain_tip(near or words("limits.tip"))
        self.show_words(words("limits.up_to", limits=limits), tip, short=limits)
        restyle(self, tone="warn" if near else "")

    @property
    def _chosen(self) -> RunLimits:
        return self._own or self._usual or RunLimits()

    def _fill(self) -> None:
        words = self._language
        self.clear()
        for key, limits in (("limits.usual", None), ("limits.hour", AN_HOUR)):
            text = words(key, limits=limits_text(words, limits or self._usual or RunLimits()))
            ticked(self.choices, text, limits == self._own, partial(self.chosen.emit, limits))
        self.choices.addAction(words("limits.own"), self.ask)

    def ask(self) -> None:
        """Ask for the limits."""
        LimitsDialog(self._language, self._look, self._chosen, self.window()).open_for(self.chosen.emit)


class LimitsDialog(ValueDialog):
    """Asks for the limits of one run."""

    def __init__(self, words: Language, look: Look, before: RunLimits, parent: QWidget) -> None:
        super().__init__(words, parent, "limits", words("limits.title.run"))
        self.before, settings = before, Settings().within(before)
        self.ask(*(field_of(words, look, name, getattr(settings, name)) for name in NAMES), width=440)
        self.form.fill(settings)

    def value(self) -> RunLimits:
        """Return the limits that are entered."""
        return replace(Settings(), **self.form.values()).limits


MARGINS, SEND, WORDY = 30, 34, 480
LONGEST_NAME = 24
# Of the input of a new session; and the least width in pixels at which its price is worth showing.
LINES, LEAST_PRICE = 2, 110


class SwitchMenu(QMenu):
    """A menu of switches, which stays open when one is switched."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if not self._switch(self.actionAt(event.position().toPoint())):
            super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() not in (Qt.Key.Key_Space, *controls.ENTER) or not self._switch(self.activeAction()):
            super().keyPressEvent(event)

    def _switch(self, action: QAction | None) -> bool:
        """Switch an action that is a switch; return whether it is one."""
        if action is None or not action.isCheckable() or not action.isEnabled():
            return False
        action.trigger()
        return True


def note_line(name: str, act: controls.Clicked, kind: str = "meta") -> tuple[QFrame, ElidedLabel, Button]:
    """Return a hidden line over the input, with its text and the button at its end, of this name."""
    line, text, end = QFrame(), ElidedLabel(kind), button("link", name, act)
    hbox((text, 1), end, inside=line, margins=(2, 0, 0, 0))
    line.hide()
    return line, text, end


class ChatComposer(AttachingComposer):
    """The composer for an assistant or a group; it keeps no state of a session.

    Signals: message_submitted(text, attachments), attach_requested(), attach_from_requested(server),
    files_given(paths), image_given(picture), long_text_given(text), stop_requested(), edit_cancelled(),
    assistant_chosen(assistant id), settings_requested(page), reading_cancelled(number), send_waited() if
    sending has to wait for a file, allow_requested(server's name), tool_switched(tool, on), folder_left() for
    a new session in no folder, chosen_left() to take back what was chosen for its files, escaped() if Escape
    has no other use.
    """

    attach_requested = Signal()
    attach_from_requested = Signal(str)
    stop_requested = Signal()
    edit_cancelled = Signal()
    assistant_chosen = Signal(str)
    settings_requested = Signal(str)
    send_waited = Signal()
    allow_requested = Signal(str)
    tool_switched = Signal(str, bool)
    folder_left = Signal()
    chosen_left = Signal()
    escaped = Signal()

    def __init__(self, language: Language, look: Look) -> None:
        self._language = language
        self._busy = self._held = self._english_only = False
        self._escape_stops = True
        self.closes: Callable[[], bool] = lambda: False
        """What Escape closes first; says whether anything was open."""
        self._begins, self._lacks, self._new, self._priced = CHAT, "", False, False
        self.readings = ReadingStrip(language, look)
        self.reading_cancelled = self.readings.cancelled
        self.message_box = box = MessageBox()
        self.files_given, self.image_given = box.files_given, box.image_given
        self.long_text_given = box.long_text_given
        self._limit = say(Paragraph("warn"), language, "chat.not_english")
        self._waits = say(Paragraph("hint"), language, "chat.reading.sends")
        super().__init__(language, look, box_name="composer", button_name="send_button", box=self.message_box)
        self.setAcceptDrops(True)
        self._tools_later: Callable[[], None] | None = None
        self._group_shown: object = None
        self._tools_shown: object = None
        self._asking_name = self._chosen_path = ""
        self.asking, self._asking_text, self._asking_allow = note_line(
            "composer_allow", lambda: self.allow_requested.emit(self._asking_name), "warn"
        )
        self.folder, self._folder_text, self._folder_leave = note_line("folder_leave", self.folder_left)
        say(self._folder_leave, language, "folder.leave")
        self.chosen, self._chosen_text, self._chosen_leave = note_line("chosen_leave", self.chosen_left)
        self._editing, text, cancel = note_line("edit_cancel", self.edit_cancelled)
        say(text, language, "chat.editing")
        say(cancel, language, "dialog.cancel")
        attach = controls.icon_button(look, "paperclip", "attach_button", self._on_attach)
        self.attach = say(attach, language, tip="chat.attach")
        self.sources: Callable[[], Sequence[str]] = tuple
        self.assistant = MenuButton(look, "message-circle", "assistant_button", chevron=True)
        self.providers: Callable[[], Sequence[ProviderStatus]] = tuple
        self.facts: Facts = lambda _provider, _model: ModelFacts()
        self.model = ModelButton(
            language,
            look,
            "composer_model",
            lambda: self.providers(),
            lambda *pair: self.facts(*pair),
            automatic="chat.model.own",
            more=True,
        )
        self.group = MenuButton(look, "users", "group_button", chevron=True)
        self.model.dress(look, "cpu")
        self.tools = MenuButton(look, "plug", "tools_button", chevron=False)
        self.tools.choices.aboutToHide.connect(lambda: QTimer.singleShot(0, self, self._show_tools_later))
        self.gauge = MenuButton(look, "gauge", "gauge_button", chevron=False)
        self.gauge.hide()
        self.budget = LimitsButton(language, look, "composer_budget")
        self.means = ShorteningButton("plain", "composer_means").dress(look, "circle-check")
        self.stop = ShorteningButton("", "stop_button", self.stop_requested).dress(look, "square", "text")
        # Each is one action in two menus: a group has no menu of tools.
        self.settings_mode = say(QAction(self, checkable=True), language, "chat.settings_mode")
        self.remembers = say(QAction(self, checkable=True), language, "chat.remembers")
        self.ask_several = say(QAction(self), language, "chat.ask_several")
        self.permissions = say(QAction(self), language, "chat.permissions")
        self.done_means = QAction(self)
        self.choose_folder = say(QAction(self), language, "chosen_folder.menu")
        self.propose_group = say(QAction(self), language, "propose.menu")
        self.name_files = say(QAction(self), language, "chosen_folder.files")
        self.show_done_means(0)
        work = [self.done_means, self.choose_folder, self.name_files]
        ways = (self.settings_mode, self.remembers, self.permissions)
        self._actions = [*work, self.propose_group, self.ask_several, *ways]
        self._assistant_id = ""
        self._in_group, self._stops = False, True
        self._lay_out()
        self._connect()
        self.set_busy(False)

    def show_readings(self, files: Mapping[int, Reading], *, sends: bool) -> None:
        """Show the files being read; with `sends`, also that the message is sent when they are ready."""
        self.readings.show_readings(files)
        self._waits.setVisible(sends and bool(files))
        self._show_send()

    def submit(self) -> None:
        """Send the message, as Enter does."""
        self._on_submitted()

    def hold(self, held: bool) -> None:
        """Disable or enable sending; the text stays."""
        self._held = held
        self._on_text_changed()

    def set_english_only(self, english_only: bool) -> None:
        """Show a note under Korean text, which the model would not understand."""
        self._english_only = english_only
        self._show_limit()

    def set_busy(self, busy: bool) -> None:
        """Show Stop while the assistant works; messages sent then wait in the queue."""
        if not busy and self.stop.hasFocus():
            self.box.setFocus()
        self._busy = busy
        # A group's Stop is in the orchestrator's box.
        self.stop.setVisible(busy and self._stops)
        self._fit_hint()

    @property
    def stops(self) -> tuple[QWidget, ...]:
        """What takes the focus in the row under the box, from left to right."""
        work = (self.attach, self.assistant, self.group, self.budget, self.means)
        return (*work, self.tools, self.model, self.gauge, self.stop, self.send)

    @property
    def busy(self) -> bool:
        """Whether the assistant works, so that a message goes to the queue."""
        return self._busy

    def show_editing(self, editing: bool) -> None:
        """Show that an earlier message is being edited, with a button to cancel."""
        self._editing.setVisible(editing)

    def show_assistants(self, agents: Sequence[Agent], chosen: Agent | None, name: str) -> None:
        """Set the assistants to choose from; `name` is shown if the chosen one is gone."""
        self._assistant_id = chosen.id if chosen else ""
        shown = " ".join((chosen.name if chosen else name).split())
        self.assistant.show_words(short_name(shown))
        self.assistant.setAccessibleName(self._language("chat.assistant.of", name=shown))
        menu = self.assistant.choices
        menu.clear()
        for agent in agents:
            act = partial(self.assistant_chosen.emit, agent.id)
            ticked(menu, unmarked(agent.name), agent.id == self._assistant_id, act)
        self._fit_hint()

    def show_group(self, name: str, members: Sequence[str], *, stops: bool = False) -> None:
        """Show a group, whose members can be called by its menu or an @; "" shows the assistants again.

        With `stops` the composer shows its Stop.
        """
        shown = (name, tuple(members), stops, self._language.name)
        if shown == self._group_shown:
            return
        self._group_shown = shown
        self._in_group = bool(name)
        self._stops = stops or not name
        self.group.show_words(short_name(name))
        self.group.setAccessibleName(self._language("chat.group.of", name=name))
        self.group.choices.clear()
        for member in members:
            words = self._language("member.write", name=unmarked(member))
            self.group.choices.addAction(words, partial(self.message_box.begin_with, member))
        self.group.choices.addSeparator()
        self.group.choices.addActions(self._actions)
        self.message_box.set_names(tuple(members))
        self._show_parts()
        self._show_stop()
        self.set_busy(self._busy)

    def show_begins(self, begins: str, lacks: str = "", *, new: bool = False) -> None:
        """Show the parts for what a `new` session begins as, CHAT for one that has begun.

        `lacks` says why it cannot begin yet, and Send is disabled. The button of a new session says its word.
        """
        self._begins, self._lacks, self._new = begins, lacks, new
        self.box.set_lines(LINES if new else 1)
        self._show_send()
        self._show_parts()

    def show_model(self, own: str, chosen: tuple[str, str]) -> None:
        """Show the model that answers: the one chosen here, or `own`, that of the assistant."""
        words, shown = self._language, chosen[1] or own or self._language("assistant.model.default")
        self.model.show_model(*chosen)
        provider = model_text(words, self.providers(), *chosen) if chosen[0] else words("chat.model.own")
        self.model.show_words(last_part(shown), plain_tip(provider))
        self.model.setAccessibleName(words("chat.model.of", name=shown))
        self._fit_hint()

    def _show_parts(self) -> None:
        chat = self._begins == CHAT
        alone = chat and not self._in_group
        show_if(alone, self.assistant, self.tools, self.model)
        self.group.setVisible(chat and self._in_group)
        self.means.setVisible(self._begins == WORK)
        self.asking.setVisible(alone and bool(self._asking_name))
        self.chosen.setVisible(self._begins != DECIDE and bool(self._chosen_path))
        self._fit_hint()

    def show_tools(
        self,
        tools: Sequence[str],
        servers: Sequence[ServerStatus],
        off: Collection[str] = (),
        closed: Collection[str] = (),
    ) -> None:
        """Show the tools of the assistant by server, each with a switch; those `off` are switched off,
        and those `closed` cannot be used in the session's mode.
        """
        asks = ServerState.ASKING
        asking = [one for one in servers if one.state == asks or one.server.disabled or one.needs_login]
        self._show_asking(asking[0] if asking else None)
        words = self._language
        shown = (tuple(tools), tuple(servers), frozenset(off), frozenset(closed), words.name)
        if shown == self._tools_shown and self._tools_later is None:
            return
        every = (*tools, *(key for server in servers for key in server.tools))
        count = sum(key not in off and key not in closed for key in every)
        self.tools.show_words(words("chat.tools", count=count))
        restyle(self.tools, tone="warn" if asking else "")
        menu = self.tools.choices
        if menu.isVisible():
            # It stays open while tools are switched; its titles count them the next time.
            self._tools_later = partial(self.show_tools, tools, servers, off, closed)
            return
        self._tools_shown = shown
        self.tools.clear()
        if tools:
            own = {key: tool_name(key, words.texts) for key in tools}
            self._add_switches(words("chat.tools.own"), own, off, closed)
        for status in servers:
            name, state = exact(status.server.name), words(f"server.state.{status.state}")
            names = {key: tool_name(key, words.texts) for key in status.tools}
            inside = self._add_switches(name, names, off, closed, state)
            inside.addSeparator()
            inside.addAction(words("chat.server.settings"), lambda: self.settings_requested.emit("servers"))
        if menu.isEmpty():
            menu.addAction(words("chat.tools.none")).setEnabled(False)
        menu.addSeparator()
        menu.addActions(self._actions)
        self._fit_hint()

    def _show_tools_later(self) -> None:
        later, self._tools_later = self._tools_later, None
        if later is not None:
            later()

    def _show_asking(self, status: ServerStatus | None) -> None:
        """Say that an MCP server of the assistant may not run yet or needs a login, with a button for
        that.
        """
        # The question that was answered may still be in front.
        if status is None and self.window().focusWidget() is self._asking_allow:
            self.box.setFocus()
        words, login = self._language, status is not None and status.needs_login
        self._asking_name = status.server.name if status is not None else ""
        key = "chat.server.login" if login else "chat.server.asks"
        self._asking_text.setText(words(key, name=exact(self._asking_name)))
        self._asking_allow.setText(words("server.login" if login else "server.allow"))
        self._show_parts()

    def show_folder(self, name: str) -> None:
        """Say that a new session begins in a folder, with a button for none; "" for none."""
        if self._folder_leave.hasFocus() and not name:
            self.box.setFocus()
        self._folder_text.setText(self._language("folder.begins", name=" ".join(name.split())))
        self.folder.setVisible(bool(name))

    def show_chosen_folder(self, path: str, leave: str, *, new: bool) -> None:
        """Say in which folder of the user's the files are, "" for none, with a button that says `leave`
        if that is not empty.

        It can be chosen for a `new` session alone.
        """
        if self._chosen_leave.hasFocus() and not (path and leave):
            self.box.setFocus()
        self._chosen_path = path
        self.choose_folder.setVisible(new)
        self.name_files.setVisible(new and bool(path))
        self._chosen_text.setText(self._language("chosen_folder.shown", path=exact(path)))
        self._chosen_leave.setText(leave)
        self._chosen_leave.setVisible(bool(leave))
        self._show_parts()

    def _add_switches(
        self,
        title: str,
        names: Mapping[str, str],
        off: Collection[str],
        closed: Collection[str],
        state: str = "",
    ) -> QMenu:
        """Add a menu with a switch for each tool; its title says how many are on,
        or the server's `state` without any.
        """
        words, menu = self._language, self.tools.choices
        on = sum(key not in off and key not in closed for key in names)
        said = words("chat.tools.on", count=on, all=len(names)) if names else state
        inside = SwitchMenu(unmarked(words("chat.server", name=title, state=said)), menu)
        menu.addMenu(inside)
        switch = self.tool_switched.emit
        for key, name in names.items():
            usable = key not in closed
            shown = usable and key not in off
            entry = ticked(inside, unmarked(name), shown, lambda on, tool=key: switch(tool, on))
            entry.setEnabled(usable)
        return inside

    def show_limits(self, own: RunLimits | None, usual: RunLimits, near: str) -> None:
        """Say how far a run goes: its own limits, None for the usual ones; `near` says
        that it is almost there.
        """
        self.budget.show_limits(own, usual)
        self.budget.show_up_to(near)
        self._show_parts()

    def show_gauge(self, text: str, words: str, *, above: bool) -> None:
        """Say how long the chat is, in short and in `words`; `above` the limit the gauge is coloured."""
        self.gauge.show_words(text, plain_tip(words))
        self.gauge.setAccessibleName(words)
        restyle(self.gauge, tone="warn" if above else "")
        self._fit_hint()

    def show_done_means(self, count: int) -> None:
        """Say how many criteria the work has that is written about."""
        key = "criteria.menu.count" if count else "criteria.menu"
        self.done_means.setText(self._language(key, count=count))
        self.means.show_words(self.done_means.text())

    def pass_escape(self) -> None:
        """Let Escape emit `escaped` also while an answer is written."""
        self._escape_stops = False
        self._show_stop()

    def _show_stop(self) -> None:
        words, keys = self._language, "  (Esc)" if self._escape_stops and not self._in_group else ""
        self.stop.show_words(words("discussion.stop"), f"{words('chat.stop')}{keys}")

    def retranslate(self, placeholder: str, hint: str = "") -> None:
        """Show every text in the language in use; `hint` stands in place of how to send."""
        words = self._language
        self._priced = bool(hint)
        self.set_words(placeholder, hint or words("discussion.hint"), words("discussion.send"))
        self.box.setAccessibleDescription(hint)
        self._show_send()
        self._show_stop()
        self.stop.setAccessibleName(words("chat.stop"))
        self._fit_hint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_send()
        self._fit_hint()

    def _fit_hint(self) -> None:
        """Show the hint only if all of it fits; to a price the words of menus give way, then it is elided.

        The words of the limits give way to those of all others, and then the limits.
        """
        gap, room, budget = self.foot.spacing(), self.contentsRect().width() - MARGINS, self.budget
        wanted = budget.known and self._begins != DECIDE
        parts = [part for part in widgets_in(self.foot) if part is not self._hint]
        parts = [part for part in parts if (wanted if part is budget else not part.isHidden())]
        least, whole = budget.minimumSizeHint().width(), budget.sizeHint().width()
        wide = whole + sum(_width_of(part) for part in parts if part is not budget) + len(parts) * gap
        budget.setMaximumWidth(self.width() if wide <= room else least)
        budget.setVisible(wanted and wide - (0 if wide <= room else whole - least) <= room)
        parts = [part for part in parts if not part.isHidden()]
        menus = [part for part in parts if isinstance(part, MenuButton)]
        room -= sum(map(_width_of, parts)) + len(parts) * gap
        hint = self._hint.sizeHint().width()
        if self._priced:
            room += sum(menu.spare for menu in menus)
        shown = room >= (min(hint, LEAST_PRICE) if self._priced else hint)
        self._hint.setVisible(shown)
        gives_way = shown and self._priced
        self._hint.setMinimumWidth(min(hint, room) if gives_way else 0)
        for menu in menus:
            menu.setMinimumWidth(menu.sizeHint().width() - menu.spare if gives_way else 0)
        # What is painted next is where it stays.
        self.layout().activate()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self.message_box.canInsertFromMimeData(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        self.message_box.insertFromMimeData(event.mimeData())
        event.acceptProposedAction()

    def _lay_out(self) -> None:
        self.files.addWidget(self.readings, 1)
        for line in (self._editing, self.asking, self.chosen, self.folder):
            self.column.insertWidget(0, line)
        self.column.insertWidget(self.column.count() - 1, self._limit)
        self.column.insertWidget(self.column.count() - 1, self._waits)
        show_if(False, self._limit, self._waits)
        self._hint.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.foot.setContentsMargins(0, 0, 0, 0)
        # The hint is shown whole or not at all: it does not share the stretch before it.
        self.foot.setStretchFactor(self._hint, 0)
        choices = self.stops[:-2]
        for place, widget in enumerate(choices):
            self.foot.insertWidget(place, widget)
        # On a narrow page these shorten their text rather than stick out.
        for widget in choices[1:]:
            widget.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.group.hide()
        self.foot.insertStretch(len(choices), 1)
        self.foot.insertWidget(self.foot.count() - 1, self.stop)
        put_in_tab_order((self.box, *self.stops))

    def _connect(self) -> None:
        self.means.clicked.connect(self.done_means.trigger)
        self.permissions.triggered.connect(lambda: self.settings_requested.emit("permissions"))
        self.message_box.escaped.connect(lambda: None if self.escape() else self.escaped.emit())

    def _on_attach(self) -> None:
        """Ask for files, or first where from: `sources` returns the MCP servers that have something
        to attach.
        """
        servers, words = self.sources(), self._language
        if not servers:
            self.attach_requested.emit()
            return
        menu = controls.passing_menu(self, "attach_menu")
        menu.addAction(words("chat.attach_files"), self.attach_requested.emit)
        for server in servers:
            text = unmarked(words("chat.attach_from", name=exact(server)))
            menu.addAction(text, partial(self.attach_from_requested.emit, server))
        menu.popup(self.attach.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def escape(self) -> bool:
        """Close what is open, else stop the answer of a chat, never a run of several;
        return whether there was any.
        """
        if not self._editing.isHidden():
            self.edit_cancelled.emit()
        elif self.closes():
            pass
        elif self._busy and self._escape_stops and not self._in_group:
            self.stop_requested.emit()
        else:
            return False
        return True

    def _on_submitted(self) -> None:
        if self.readings and self.send.isEnabled():
            self.send_waited.emit()
        else:
            super()._on_submitted()

    def _on_text_changed(self) -> None:
        self._show_send()
        self._show_limit()
        self.text_changed.emit()

    def _show_send(self) -> None:
        something = self.box.text() or self.attachments() or self.readings
        self.send.setEnabled(bool(something) and not self._held and not self._lacks)
        send = self._language("discussion.send")
        name_button(self.send, self._lacks or send)
        shown = send if self._new and self.width() > WORDY else ""
        if self.send.text() != shown:
            self.send.setText(shown)
            wanted = self.send.fontMetrics().horizontalAdvance(shown)
            self.send.setFixedWidth(SEND + (wanted + 14 if shown else 0))

    def _show_limit(self) -> None:
        self._limit.setVisible(self._english_only and has_hangul(self.box.text()))


def short_name(name: str) -> str:
    """Return a name for a button: shortened, and with & escaped."""
    return unmarked(name[:LONGEST_NAME] + "…" * (len(name) > LONGEST_NAME))


def _width_of(part: QWidget) -> int:
    return max(part.minimumWidth(), min(part.sizeHint().width(), part.maximumWidth()))
