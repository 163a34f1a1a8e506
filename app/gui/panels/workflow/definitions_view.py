"""The tab Workflows: the list of workflows, and the form and graph of the chosen one."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from app.core.text import visible
from app.core.workflow import Fault, WorkflowDefinition, WorkflowStep
from app.gui.display.appearance import Language, Look, tall
from app.gui.panels.workflow.graph_view import GraphView
from app.gui.panels.workflow.step_form import MOST_NAME, StepForm
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button, icon_button, put_in_tab_order, scrolling
from app.gui.widgets.definition_editor import DefinitionEditor
from app.gui.widgets.text import Paragraph, named, plain_label, say, show_or_hide

MOST_ROWS = 6
ROW = 34
ID = Qt.ItemDataRole.UserRole


class DefinitionsView(DefinitionEditor[WorkflowDefinition]):
    """Lists workflows and edits one; `faults` says what keeps one from running.

    Signals: new_requested(), bring_in_requested(), delete_requested(id), step_removed(definition as it was, step).
    """

    new_requested = Signal()
    delete_requested = Signal(str)
    bring_in_requested = Signal()
    step_removed = Signal(object, object)

    def __init__(
        self, language: Language, look: Look, faults: Callable[[WorkflowDefinition], list[Fault]]
    ) -> None:
        super().__init__(language, "workflow_state")
        self._look = look
        self._faults = faults
        self._definitions: dict[str, WorkflowDefinition] = {}
        self._built_in: frozenset[str] = frozenset()
        self.list = say(named("workflow_definitions", QListWidget()), language, name="tab.definitions")
        self.list.setProperty("kind", "names")
        self.new = say(button("", "workflow_new", self.new_requested), language, "workflow.new")
        self.new.dress(look, "plus", "text")
        self.duplicate = say(
            button("", "workflow_duplicate", lambda: self.duplicate_requested.emit(self.definition_id)),
            language,
            "assistant.duplicate",
        )
        self.delete = say(
            button("plain", "workflow_delete", lambda: self.delete_requested.emit(self.definition_id)),
            language,
            "assistant.delete",
        )
        self.share = say(
            icon_button(
                look, "share", "workflow_share", lambda: self.share_requested.emit(self.definition_id)
            ),
            language,
            tip="assistant.share",
        )
        self.bring_in = say(
            icon_button(look, "download", "workflow_bring_in", self.bring_in_requested),
            language,
            tip="assistant.bring_in",
        )
        self._fixed = say(Paragraph("hint"), language, "workflow.fixed")
        self.graph = GraphView(language, look)
        self._labels = {key: plain_label("field") for key in ("name", "keywords", "steps")}
        self.name = say(named("workflow_name", QLineEdit()), language, name="workflow.field.name")
        self.name.setMaxLength(MOST_NAME)
        self.named = self.name
        self.keywords = say(
            named("workflow_keywords", QLineEdit()),
            language,
            name="workflow.field.keywords",
            hint="workflow.keywords.hint",
        )
        self.error = named("workflow_error", plain_label("error", wrap=True))
        self.forms: list[StepForm] = []
        self._steps = vbox(spacing=8)
        self.add = say(button("", "workflow_add_step", self._on_add), language, "workflow.add_step")
        self.add.dress(look, "plus", "text")
        self._body = QWidget()
        self._lay_out()
        self.list.currentItemChanged.connect(lambda item, _before: self._on_row(item))
        for line in (self.name, self.keywords):
            line.textEdited.connect(lambda _text: self._on_changed())
        language.changed.connect(self._retranslate)
        self._retranslate()

    def show_definitions(self, definitions: Sequence[WorkflowDefinition], built_in: frozenset[str]) -> None:
        """Show these definitions; the one being edited keeps its changes."""
        self._definitions, self._built_in = {one.id: one for one in definitions}, built_in
        wanted = self.definition_id if self.definition_id in self._definitions else ""
        with QSignalBlocker(self.list):
            self.list.clear()
            for one in definitions:
                mark = one.id in built_in
                text = self._language("workflow.built_in", name=one.name) if mark else one.name
                item = QListWidgetItem(visible(text))
                item.setData(ID, one.id)
                self.list.addItem(item)
                if one.id == wanted:
                    self.list.setCurrentItem(item)
            self.list.setFixedHeight(tall(ROW) * min(MOST_ROWS, max(1, self.list.count())) + 12)
        if not wanted:
            self._choose_first()
        elif wanted and self._is_changed_elsewhere(self._definitions[wanted]):
            self.show_definition(wanted)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._choose_first()

    def _choose_first(self) -> None:
        """Show the first definition where none is; not before the tab is looked at, because its form is large."""
        begun = self._definition is not None or self.isVisible()
        if begun and self.definition_id not in self._definitions and self.list.count():
            self.list.setCurrentRow(0)

    def show_definition(self, definition_id: str) -> None:
        """Show a definition for editing, or read-only if it comes with the program."""
        self.save_now()
        self._definition = self._definitions[definition_id]
        self.state.start_over()
        for row in range(self.list.count()):
            if self.list.item(row).data(ID) == definition_id and self.list.currentRow() != row:
                with QSignalBlocker(self.list):
                    self.list.setCurrentRow(row)
        self.name.setText(self._definition.name)
        self.keywords.setText(", ".join(self._definition.keywords))
        # Show the first of many keywords, not the last.
        self.keywords.setCursorPosition(0)
        self._show_steps(self._definition.steps)
        self._retranslate()
        self._check()

    def show_stored(self, definition: WorkflowDefinition) -> None:
        self._definitions[definition.id] = definition
        self.show_definition(definition.id)

    def definition(self) -> WorkflowDefinition | None:
        """Return the definition as edited."""
        if self._definition is None:
            return None
        words = (one.strip() for one in self.keywords.text().split(","))
        return replace(
            self._definition,
            name=self.name.text().strip(),
            keywords=tuple(dict.fromkeys(one for one in words if one)),
            steps=tuple(form.step() for form in self.forms),
        )

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
        self._show_steps(with_step_again(now, before, gone).steps)
        self._on_changed()
        self.save_now()

    # Actions of the user

    def _on_row(self, item: QListWidgetItem | None) -> None:
        if item is not None and item.data(ID) != self.definition_id:
            self.show_definition(item.data(ID))

    def _on_changed(self) -> None:
        steps = [form.step() for form in self.forms]
        for place, form in enumerate(self.forms):
            form.offer([*steps[:place], *steps[place + 1 :]])
        self._check()
        self.state.touch()

    def _on_add(self) -> None:
        steps = [form.step() for form in self.forms]
        ids = {one.id for one in steps}
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
                kept = [one for one in step.depends_on if one != gone.id]
                after = tuple(dict.fromkeys((*kept, *(one for one in gone.depends_on if one != step.id))))
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
            form.show_error(texts.get(place, ""))
        show_or_hide(self.error, general)
        self.graph.show_definition(definition, frozenset(texts))
        return not (texts or general)

    def _named(self, fault: Fault, definition: WorkflowDefinition) -> str:
        """Return a fault's detail with the names of the steps."""
        names = {step.id: step.name for step in definition.steps}
        return " → ".join(names.get(one, one) for one in fault.detail.split(" > "))

    def _show_steps(self, steps: Sequence[WorkflowStep]) -> None:
        for form in self.forms:
            self._steps.removeWidget(form)
            form.hide()
            form.deleteLater()
        self.forms = []
        fixed = self.definition_id in self._built_in
        for place, step in enumerate(steps):
            form = StepForm(self._language, self._look, place)
            form.show_step(step, [one for one in steps if one is not step], len(steps), fixed=fixed)
            form.changed.connect(self._on_changed)
            form.moved.connect(lambda move, at=place: self._on_moved(at, move))
            form.removed.connect(lambda at=place: self._on_removed(at))
            self._steps.addWidget(form)
            self.forms.append(form)
        self._put_in_order()

    def _put_in_order(self) -> None:
        """Set the Tab order from top to bottom."""
        tools = (self.new, self.duplicate, self.delete, self.share, self.bring_in)
        stops: list[QWidget] = [self.list, *tools, self.name, self.keywords]
        for form in self.forms:
            stops += [form.name, form.role, form.up, form.down, form.remove, form.prompt]
            stops += [*form.after.stops, form.skipped]
        put_in_tab_order([*stops, self.add])

    def _lay_out(self) -> None:
        column = vbox(
            self.list,
            hbox(self.new, self.duplicate, self.delete, STRETCH, self.share, self.bring_in, spacing=6),
            self._fixed,
            4,
            self.graph,
            inside=self._body,
            margins=(18, 14, 14, 18),
            spacing=8,
        )
        for key, line in (("name", self.name), ("keywords", self.keywords)):
            column.addWidget(self._labels[key])
            column.addWidget(line)
            self._labels[key].setBuddy(line)
        column.addWidget(self.error)
        head = hbox((self._labels["steps"], 1), self.state)
        column.addLayout(head)
        column.addLayout(self._steps)
        foot = hbox(self.add, STRETCH)
        column.addLayout(foot)
        column.addStretch(1)
        vbox(scrolling(self._body), inside=self)

    def _retranslate(self) -> None:
        words = self._language
        fixed = self.definition_id in self._built_in
        for key, label in self._labels.items():
            label.setText(words(f"workflow.field.{key}"))
        self.share.setEnabled(bool(self.definition_id))
        self._fixed.setVisible(fixed)
        self.delete.setVisible(bool(self.definition_id) and not fixed)
        self.add.setVisible(not fixed)
        for line in (self.name, self.keywords):
            line.setReadOnly(fixed)
        for form in self.forms:
            form.retranslate()
        self._check()


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
    steps = [
        replace(step, depends_on=tuple(one for one in then[step.id] if one in ids))
        if step.id in then
        else step
        for step in now.steps
    ]
    place = next(place for place, step in enumerate(before.steps) if step.id == gone.id)
    gone = replace(gone, depends_on=tuple(one for one in gone.depends_on if one in ids))
    return replace(now, steps=(*steps[:place], gone, *steps[place:]))
