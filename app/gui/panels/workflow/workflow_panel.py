"""The workflow's panel: Work and Definitions as tabs (rows W3 to W7)."""

from app.gui.i18n import Language
from app.gui.panels.right_panel import RightPanel
from app.gui.panels.workflow.work_view import WorkView
from app.gui.style import Look

WORK = 0


class WorkflowPanel(RightPanel):
    """What runs in steps, and what it is defined by."""

    def __init__(self, language: Language, look: Look) -> None:
        work = WorkView(language, look)
        super().__init__(
            language,
            look,
            ("work",),
            (work,),
            "workflow_tabs",
            words="panel.tabs.workflow",
            shortcut="Ctrl+E",
        )
        self.work = work

    def take_focus(self) -> None:
        """Go to where work begins."""
        self.tabs.choose(WORK)
        self.work.start_box.box.setFocus()
