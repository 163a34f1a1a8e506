"""The workflow's panel: Work and Definitions as tabs (rows W3 to W7)."""

from collections.abc import Callable

from app.core.workflow import Fault, WorkflowDefinition
from app.gui.display.i18n import Language
from app.gui.display.style import Look
from app.gui.panels.right_panel import RightPanel
from app.gui.panels.workflow.definitions_view import DefinitionsView
from app.gui.panels.workflow.work_view import WorkView

WORK, DEFINITIONS = 0, 1


class WorkflowPanel(RightPanel):
    """What runs in steps, and what it is defined by; `faults` says what keeps a definition from running."""

    def __init__(
        self, language: Language, look: Look, faults: Callable[[WorkflowDefinition], list[Fault]]
    ) -> None:
        work, definitions = WorkView(language, look), DefinitionsView(language, look, faults)
        super().__init__(
            language,
            look,
            ("work", "definitions"),
            (work, definitions),
            "workflow_tabs",
            words="panel.tabs.workflow",
            command="workflow",
        )
        self.work, self.definitions = work, definitions

    def take_focus(self) -> None:
        """Go to where work begins."""
        self.tabs.choose(WORK)
        self.work.start_box.box.setFocus()
