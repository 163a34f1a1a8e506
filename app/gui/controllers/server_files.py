"""Resources of MCP servers as attachments: lists them, reads what a result refers to, fills in what an address leaves open, and reads them."""

from collections.abc import Callable, Sequence

from app.core.message import Attachment
from app.core.saved_prompt import SavedPrompt
from app.core.text import visible
from app.core.tool import ServerResource
from app.gui.controllers.controller import PageController, Parts
from app.gui.dialogs.ask_dialogs import ConfirmDialog
from app.gui.dialogs.prompt_dialogs import VariablesDialog
from app.gui.dialogs.selection_dialogs import ResourcesDialog
from app.gui.window_frame import AppWindow

Put = Callable[[Sequence[Attachment]], None]


class ServerFilesController(PageController):
    """Answers *Attach from NAME…*; `aim` returns what adds attachments to the draft that is in front now."""

    def __init__(self, parts: Parts[AppWindow], aim: Callable[[], Put]) -> None:
        super().__init__(parts)
        self._aim = aim

    def names(self) -> Sequence[str]:
        """Return the servers that have something to attach."""
        return self._engine.servers.with_resources()

    def ask(self, server: str) -> None:
        """List what a server has, and attach what the user chooses."""
        self._start(self._list(server, self._aim()))

    def offer(self, server: str, uri: str) -> None:
        """Ask whether what a result of a server refers to is read through that server, and attach it after a yes."""
        words = self._language
        dialog = ConfirmDialog(
            words,
            words("resources.read.title", name=visible(server)),
            words("resources.read.text", uri=visible(uri)),
            words("resources.attach"),
            self._window,
        )
        put = self._aim()
        dialog.accepted.connect(lambda: self._start(self._read(server, uri, put)))
        dialog.open()

    async def _list(self, server: str, put: Put) -> None:
        resources = await self._engine.servers.resources(server)
        dialog = ResourcesDialog(self._language, self._look, server, resources, self._window)
        dialog.chosen.connect(lambda chosen: self._take(server, chosen, put))
        dialog.open()

    def _take(self, server: str, chosen: Sequence[ServerResource], put: Put) -> None:
        """Read resources; what an address leaves open is asked for."""
        for one in chosen:
            blanks = SavedPrompt(id="", name=one.name, text=one.uri)
            if not blanks.variables:
                self._start(self._read(server, one.uri, put))
                continue
            dialog = VariablesDialog(self._language, blanks, self._window)
            dialog.given.connect(
                lambda values, blanks=blanks: self._start(self._read(server, blanks.filled(values), put))
            )
            dialog.open()

    async def _read(self, server: str, uri: str, put: Put) -> None:
        put(await self._engine.servers.read_resource(server, uri))
