"""The dialog for what the sessions of a folder are given: its name, instructions and files."""

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.core.session import Folder
from app.gui.dialogs.ask_dialogs import AskDialog
from app.gui.display.appearance import Language, Look
from app.gui.panels.debate.context_list import ContextList
from app.gui.widgets.boxes import STRETCH, hbox
from app.gui.widgets.controls import TextBox, button
from app.gui.widgets.text import Paragraph, named, plain_label


class FolderDialog(AskDialog):
    """Shows a folder for editing; emits `changed` with the folder if it differs."""

    changed = Signal(object)

    def __init__(self, words: Language, look: Look, folder: Folder, parent: QWidget) -> None:
        super().__init__(words, parent, "folder", words("folder.title"), ("save", words("dialog.save")))
        self._folder = folder
        self.name = named("folder_name", QLineEdit(folder.name))
        self.name.setAccessibleName(words("folder.name"))
        self.name.textChanged.connect(lambda text: self.go.setEnabled(bool(text.strip())))
        self.box = named("folder_instructions", TextBox(lines=7, most=7, submits=False))
        self.box.setPlainText(folder.instructions)
        self.box.setAccessibleName(words("folder.instructions"))
        self.files = ContextList(words, look)
        self.files.show_paths(folder.context)
        self.files.kept.connect(self.files.show_paths)
        self.files.files_given.connect(
            lambda more: self.files.show_paths(tuple(dict.fromkeys((*self.files.paths, *more))))
        )
        choose = button("link", "folder_choose", self.files.ask, text=words("setup.context.choose"))
        self.arrange(
            self.heading,
            self.name,
            plain_label("field", text=words("folder.instructions")),
            Paragraph("hint", text=words("folder.instructions.hint")),
            self.box,
            hbox(plain_label("field", text=words("folder.files")), STRETCH, choose),
            Paragraph("hint", text=words("folder.files.hint")),
            self.files,
            STRETCH,
        )
        self.resize(560, 480)

    def _on_go(self) -> None:
        wanted = replace(
            self._folder,
            name=self.name.text().strip(),
            instructions=self.box.text(),
            context=self.files.paths,
        )
        self.accept()
        if wanted != self._folder:
            self.changed.emit(wanted)
