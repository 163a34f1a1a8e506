"""The network in the settings: a proxy, and certificates of one's own or of a company."""

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.errors import BadInput
from app.core.settings import Settings
from app.engine.engine import Engine
from app.gui.display.appearance import Language
from app.gui.files.shared_files import ask_for_file
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button
from app.gui.widgets.text import Paragraph, named, plain_label, say, show_as


class NetworkPage(QWidget):
    """Shows the proxy and the certificates; emits chosen({name: value}) once they are in use."""

    chosen = Signal(object)

    def __init__(
        self, language: Language, engine: Engine, tasks: Tasks, settings: Callable[[], Settings]
    ) -> None:
        super().__init__()
        self._language, self._engine, self._tasks = language, engine, tasks
        self.proxy = say(
            named("network_proxy", QLineEdit()), language, name="network.proxy", hint="network.proxy.example"
        )
        self.certificates = say(
            named("network_certificates", QLineEdit()), language, name="network.certificates"
        )
        self._browse = say(button("", "network_browse", self._on_browse), language, "network.browse")
        self._save = say(button("primary", "network_save", self._on_save), language, "network.save")
        self.result = named("network_result", plain_label("hint", wrap=True))
        vbox(
            say(Paragraph("card_text"), language, "network.text"),
            8,
            say(plain_label("field"), language, "network.proxy"),
            self.proxy,
            say(Paragraph("hint"), language, "network.proxy.hint"),
            8,
            say(plain_label("field"), language, "network.certificates"),
            hbox((self.certificates, 1), self._browse),
            say(Paragraph("hint"), language, "network.certificates.hint"),
            8,
            self.result,
            hbox(STRETCH, self._save),
            STRETCH,
            inside=self,
            spacing=7,
        )
        self.proxy.setText(settings().proxy)
        self.certificates.setText(settings().certificates)
        for field in (self.proxy, self.certificates):
            field.returnPressed.connect(self._on_save)
            field.textChanged.connect(lambda _text: show_as(self.result, "hint", ""))

    def _on_browse(self) -> None:
        title = self._language("network.certificates")
        ask_for_file(self, title, lambda path: self.certificates.setText(str(path)), kinds="")

    def _on_save(self) -> None:
        self._tasks.start(
            "use the network", self._use(self.proxy.text().strip(), self.certificates.text().strip())
        )

    async def _use(self, proxy: str, certificates: str) -> None:
        try:
            await self._engine.network.use(proxy, certificates)
        except BadInput as error:
            show_as(self.result, "error", self._language.problem(error.code, **error.details))
            (self.certificates if error.code.startswith("certificates") else self.proxy).setFocus()
            return
        self.chosen.emit({"proxy": proxy, "certificates": certificates})
        show_as(self.result, "ok", self._language("network.saved"))
