"""The tab Workflows: the list of workflows, and of the chosen one the graph, and a form for each step.

The graph has the steps in layers from top to bottom, with lines to those that depend on them.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QPointF, QRectF, QSignalBlocker, QSize, QStringListModel, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QCompleter, QFrame, QLineEdit, QSizePolicy, QWidget

from app.core.definitions import ROLES, Agent, Fault, WhenSkipped, WorkflowDefinition, WorkflowStep
from app.core.texts import visible
from app.gui.display.appearance import Language, Look, sized, tall
from app.gui.panels.workflow.step_list import behind, depths, in_order
from app.gui.widgets.boxes import STRETCH, empty, hbox, put_in_tab_order, vbox
from app.gui.widgets.choices import ChipList, ChipOption
from app.gui.widgets.controls import Choice, TextBox, TickBox, button, icon_button, scrolling
from app.gui.widgets.form import DefinitionEditor, Field, Form
from app.gui.widgets.item_list import ItemList, ListStyle, RowItem
from app.gui.widgets.text import Paragraph, name_button, named, plain_label, say, show_or_hide

MOST_ROWS = 6
STYLE = ListStyle(height=34)
Faults = Callable[[WorkflowDefinition], list[Fault]]


class DefinitionsView(DefinitionEditor[WorkflowDefinition]):
    """Lists workflows and edits one; `faults` says what keeps one from running,
    `agents` who could do its steps.

    Signals: new_requested(), bring_in_requested(), delete_requested(id), step_removed(definition as it was,
    step).
    """

    new_requested = Signal()
    delete_requested = Signal(str)
    bring_in_requested = Signal()
    step_removed = Signal(object, object)

    def __init__(
        self, language: Language, look: Look, faults: Faults, agents: Callable[[], Sequence[Agent]]
    ) -> None:
        super().__init__(language, "workflow_state")
        self._look, self._faults, self._agents = look, faults, agents
        self._definitions: dict[str, WorkflowDefinition] = {}
        self._built_in: frozenset[str] = frozenset()
        # The workflow shown as it was before each change, and before each that was undone, the last at the
        # end; as it is now, and the field of its last change: what is written in one field is one change.
        self._past: list[WorkflowDefinition] = []
        self._future: list[WorkflowDefinition] = []
        self._now: WorkflowDefinition | None = None
        self._field = ""
        self.list = say(ItemList(look, "workflow_definitions", STYLE), language, name="tab.definitions")
        self.list.setProperty("kind", "names")
        self.list.setFrameShape(QFrame.Shape.StyledPanel)
        self.new = say(button("", "workflow_new", self.new_requested), language, "workflow.new")
        self.new.dress(look, "plus", "text")
        duplicate, delete = self.asking(self.duplicate_requested), self.asking(self.delete_requested)
        self.duplicate = say(button("", "workflow_duplicate", duplicate), language, "assistant.duplicate")
        self.delete = say(button("plain", "workflow_delete", delete), language, "assistant.delete")
        share = icon_button(look, "share", "workflow_share", self.asking(self.share_requested))
        bring_in = icon_button(look, "download", "workflow_bring_in", self.bring_in_requested)
        self.share = say(share, language, tip="assistant.share")
        self.bring_in = say(bring_in, language, tip="assistant.bring_in")
        self._fixed = say(Paragraph("hint"), language, "workflow.fixed")
        self.graph = GraphView(language, look)
        self.name = self.named = named("workflow_name", QLineEdit(maxLength=MOST_NAME))
        self.keywords = named("workflow_keywords", QLineEdit())
        listed = Field("keywords", self.keywords, get=_joined, put=_parted, hint="workflow.keywords.hint")
        fields = Form(language, Field("name", self.name), listed, labels="workflow.field", spacing=8, gap=8)
        self._fields = fields.lay_out()
        self.error = named("workflow_error", plain_label("error", wrap=True))
        self.forms: list[StepForm] = []
        self._steps = vbox(spacing=8)
        self.add = say(button("", "workflow_add_step", self._on_add), language, "workflow.add_step")
        self.add.dress(look, "plus", "text")
        self._body = QWidget()
        self._lay_out()
        self.list.currentItemChanged.connect(lambda item, _before: self._on_row(item))
        self._fields.changed.connect(self._on_changed)
        language.follow(self._retranslate)

    def show_definitions(self, definitions: Sequence[WorkflowDefinition], built_in: frozenset[str]) -> None:
        """Show these definitions; the one being edited keeps its changes."""
        self._definitions, self._built_in = {workflow.id: workflow for workflow in definitions}, built_in
        for form in self.forms:
            form.offer_people(self._agents())
        self._check()
        wanted = self.definition_id if self.definition_id in self._definitions else ""
        with QSignalBlocker(self.list):
            self.list.show_rows([RowItem(id=item.id, title=self._title_of(item)) for item in definitions])
            self.list.setCurrentRow(self.list.rows.row_of(wanted))
            self.list.setFixedHeight(tall(STYLE.height) * min(MOST_ROWS, max(1, len(definitions))) + 12)
        if not wanted:
            self._choose_first()
        elif wanted and self._is_changed_elsewhere(self._definitions[wanted]):
            self.show_definition(wanted)

    def _title_of(self, definition: WorkflowDefinition) -> str:
        name = definition.name
        fixed = definition.id in self._built_in
        return visible(self._language("workflow.built_in", name=name) if fixed else name)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._choose_first()

    def _choose_first(self) -> None:
        """Show the first definition where none is; not before the tab is looked at,
        because its form is large.
        """
        begun = self._definition is not None or self.isVisible()
        if begun and self.definition_id not in self._definitions and self.list.count():
            self.list.setCurrentRow(0)

    def show_definition(self, definition_id: str) -> None:
        """Show a definition for editing, or read-only if it comes with the program."""
        self.save_now()
        self._definition = self._definitions[definition_id]
        self.state.start_over()
        with QSignalBlocker(self.list):
            self.list.choose(definition_id)
        self._past, self._future, self._field = [], [], ""
        self._fill(self._definition)
        self._retranslate()
        self._check()

    def _fill(self, definition: WorkflowDefinition) -> None:
        self._fields.fill(definition, fixed=self.definition_id in self._built_in)
        self._show_steps(definition.steps)
        self._now = self.definition()

    def undo(self, *, again: bool = False) -> bool:
        """Take back the last change of the workflow shown, or with `again` make the last that was taken
        back; return whether there was one.
        """
        there, other = (self._future, self._past) if again else (self._past, self._future)
        now = self.definition()
        # A field may have taken back what was written in it by itself.
        while there and now is not None and replace(there[-1], version=now.version) == now:
            there.pop()
        if not there or now is None:
            return False
        other.append(now)
        before, self._field = there.pop(), ""
        self._fill(before)
        self._show_change()
        steps = zip(self.forms, before.steps, now.steps, strict=False)
        changed = [form for form, one, another in steps if one != another] or self.forms[-1:]
        (changed[0].name if changed and before.steps != now.steps else self.name).setFocus()
        return True

    def show_stored(self, definition: WorkflowDefinition) -> None:
        self._definitions[definition.id] = definition
        self.show_definition(definition.id)

    def definition(self) -> WorkflowDefinition | None:
        """Return the definition as edited."""
        if self._definition is None:
            return None
        steps = tuple(form.step() for form in self.forms)
        return replace(self._definition, **self._fields.values(), steps=steps)

    def written(self) -> WorkflowDefinition | None:
        return self.definition() if self._check() else None

    def show_error(self, field: str, text: str) -> None:
        show_or_hide(self.error, text)

    def put_back(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        """Insert a removed step into a definition again, in its current state."""
        if before.id not in self._definitions:
            return
        if before.id != self.definition_id:
            self.show_definition(before.id)
        now = self.definition()
        assert now is not None
        if gone in now.steps:
            return  # Undo by the keyboard was faster.
        self._show_steps(with_step_again(now, before, gone).steps)
        self._on_changed()
        self.save_now()

    # Actions of the user

    def _on_row(self, item: RowItem | None) -> None:
        if item is not None and item.id != self.definition_id:
            self.show_definition(item.id)

    def _on_changed(self, field: str = "") -> None:
        if self._now is not None and (not field or field != self._field):
            self._past.append(self._now)
        self._future.clear()
        self._now, self._field = self.definition(), field
        self._show_change()

    def _show_change(self) -> None:
        self._offer_steps()
        self._check()
        self.state.touch()

    def _on_add(self) -> None:
        steps = [form.step() for form in self.forms]
        ids = {step.id for step in steps}
        number = next(n for n in range(1, len(ids) + 2) if f"step-{n}" not in ids)
        after = (steps[-1].id,) if steps else ()
        name = self._language("step.new", number=len(steps) + 1)
        role = steps[-1].role if steps else "PM"
        new = WorkflowStep(id=f"step-{number}", name=name, role=role, prompt="", depends_on=after)
        self._show_steps((*steps, new))
        self._on_changed()
        self.forms[-1].name.setFocus()
        self.forms[-1].name.selectAll()

    def _on_moved(self, place: int, step: int) -> None:
        steps = [form.step() for form in self.forms]
        other = place + step
        if 0 <= other < len(steps):
            steps[place], steps[other] = steps[other], steps[place]
            self._show_steps(steps)
            self._on_changed()
            tool = self.forms[other].up if step < 0 else self.forms[other].down
            (tool if tool.isEnabled() else self.forms[other].name).setFocus()

    def _on_removed(self, place: int) -> None:
        """Remove a step; the steps that depended on it now depend on its dependencies."""
        before = self.definition()
        steps = [form.step() for form in self.forms]
        gone = steps.pop(place)
        for number, step in enumerate(steps):
            if gone.id in step.depends_on:
                kept = [needed for needed in step.depends_on if needed != gone.id]
                after = tuple(dict.fromkeys((*kept, *(item for item in gone.depends_on if item != step.id))))
                steps[number] = replace(step, depends_on=after)
        self._show_steps(steps)
        self._on_changed()
        (self.forms[min(place, len(self.forms) - 1)].name if self.forms else self.add).setFocus()
        self.step_removed.emit(before, gone)

    # Display

    def _check(self) -> bool:
        """Show the faults beside their steps, and the graph; return whether the workflow is valid."""
        definition = self.definition()
        if definition is None:
            return False
        found = self._faults(definition)
        texts: dict[int, str] = {}
        general = "" if definition.name else self._language("assistant.error.name")
        for fault in found:
            text, detail = self._language(f"problem.{fault.code}"), self._named(fault, definition)
            text = f"{text} ({detail})" if detail else text
            if fault.place is None:
                general = general or text
            else:
                texts.setdefault(fault.place, text)
        for place, form in enumerate(self.forms):
            missing = "" if form.name.text().strip() else self._language("assistant.error.name")
            if missing:
                texts.setdefault(place, missing)
            show_or_hide(form.error, texts.get(place, ""))
        show_or_hide(self.error, general)
        self.graph.show_definition(definition, frozenset(texts))
        return not (texts or general)

    def _named(self, fault: Fault, definition: WorkflowDefinition) -> str:
        """Return a fault's detail with the names of the steps."""
        names = {step.id: step.name for step in definition.steps}
        return " → ".join(names.get(item, item) for item in fault.detail.split(" > "))

    def _show_steps(self, steps: Sequence[WorkflowStep]) -> None:
        empty(self._steps)
        self.forms = []
        fixed, agents = self.definition_id in self._built_in, self._agents()
        for place, step in enumerate(steps):
            form = StepForm(self._language, self._look, place)
            form.show_step(step, agents, len(steps), fixed=fixed)
            form.changed.connect(lambda name, at=place: self._on_changed(f"{at} {name}"))
            form.moved.connect(lambda move, at=place: self._on_moved(at, move))
            form.removed.connect(lambda at=place: self._on_removed(at))
            self._steps.addWidget(form)
            self.forms.append(form)
        self._offer_steps()
        self._put_in_order()

    def _offer_steps(self) -> None:
        """Offer to each step those that it can depend on: none behind it, as that would make a circle."""
        steps = tuple(form.step() for form in self.forms)
        for form, step in zip(self.forms, steps, strict=True):
            later = behind(steps, step.id)
            form.offer([item for item in steps if item.id not in later or item.id in step.depends_on])

    def _put_in_order(self) -> None:
        """Set the Tab order from top to bottom."""
        tools = (self.new, self.duplicate, self.delete, self.share, self.bring_in)
        stops: list[QWidget] = [self.list, *tools, self.name, self.keywords]
        for form in self.forms:
            stops += [form.name, form.role, form.up, form.down, form.remove, form.prompt]
            stops += [form.assistant, form.means, form.gate, *form.after.stops, form.skipped]
        put_in_tab_order([*stops, self.add])

    def _lay_out(self) -> None:
        steps = say(plain_label("field"), self._language, "workflow.field.steps")
        tools = hbox(self.new, self.duplicate, self.delete, STRETCH, self.share, self.bring_in, spacing=6)
        shown = (self._fixed, 4, self.graph, self._fields, self.error)
        below = (hbox((steps, 1), self.state), self._steps, hbox(self.add, STRETCH), STRETCH)
        vbox(self.list, tools, *shown, *below, inside=self._body, margins=(18, 14, 14, 18), spacing=8)
        vbox(scrolling(self._body), inside=self)

    def _retranslate(self) -> None:
        fixed = self.definition_id in self._built_in
        self.share.setEnabled(bool(self.definition_id))
        self._fixed.setVisible(fixed)
        self.delete.setVisible(bool(self.definition_id) and not fixed)
        self.add.setVisible(not fixed)
        self._check()


def _joined(definition: WorkflowDefinition) -> str:
    return ", ".join(definition.keywords)


def _parted(text: str) -> dict[str, tuple[str, ...]]:
    words = (word.strip() for word in text.split(","))
    return {"keywords": tuple(dict.fromkeys(word for word in words if word))}


def with_step_again(
    now: WorkflowDefinition, before: WorkflowDefinition, gone: WorkflowStep
) -> WorkflowDefinition:
    """Return a definition with a removed step inserted again, and the dependencies on it restored.

    Later changes stay, unless another step has the id by now: then all steps are those from before.
    """
    if any(step.id == gone.id for step in now.steps):
        return replace(now, steps=before.steps)
    ids = {step.id for step in now.steps} | {gone.id}
    then = {step.id: step.depends_on for step in before.steps if gone.id in step.depends_on}
    after = {step_id: tuple(item for item in needed if item in ids) for step_id, needed in then.items()}
    steps = [replace(step, depends_on=after.get(step.id, step.depends_on)) for step in now.steps]
    place = next(place for place, step in enumerate(before.steps) if step.id == gone.id)
    gone = replace(gone, depends_on=tuple(needed for needed in gone.depends_on if needed in ids))
    return replace(now, steps=(*steps[:place], gone, *steps[place:]))


MOST_NAME = 60


class StepForm(Form):
    """Shows a step for editing; also emits moved(step) and removed()."""

    moved = Signal(int)
    removed = Signal()

    def __init__(self, language: Language, look: Look, place: int) -> None:
        self._step = WorkflowStep(id="", name="", role="", prompt="")
        self._place = place
        self.name = named(f"step_name_{place}", QLineEdit(maxLength=MOST_NAME))
        self.role = named(f"step_role_{place}", QLineEdit(maxLength=MOST_NAME))
        self._known = QStringListModel(self.role)
        self._roles = QCompleter(self._known, self.role)
        self._roles.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.role.setCompleter(self._roles)
        chevron = look.icon("chevron-down", "text_2", side=14)
        self._pick = self.role.addAction(chevron, QLineEdit.ActionPosition.TrailingPosition)
        self._pick.triggered.connect(self._offer_roles)
        self.assistant = named(f"step_assistant_{place}", Choice(look))
        self.means = named(f"step_means_{place}", TextBox(lines=1, most=6, submits=False))
        self.gate = named(f"step_gate_{place}", TickBox(look))
        self.prompt = named(f"step_prompt_{place}", TextBox(lines=2, most=8, submits=False))
        self.after = ChipList(language, look, f"step_after_{place}")
        self.skipped = named(f"step_skipped_{place}", Choice(look))
        self.up = icon_button(look, "chevron-up", f"step_up_{place}", lambda: self.moved.emit(-1))
        self.down = icon_button(look, "chevron-down", f"step_down_{place}", lambda: self.moved.emit(1))
        self.remove = icon_button(look, "x", f"step_remove_{place}", lambda: self.removed.emit())
        self._tools = (self.up, self.down, self.remove)
        for tool in self._tools:
            tool.setFixedSize(24, 26)
        self.error = named(f"step_error_{place}", plain_label("error", wrap=True))
        self.error.hide()
        skips = (WhenSkipped.SATISFIES, WhenSkipped.BLOCKS)
        head = hbox((self.name, 3), (self.role, 2), *self._tools, spacing=6)
        after = hbox(say(plain_label("hint"), language, "step.after"), (self.after, 1), spacing=8)
        inner = (
            Field("name", self.name, hint="step.field.name"),
            Field("role", self.role, hint="step.field.role"),
            Field("assistant", self.assistant),
            Field("prompt", self.prompt, hint="step.field.prompt"),
            Field("done_means", self.means, get=_means_text, put=_means_of, hint="step.field.means"),
            Field("gate", self.gate, text="step.field.gate"),
            Field("depends_on", self.after, label="step.after", hint="step.after.none"),
            Field("when_skipped", self.skipped, options=[(skip, f"step.skip.{skip}") for skip in skips]),
        )
        parts = (head, self.assistant, self.prompt, self.means, self.gate, after, self.skipped, self.error)
        super().__init__(language, *parts, inner=inner, spacing=7)
        self.setProperty("kind", "card")
        self.lay_out().layout().setContentsMargins(10, 9, 10, 9)

    def show_step(self, step: WorkflowStep, agents: Sequence[Agent], count: int, *, fixed: bool) -> None:
        """Show a step out of `count`; `agents` are those that can do it, `fixed` makes it read-only."""
        self._step = step
        self.offer_people(agents)
        self._pick.setVisible(not fixed)
        self.fill(step, fixed=fixed)
        self.up.setEnabled(self._place > 0)
        self.down.setEnabled(self._place < count - 1)
        for tool in self._tools:
            tool.setVisible(not fixed)

    def offer(self, others: Sequence[WorkflowStep]) -> None:
        """Set the steps it can depend on."""
        self.after.set_offers([ChipOption(other.id, other.name or other.id) for other in others])

    def offer_people(self, agents: Sequence[Agent]) -> None:
        """Set who can do it, and the roles that are known."""
        known = [role.upper() if len(role) < 3 else role.capitalize() for role in ROLES]
        known += [agent.role for agent in agents if agent.role]
        self._known.setStringList([*dict.fromkeys(known)])
        # The file may name somebody by id or name, and stays as it is.
        now = str(self.assistant.currentData() or self._step.assistant)
        who = {now if now in (agent.id, agent.name) else agent.id: visible(agent.name) for agent in agents}
        none = self._language("step.assistant.none")
        self.assistant.offer(({"": none, now: now or none} | who).items())

    def _offer_roles(self) -> None:
        self._roles.setCompletionPrefix("")
        self._roles.complete()

    def step(self) -> WorkflowStep:
        """Return the step as edited."""
        return replace(self._step, **self.values())

    def _retranslate(self) -> None:
        super()._retranslate()
        words, number = self._language, self._place + 1
        controls = self.name, self.role, self.assistant, self.prompt, self.means, self.gate, self.skipped
        names = "name", "role", "assistant", "prompt", "means", "gate", "skipped"
        self.assistant.setItemText(0, words("step.assistant.none"))
        self._pick.setToolTip(words("step.roles"))
        for control, name in zip(controls, names, strict=True):
            field = words(f"step.field.{name}")
            control.setAccessibleName(words("step.of", number=number, field=field))
        for tool, key in ((self.up, "queue.up"), (self.down, "queue.down"), (self.remove, "step.remove")):
            name_button(tool, words("step.of", number=number, field=words(key)))


def _means_text(step: WorkflowStep) -> str:
    return "\n".join(step.done_means)


def _means_of(text: str) -> dict[str, tuple[str, ...]]:
    return {"done_means": tuple(filter(None, (line.strip() for line in text.splitlines())))}


BOX = 28
GAP = 26
BETWEEN = 10
WIDEST = 150


class GraphView(QWidget):
    """Paints the steps of a definition and their dependencies; faulty steps in the error colour."""

    def __init__(self, language: Language, look: Look) -> None:
        super().__init__()
        self.setObjectName("workflow_graph")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._language, self._look = language, look
        self._definition = WorkflowDefinition(id="", name="")
        self._wrong: frozenset[int] = frozenset()
        self._layers: list[list[int]] = []
        look.changed.connect(self.update)
        language.changed.connect(self._name)

    def show_definition(self, definition: WorkflowDefinition, wrong: frozenset[int]) -> None:
        """Show a definition; `wrong` are the indexes of faulty steps."""
        self._definition, self._wrong = definition, wrong
        depth = depths(definition)
        places = {step.id: place for place, step in enumerate(definition.steps)}
        layers: dict[int, list[int]] = {}
        for step in in_order(definition, depth):
            layers.setdefault(depth[step.id], []).append(places[step.id])
        self._layers = [layers[key] for key in sorted(layers)]
        self._name()
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        count = len(self._layers)
        return QSize(240, max(0, count * tall(BOX) + max(0, count - 1) * GAP + 4))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    def boxes(self) -> dict[int, QRectF]:
        """Return the rectangle of each step's box by its index."""
        found = {}
        for row, layer in enumerate(self._layers):
            width = min(WIDEST, (self.width() - 2 - BETWEEN * (len(layer) - 1)) / len(layer))
            left = (self.width() - width * len(layer) - BETWEEN * (len(layer) - 1)) / 2
            for column, place in enumerate(layer):
                x = left + column * (width + BETWEEN)
                found[place] = QRectF(x, row * (tall(BOX) + GAP) + 1.5, max(8.0, width), tall(BOX))
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, tokens, boxes = QPainter(self), self._look.tokens, self.boxes()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        places = {step.id: place for place, step in enumerate(self._definition.steps)}
        painter.setPen(QPen(QColor(tokens.text_3), 1.3))
        for place, step in enumerate(self._definition.steps):
            for needed in step.depends_on:
                start, end = boxes.get(places.get(needed, -1)), boxes.get(place)
                if start is not None and end is not None:
                    self._paint_edge(painter, start, end)
        painter.setFont(sized(self.font(), 12, 500))
        for place, box in boxes.items():
            step = self._definition.steps[place]
            wrong = place in self._wrong
            painter.setPen(QPen(QColor(tokens.error if wrong else tokens.line_strong), 1))
            painter.setBrush(QColor(tokens.error_bg if wrong else tokens.surface))
            painter.drawRoundedRect(box, 7, 7)
            painter.setPen(QColor(tokens.error if wrong else tokens.text))
            name, room = visible(step.name), int(box.width()) - 12
            text = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideRight, room)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_edge(self, painter: QPainter, start: QRectF, end: QRectF) -> None:
        """Paint a line with an arrow head from the bottom of a box to the top of another."""
        first = QPointF(start.center().x(), start.bottom())
        last = QPointF(end.center().x(), end.top() - 1)
        path = QPainterPath(first)
        middle = (first.y() + last.y()) / 2
        path.cubicTo(QPointF(first.x(), middle), QPointF(last.x(), middle), last)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        painter.drawPolyline([last + QPointF(-3.5, -4.5), last, last + QPointF(3.5, -4.5)])

    def _name(self) -> None:
        """Set the accessible name and description to the graph in words."""
        words, lines = self._language, list[str]()
        names = {step.id: step.name for step in self._definition.steps}
        for step in self._definition.steps:
            after = ", ".join(names.get(needed, needed) for needed in step.depends_on)
            lines.append(words("workflow.graph.line", name=step.name, after=after) if after else step.name)
        self.setAccessibleName(self._language("workflow.graph"))
        self.setAccessibleDescription("; ".join(lines))
