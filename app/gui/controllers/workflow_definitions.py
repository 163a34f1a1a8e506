"""Definitions of workflows: connects their view in the workflow panel to the engine."""

from app.core.ids import new_id
from app.core.workflow import WorkflowDefinition, WorkflowStep
from app.engine.engine import Engine
from app.gui.bridge import Bridge
from app.gui.controllers.definitions import DefinitionCommands, DefinitionTexts, SharedKinds
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.window_frame import WindowFrame

TEXTS = DefinitionTexts(new="workflow.new", bring_in="assistant.bring_in")


class WorkflowCommands(DefinitionCommands[WorkflowDefinition]):
    """Makes, edits, copies, shares and deletes definitions of workflows."""

    def __init__(
        self,
        window: WindowFrame,
        engine: Engine,
        bridge: Bridge,
        view: DefinitionsView,
        shared: SharedKinds,
    ) -> None:
        super().__init__(window, engine, bridge, engine.workflows, TEXTS, shared)
        self._view = view
        shared.add("steps", self)
        self.adopt(view)
        view.new_requested.connect(self.make_new)
        view.duplicate_requested.connect(self.duplicate)
        view.bring_in_requested.connect(self.bring_in)
        view.delete_requested.connect(self.delete)
        view.step_removed.connect(self._on_step_removed)

    def refresh(self) -> None:
        """Show the definitions as they are now."""
        self._view.show_definitions(self.definitions.all(), self.built_in())

    def show_page(self, definition_id: str) -> None:
        """Show a definition in the panel."""
        self._view.show_definition(definition_id)

    def _made(self, name: str) -> WorkflowDefinition:
        step = WorkflowStep(id="step-1", name=self._language("step.new", number=1), role="PM", prompt="")
        return WorkflowDefinition(id=new_id(), name=name, steps=(step,))

    def _name_it(self) -> None:
        self._view.name_it()

    def _on_step_removed(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        self._offer_undo(
            self._language("step.removed", name=gone.name),
            lambda: self._tasks.start(f"put back {gone.id}", self._put_back(before, gone)),
        )

    async def _put_back(self, before: WorkflowDefinition, gone: WorkflowStep) -> None:
        await self.settle()
        self.refresh()
        self._view.put_back(before, gone)
