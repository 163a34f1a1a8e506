"""Settings of what runs without a question: the permissions given for good or for a session, each with Revoke."""

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from app.core.events import Event, ServersChanged, SessionChanged, SessionDeleted, SessionRestored
from app.core.text import exact
from app.engine.engine import Engine
from app.engine.permissions import Permission
from app.gui.display.appearance import Language, Look
from app.gui.display.descriptions import tool_name
from app.gui.pages.settings.lists import TwoLineList
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, Stretch, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named, plain_label, say

CHANGES = (ServersChanged, SessionChanged, SessionDeleted, SessionRestored)


class PermissionsPage(QWidget):
    """Lists the permissions; follows those that are given or revoked while it is shown."""

    def __init__(self, language: Language, look: Look, engine: Engine, tasks: Tasks) -> None:
        super().__init__()
        self._language = language
        self._engine = engine
        self._tasks = tasks
        self._shown: dict[str, Permission] = {}
        self._unsubscribe = engine.bus.subscribe(self._on_events)
        self.list = say(TwoLineList(look, "settings_permissions"), language, name="settings.permissions")
        self._text = say(Paragraph("card_text"), language, "permissions.text")
        self._none = say(named("permissions_none", plain_label("hint")), language, "permissions.none")
        self._revoke = say(button("", "permissions_revoke", self._on_revoke), language, "permissions.revoke")
        vbox(
            self._text,
            self._none,
            (self.list, 1),
            Stretch(0),
            hbox(STRETCH, self._revoke),
            inside=self,
            margins=(22, 14, 22, 14),
            spacing=10,
        )
        language.changed.connect(self.refresh)
        self.refresh()

    def leave(self) -> None:
        """Stop listening to events: the dialog is closing."""
        self._unsubscribe()
        self._unsubscribe = lambda: None

    def refresh(self) -> None:
        """Read the permissions again."""
        found = self._engine.permissions.all()
        self._shown = {f"{one.session_id}/{one.server}/{'/'.join(one.keys)}": one for one in found}
        self.list.show_rows([(key, self._what(one), self._where(one)) for key, one in self._shown.items()])
        self.list.setVisible(bool(found))
        self._text.setVisible(bool(found))
        self._none.setVisible(not found)
        self._revoke.setVisible(bool(found))

    def showEvent(self, event: QShowEvent) -> None:
        self.refresh()
        super().showEvent(event)

    def _what(self, one: Permission) -> str:
        words = self._language
        if one.gone:
            return words("permissions.gone", count=one.count)
        if one.folders:
            return words(
                "permissions.of",
                server=exact(one.server),
                tools=words("permissions.folders", count=one.count),
            )
        names = [exact(tool_name(key, words)) for key in one.tools]
        if not names:
            names = [words("permissions.tools", count=one.count)]
        elif len(names) < one.count:
            names.append("…")
        tools = ", ".join(names)
        return words("permissions.of", server=exact(one.server), tools=tools) if one.server else tools

    def _where(self, one: Permission) -> str:
        if not one.session_id:
            return self._language("permissions.lasting")
        return self._language("permissions.session", title=" ".join(one.title.split()))

    def _on_events(self, events: tuple[Event, ...]) -> None:
        changed = self.isVisible() and any(isinstance(event, CHANGES) for event in events)
        if changed and self._engine.permissions.all() != tuple(self._shown.values()):
            self.refresh()

    def _on_revoke(self) -> None:
        chosen = self._shown.get(self.list.chosen())
        if chosen is not None:
            self._tasks.add("revoke permission", self._revoke_and_show(chosen))

    async def _revoke_and_show(self, permission: Permission) -> None:
        await self._engine.permissions.revoke(permission)
        if self.isVisible():
            self.refresh()
