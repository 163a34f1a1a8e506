"""What a user may do with the definitions of workflows: the panel's Definitions wired to the engine.

Made by the workflows' desk.
"""

from PySide6.QtCore import QObject

from app.core.errors import MootError
from app.core.ids import new_id
from app.core.workflow import WorkflowDefinition, WorkflowStep
from app.engine.engine import Engine
from app.gui.controllers.save_queue import SaveQueue
from app.gui.files.shared_files import free_name
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.tasks import Tasks
from app.gui.window_frame import WindowFrame


class DefinitionCommands(QObject):
    """Turns requests about definitions into tasks on the engine."""

    def __init__(self, window: WindowFrame, engine: Engine, view: DefinitionsView) -> None:
        super().__init__(window)
        self._language, self._toasts = window.language, window.toasts
        self._workflows = engine.workflows
        self._view = view
        self._tasks = Tasks(self._on_task_failed)
        self._saves = SaveQueue(self._tasks, self._workflows.save, view.show_saved, self._on_save_failed)
        view.save_requested.connect(self._saves.add)
        view.new_requested.connect(lambda: self._tasks.start("new workflow", self._make_new()))
        view.duplicate_requested.connect(
            lambda one: self._tasks.start(f"duplicate {one}", self._duplicate(one))
        )
        view.step_removed.connect(self._on_step_removed)
        view.delete_requested.connect(lambda one: self._tasks.start(f"delete {one}", self._delete(one)))

    async def close(self) -> None:
        """Save what is being written, and end what runs."""
        await self._settle()
        await self._tasks.close()

    def refresh(self) -> None:
        """Show the definitions as they are now."""
        found = self._workflows.all()
        built_in = frozenset(one.id for one in found if self._workflows.is_built_in(one.id))
        self._view.show_definitions(found, built_in)

    async def _settle(self) -> None:
        self._view.save_now()
        await self._saves.empty()

    async def _make_new(self) -> None:
        words = self._language
        step = WorkflowStep(id="step-1", name=words("step.new", number=1), role="PM", prompt="")
        await self._keep(
            WorkflowDefinition(id=new_id(), name=self._name(words("workflow.new")), steps=(step,))
        )

    async def _duplicate(self, definition_id: str) -> None:
        await self._settle()
        found = self._workflows.find(definition_id)
        name = self._name(self._language("assistant.copy_of", name=found.name))
        # The words stay with the one they came from: of two with the same neither would be recognised.
        copy = WorkflowDefinition(id=new_id(), name=name, steps=found.steps)
        await self._keep(copy)

    async def _keep(self, definition: WorkflowDefinition) -> None:
        """Save one that is new and show it, its name ready to be written."""
        await self._settle()
        saved = await self._workflows.save(definition)
        self.refresh()
        self._view.show_definition(saved.id)
        self._view.name.setFocus()
        self._view.name.selectAll()

    async def _delete(self, definition_id: str) -> None:
        # What is still being written would bring it back.
        await self._settle()
        definition = self._workflows.find(definition_id)
        await self._workflows.delete(definition_id)
        self._toasts.show_toast(
            self._language("assistant.deleted", name=definition.name),
            self._language("toast.undo"),
            lambda: self._tasks.start(f"restore {definition_id}", self._workflows.restore(definition)),
        )

    def _on_step_removed(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        self._toasts.show_toast(
            self._language("step.removed", name=gone.name),
            self._language("toast.undo"),
            lambda: self._tasks.start(f"put back {gone.id}", self._put_back(before, gone)),
        )

    async def _put_back(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        await self._settle()
        self.refresh()
        self._view.put_back(before, gone)

    def _name(self, wanted: str) -> str:
        return free_name(wanted, {one.name for one in self._workflows.all()})

    def _on_save_failed(self, definition_id: str, error: MootError) -> None:
        self._view.show_failure(definition_id, self._language.problem(error.code, **error.details))

    def _on_task_failed(self, _name: str, error: MootError) -> None:
        self._toasts.show_toast(self._language.problem(error.code, **error.details))
