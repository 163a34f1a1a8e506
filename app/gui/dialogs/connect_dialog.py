"""The dialog that adds a provider: it asks for the key and saves the provider once a real request was tried."""

import time
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QButtonGroup, QDialog, QGridLayout, QLineEdit, QWidget

from app.core.catalog import COMPATIBLE, KINDS, USUAL, kind_of_key, provider_kind
from app.core.errors import FailureKind, MootError, ProviderError
from app.core.matching import fits
from app.core.presets import PRESETS
from app.core.provider import FoundServer, ProviderConfig, TestResult
from app.engine.engine import Engine
from app.gui.dialogs.link_dialog import LinkDialog
from app.gui.display.appearance import Language, Look
from app.gui.tasks import Tasks
from app.gui.widgets.boxes import STRETCH, hbox, vbox
from app.gui.widgets.controls import button, put_in_tab_order
from app.gui.widgets.text import Paragraph, named, plain_label, say, show_as, show_or_hide

REMOTE = tuple(kind.kind for kind in KINDS if kind.needs_key)
OTHER = COMPATIBLE
COLUMNS = 4
MODELS_SHOWN = 8
# After these failures the provider is not worth saving; after all others it may work later.
HOPELESS = (
    FailureKind.AUTHENTICATION,
    FailureKind.PERMISSION,
    FailureKind.BAD_REQUEST,
    FailureKind.BAD_RESPONSE,
    FailureKind.NO_KEY,
    FailureKind.REDIRECTED,
)
# After these failures another key helps; after the others another address may, or another try.
KEY_FAILURES = (FailureKind.AUTHENTICATION, FailureKind.PERMISSION, FailureKind.NO_KEY)


class ConnectDialog(QDialog):
    """Asks for a provider's key, tries it and adds the provider; emits `added` with its id."""

    added = Signal(str)

    def __init__(
        self,
        language: Language,
        look: Look,
        engine: Engine,
        servers: Sequence[FoundServer],
        parent: QWidget,
        chosen: FoundServer | None = None,
    ) -> None:
        super().__init__(parent)
        self.setObjectName("connect_dialog")
        self._language, self._engine = language, engine
        self._servers = {server.address: server for server in servers}
        self._tasks = Tasks(lambda _name, error: self._say_error(error))
        self._draft: ProviderConfig | None = None
        self._result = TestResult(ok=False)
        self._asked_at = 0.0
        self._warm = False
        self._title = say(plain_label("page_title"), language, "connect.title")
        self._text = Paragraph("card_text")
        self._kinds = QButtonGroup(self)
        found = {server.kind for server in servers}
        usual = [row.kind for row in USUAL if row.needs_key]
        by_name = [row.kind for row in PRESETS if row.kind not in found]
        self._choices = [*usual, *self._servers, *by_name, OTHER]
        for number, choice in enumerate(self._choices):
            card = button("choice", f"connect_{choice if choice not in self._servers else f'found_{number}'}")
            card.setCheckable(True)
            card.setAutoDefault(False)
            if choice in self._servers:
                card.dress(look, "plug", "ok")
            self._kinds.addButton(card, number)
        self.search = say(
            named("connect_search", QLineEdit()), language, name="connect.search", hint="connect.search"
        )
        self.search.setClearButtonEnabled(True)
        self._cards = QGridLayout()
        self._address_label = say(plain_label("field"), language, "provider.base_url")
        self._key_label = plain_label("field")
        self.address = say(
            named("connect_address", QLineEdit()),
            language,
            name="provider.base_url",
        )
        self._model_label = say(plain_label("field"), language, "connect.deployment")
        self.model = say(named("connect_model", QLineEdit()), language, name="connect.deployment")
        self.key = say(
            named("connect_key", QLineEdit()), language, name="provider.key", hint="provider.key.placeholder"
        )
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self._page = plain_label("hint", wrap=True)
        self._copy = say(button("link", "connect_copy"), language, "connect.copy")
        self._open = say(button("link", "connect_open", self._on_open), language, "connect.open")
        self.answer = named("connect_result", plain_label("hint", wrap=True))
        self._anyway = say(
            button("link", "connect_anyway", lambda: self._tasks.start("keep", self._keep())),
            language,
            "connect.anyway",
        )
        self._cancel = say(button("", "connect_cancel"), language, "link.cancel")
        self.go = button("primary", "connect_go", self._on_go)
        self.go.setDefault(True)
        self._clock = QTimer(self)
        self._clock.setInterval(500)
        self._clock.timeout.connect(self._on_clock)
        self._lay_out()
        self._connect()
        first = chosen.address if chosen is not None else REMOTE[0]
        self._kinds.button(self._choices.index(first)).setChecked(True)
        self._retranslate()
        self.key.setFocus()
        # Starts the model host while the user looks for the key, so that the try is quick.
        self._tasks.start("warm", self._warm_up())

    def _lay_out(self) -> None:
        self._cards.setSpacing(8)
        for column in range(COLUMNS):
            self._cards.setColumnStretch(column, 1)
        vbox(
            self._title,
            self._text,
            self.search,
            self._cards,
            4,
            self._address_label,
            self.address,
            self._model_label,
            self.model,
            self._key_label,
            self.key,
            hbox((self._page, 1), self._copy, self._open),
            self.answer,
            STRETCH,
            hbox(self._anyway, STRETCH, self._cancel, self.go),
            inside=self,
            margins=(22, 20, 22, 18),
            spacing=9,
        )
        self._show_cards("")
        fields = (self.address, self.model, self.key, self._copy, self._open)
        put_in_tab_order((self.search, *self._kinds.buttons(), *fields, self._anyway, self._cancel, self.go))
        self.resize(600, 480)

    def _show_cards(self, text: str) -> None:
        """Show the providers whose names contain a text, and choose the first if the chosen one is not among them."""
        found = [one for one in self._kinds.buttons() if fits(one.text(), text)]
        for card in self._kinds.buttons():
            self._cards.removeWidget(card)
            card.hide()
        for number, card in enumerate(found):
            self._cards.addWidget(card, number // COLUMNS, number % COLUMNS)
            card.show()
        if found and self._kinds.checkedButton() not in found:
            found[0].setChecked(True)

    def _connect(self) -> None:
        self._kinds.idToggled.connect(self._on_kind)
        self.key.textChanged.connect(self._on_key)
        self.search.textChanged.connect(self._show_cards)
        for field in (self.address, self.model):
            field.textChanged.connect(lambda _text: self._forget_result())
        self._copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._key_page()))
        self._cancel.clicked.connect(self.reject)
        self.finished.connect(self._on_finished)
        self._language.changed.connect(self._retranslate)

    @property
    def _choice(self) -> str:
        return self._choices[self._kinds.checkedId()]

    @property
    def _server(self) -> FoundServer | None:
        return self._servers.get(self._choice)

    def _key_page(self) -> str:
        row = provider_kind(self._choice)
        return row.key_page if row else ""

    def _on_kind(self, _number: int, checked: bool) -> None:
        if checked:
            # A key is for one provider: do not send it to another that was clicked next.
            if kind_of_key(self.key.text()) != self._choice:
                self.key.clear()
            self._forget_result()
            self._retranslate()

    def _on_key(self, text: str) -> None:
        """Remove spaces around a pasted key, and choose the provider it belongs to."""
        key = text.strip()
        if key != text:
            self.key.setText(key)
            return
        self._forget_result()
        kind = kind_of_key(key, self._choice)
        if kind and self._choice in REMOTE and kind != self._choice:
            self.search.clear()
            self._kinds.button(self._choices.index(kind)).setChecked(True)
            name = self._kinds.checkedButton().text()
            self._say("hint", self._language("connect.looks_like", name=name))

    def _forget_result(self) -> None:
        self._draft = None
        self._anyway.hide()
        self._say("hint", "")

    def _on_open(self) -> None:
        LinkDialog(self._language, self._key_page(), "", self).open()

    def _on_go(self) -> None:
        if self._result.ok and self._draft is not None:
            self.accept()
        else:
            self._tasks.start("try", self._try())

    async def _warm_up(self) -> None:
        # The try reports what keeps the host from starting.
        with suppress(ProviderError):
            await self._engine.connections.warm()
        self._warm = True

    async def _try(self) -> None:
        words, server = self._language, self._server
        if server is not None:
            self._draft = self._engine.connections.draft(server.kind, server.address, server.name)
        else:
            address, model = (
                "" if field.isHidden() else field.text().strip() for field in (self.address, self.model)
            )
            models = (model,) if model else ()
            self._draft = self._engine.connections.draft(self._choice, address, models=models)
        if self._choice in REMOTE and not self.key.text():
            self._say("error", words("error.key_empty"))
            self._go_on_at(self.key)
            return
        self._hold(True)
        try:
            self._result = await self._engine.connections.try_out(self._draft, self.key.text())
        except MootError:
            self._hold(False)
            raise
        self._hold(False)
        if self._result.ok:
            await self._keep()
            return
        self._say(
            "error",
            words.failure(self._result.failure, self._result.detail, self._draft.label or self._draft.id),
        )
        self._anyway.setVisible(self._result.failure not in HOPELESS)
        self._go_on_at(self.key if self._result.failure in KEY_FAILURES else self.address)

    async def _keep(self) -> None:
        """Save the provider that was tried, and show the result."""
        words, result = self._language, self._result
        assert self._draft is not None
        kept = await self._engine.connections.add(self._draft, self.key.text(), result)
        self.added.emit(self._draft.id)
        if not result.ok:
            self.accept()
            return
        lines = [
            words(
                "connect.ready",
                seconds=f"{result.seconds:.1f}",
                model=result.model,
                count=len(result.models) or 1,
            )
        ]
        if not kept:
            lines.append(words(f"keyring.{self._engine.keys.problem}"))
        self._say("ok" if kept else "warn", "\n".join(lines))
        self.go.setText(words("connect.done"))
        self._cancel.hide()
        for widget in (self.search, self.key, self.address, self.model, *self._kinds.buttons()):
            widget.setEnabled(False)
        self.go.setFocus()

    def _hold(self, busy: bool) -> None:
        """Disable the fields while the provider is asked, and count the seconds."""
        # Keep the focus: a disabled field would pass it to the next widget.
        for field in (self.key, self.address, self.model):
            field.setReadOnly(busy)
        if busy and self.go.hasFocus():
            (self.key if self.key.isVisible() else self._cancel).setFocus()
        for widget in (self.go, self.search, *self._kinds.buttons()):
            widget.setEnabled(not busy)
        self._anyway.hide()
        if busy:
            self._asked_at = time.monotonic()
            self._clock.start()
            self._on_clock()
        else:
            self._clock.stop()

    def _go_on_at(self, field: QLineEdit) -> None:
        """Focus the field that has to be corrected, or the button for another try if it is hidden."""
        if field.isVisible():
            field.setFocus()
            field.selectAll()
        else:
            self.go.setFocus()

    def _on_clock(self) -> None:
        name = self._kinds.checkedButton().text()
        seconds = int(time.monotonic() - self._asked_at)
        key = "provider.testing" if self._warm else "connect.starting"
        self._say("hint", self._language(key, name=name, seconds=seconds))

    def _on_finished(self) -> None:
        self._clock.stop()
        for task in ("try", "warm"):
            self._tasks.cancel(task)
        # Clear the key, even if something still holds the dialog.
        self.key.blockSignals(True)
        self.key.clear()
        self.deleteLater()

    def _say_error(self, error: MootError) -> None:
        self._say("error", self._language.problem(error.code, **error.details))
        self._go_on_at(self.address)

    def _say(self, kind: str, text: str) -> None:
        show_as(self.answer, kind, text)

    def _retranslate(self) -> None:
        words, choice, server = self._language, self._choice, self._server
        self.setWindowTitle(words("connect.title"))
        self._text.setText(words.with_keys("connect.text", kept=self._engine.keys.kept))
        for number, one in enumerate(self._choices):
            row = provider_kind(one)
            found = self._servers.get(one)
            name = words.server(found) if found else words("connect.other") if one == OTHER else ""
            self._kinds.button(number).setText(name or (row.label if row else one))
        kind = provider_kind(choice)
        takes_address = kind is not None and (kind.local or not kind.base_url)
        takes_key = kind is not None or (server is not None and server.needs_key)
        for widget, shown in (
            (self._address_label, takes_address),
            (self.address, takes_address),
            (self._model_label, kind is not None and kind.own_names),
            (self.model, kind is not None and kind.own_names),
            (self._key_label, takes_key),
            (self.key, takes_key),
        ):
            widget.setVisible(shown)
        if kind is not None and kind.base_url:
            self.address.setPlaceholderText(words("provider.base_url.placeholder", url=kind.base_url))
        elif kind is not None:
            self.address.setPlaceholderText(
                words("connect.address.hint", url=kind.address_form or "http://127.0.0.1:8000/v1")
            )
        page, note = self._key_page(), ""
        if page:
            note = words("connect.page", page=page.removeprefix("https://"))
        elif server is not None:
            models = ", ".join(server.models[:MODELS_SHOWN])
            more = ", …" if len(server.models) > MODELS_SHOWN else ""
            note = words("connect.found", address=server.address, models=models + more or "–")
        show_or_hide(self._page, note)
        for link in (self._copy, self._open):
            link.setVisible(bool(page))
        self._key_label.setText(words("provider.key" if choice in REMOTE else "connect.key.optional"))
        self._anyway.hide()
        self.go.setText(words("connect.go"))
