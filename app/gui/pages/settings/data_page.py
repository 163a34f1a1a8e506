"""Data in the settings: its folder and size, backups, import and export, the trash, faulty files;
and saved prompts.

The line at the foot shows the progress of the page's work.
"""

from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TypeVar

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from app.core.definitions import SavedPrompt
from app.core.errors import MootError
from app.core.session import SessionSummary
from app.core.store import Backup, FilesSize, PartSize, Restored, Thrown
from app.core.texts import size_text
from app.engine.importing import Arrival
from app.gui.dialogs.ask_dialogs import ConfirmDialog, ImportDialog, RestoreDialog, SavedPromptDialog, example
from app.gui.display.appearance import Language
from app.gui.display.descriptions import time_text
from app.gui.files.user_files import ask_for_file, ask_where, free_name, read_shared_file, write_shared_file
from app.gui.pages.settings.settings_rows import DataShown, Ground, KeptList, Page, TwoLineList
from app.gui.tasks import timer
from app.gui.widgets.boxes import STRETCH, frame, hbox, vbox
from app.gui.widgets.controls import button, scrolling
from app.gui.widgets.item_list import RowItem
from app.gui.widgets.text import Paragraph, enable_if, named, plain_label, say, show_as, show_or_hide

Found = TypeVar("Found")
Work = Coroutine[object, object, None]

ZIP = "ZIP (*.zip)"
FOREIGN = "JSON, ZIP (*.json *.zip)"
AT_ONCE = 20
MOST_NAMED = 3


class DataPage(DataShown):
    """Shows the stored data; `refresh` reads it again. Emits restored() after documents were restored."""

    restored = Signal()

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        language, look, self._data_dir = self._language, self._look, ground.data_dir
        self._kept: tuple[Backup, ...] = ()
        self._thrown: tuple[Thrown, ...] = ()
        self._parts: tuple[PartSize, ...] = ()
        # What the files of sessions take, the largest first.
        self._made: list[tuple[SessionSummary, FilesSize]] = []
        self._path = plain_label("value", wrap=True, text=str(self._data_dir))
        self._path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._sizes = plain_label("hint", wrap=True)
        self._line = WorkLine(language, "data")
        self.said = self._line.said
        self._enough = False
        kept = {"restore": "data.restore", "back_up": "data.back_up", "from_file": "data.restore_file"}
        texts = ("data.backups", "data.backups.text", "data.backups.none")
        self.backups = KeptList(language, look, texts, kept, free=("back_up", "from_file"))
        thrown = {what: f"data.bin.{what}" for what in ("restore", "remove", "empty")}
        self.bin = KeptList(language, look, ("data.bin", "data.bin.text", "data.bin.none"), thrown)
        drop, made = {"drop": "data.files.drop"}, ("data.files", "data.files.text", "data.files.none")
        self.files = KeptList(language, look, made, drop, enters=False)
        self._problems_title = say(plain_label("field"), language, "settings.data.problems")
        self._problems = plain_label("hint", wrap=True)
        self._lay_out()
        self.backups.asked.connect(self._on_backups)
        self.bin.asked.connect(self._on_bin)
        self.files.asked.connect(self._on_drop)
        language.follow(self.retranslate)

    def refresh(self) -> None:
        """Read the stored data again."""
        if not self._gone:
            self._tasks.replace("data page", self._read())

    def retranslate(self) -> None:
        """Show every text in the language in use."""
        problems = [self._language.file_problem(problem) for problem in self._engine.problems()]
        self._problems_title.setVisible(bool(problems))
        show_or_hide(self._problems, "\n".join(problems))
        if self._parts:
            self._show_kept()
            self._show_made()

    def _lay_out(self) -> None:
        words, folder = self._language, str(self._data_dir)
        open_folder = button(
            "", "data_open_folder", lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(folder))
        )
        say(open_folder, words, "settings.data.open")
        text = say(Paragraph("card_text"), words, "settings.data.text")
        path = hbox((self._path, 1), (open_folder, 0, Qt.AlignmentFlag.AlignTop), spacing=10)
        pick = partial(self._ask_for, "data.import", FOREIGN, "look at import", self._look_at)
        bring_in = say(button("", "data_import", lambda: pick()), words, "data.import")
        save = partial(self._ask_where, "data.export_all", "moot-sessions", "export all", self._export_all)
        export = say(button("", "data_export_all", lambda: save()), words, "data.export_all")
        away = say(plain_label("field"), words, "data.away")
        about = say(plain_label("hint", wrap=True), words, "data.away.text")
        parts = (text, path, self._sizes, self._problems_title, self._problems, 8, self.backups, 8)
        below = (away, about, hbox(bring_in, export, STRETCH, spacing=8), 8, self.files, 8)
        body = vbox(*parts, *below, self.bin, STRETCH, margins=(22, 20, 22, 14), spacing=10)
        foot = hbox((self._line, 1), margins=(22, 4, 22, 0))
        vbox((scrolling(frame("", body), keeps_bar=True), 1), foot, inside=self, spacing=0)

    async def _read(self) -> None:
        try:
            archive = self._engine.archive.files
            self._kept, self._thrown = await archive.backups(), await archive.thrown()
            self._parts = await archive.sizes()
            if not self._gone:
                self._show_kept()
            sessions = self._engine.sessions()
            sizes = await self._engine.session_files.sizes(session.id for session in sessions)
            made = [(session, sizes[session.id]) for session in sessions if session.id in sizes]
            made = [(session, size) for session, size in made if size.size]
            self._made = sorted(made, key=lambda item: item[1].size, reverse=True)
        except MootError as error:
            self._say_problem(error)
            return
        if not self._gone:
            self._show_made()

    def _show_kept(self) -> None:
        """Show the sizes, the backups and the trash."""
        words = self._language
        whole = size_text(words, sum(part.size for part in self._parts))
        sizes = [(words(f"data.part.{part.name}"), size_text(words, part.size)) for part in self._parts]
        parts = ", ".join(f"{name} {size}" for name, size in sizes)
        self._sizes.setText(words("data.size", whole=whole, parts=parts))
        kept, thrown = [], []
        for backup in self._kept:
            second = f"{self._why(backup.why)} · {size_text(words, backup.size)}"
            kept.append(RowItem(id=backup.path, title=words.day_and_time(backup.made_at), second=second))
        for gone in self._thrown:
            day, left = words.day_and_time(gone.thrown_at), words("data.bin.left", count=gone.days_left)
            kind, size = self._kind(gone.kind), size_text(words, gone.size)
            second = words("data.bin.row", kind=kind, day=day, left=left, size=size)
            thrown.append(RowItem(id=gone.file, title=" ".join(gone.title.split())[:200], second=second))
        self.backups.show_rows(kept)
        self.bin.show_rows(thrown)

    def _show_made(self) -> None:
        """Show what the files of sessions take."""
        words, made = self._language, []
        for session, found in self._made:
            size, old = size_text(words, found.size), size_text(words, found.old)
            second = words("data.files.row", count=found.files, size=size, old=old)
            made.append(RowItem(id=session.id, title=" ".join(session.title.split())[:200], second=second))
        self.files.show_rows(made)

    def _why(self, why: str) -> str:
        key = f"data.why.{why}"
        return self._language(key) if key in self._language.texts else why

    def _kind(self, kind: str) -> str:
        key = f"data.kind.{kind}"
        return self._language(key if key in self._language.texts else "data.part.other")

    # Backups

    def _on_backups(self, what: str, path: str) -> None:
        if what == "restore":
            self._tasks.start("look into backup", self._look_into(path))
        elif what == "from_file":
            self._ask_for("data.restore_file", ZIP, "look into backup", self._look_into)
        else:
            self._ask_where("data.back_up", "moot-backup", "back up", self._back_up)

    async def _back_up(self, path: Path) -> None:
        self._line.begin(cancel=lambda: self._tasks.cancel("back up"))
        words = self._language
        try:
            work = self._engine.archive.back_up(str(path), self._line.show_count)
            await self._do(work, words("data.backed_up", name=path.name))
        except CancelledError:
            self._line.say(words("data.cancelled"))
            raise

    async def _look_into(self, path: str) -> None:
        contents = await self._looked_at(self._engine.archive.files.contents(path))
        if contents is None:
            return
        dialog = RestoreDialog(self._language, self._look, contents, self)

        def restore() -> None:
            missing, changed = dialog.documents(), dialog.replace()
            path, sessions = contents.backup.path, dialog.sessions()
            work = self._restore(path, sessions, documents=missing, replace=changed)
            self._tasks.start("restore", work)

        dialog.open_for(restore)

    async def _restore(self, path: str, sessions: list[str], *, documents: bool, replace: bool) -> None:
        words = self._language

        def restored(back: Restored) -> None:
            counts = [words(f"data.restored.{name}", count=count) for name, count in back.counts.items()]
            said = words("data.restored", what=", ".join(counts)) if counts else words("data.restored.none")
            self._line.say(self._with_unapproved(said, len(back.unapproved)))
            if back.documents:
                self.restored.emit()

        self._line.begin(len(sessions))
        restore = partial(self._engine.archive.restore, documents=documents, replace=replace)
        count = partial(self._line.show_count, total=len(sessions))
        await self._do(restore(path, sessions, progress=count), restored)

    # Import and export

    async def _look_at(self, path: str) -> None:
        arrivals = await self._looked_at(self._engine.archive.look_at(path))
        if arrivals is None:
            return
        dialog = ImportDialog(self._language, self._look, arrivals, self)
        dialog.open_for(lambda *chosen: self._tasks.start("import", self._bring_in(*chosen)))

    async def _bring_in(self, chosen: list[Arrival], with_context: bool) -> None:
        self._enough = False
        self._line.begin(len(chosen), cancel=self._stop_bringing_in)
        kept = 0
        try:
            while kept < len(chosen) and not self._enough:
                await self._engine.archive.bring_in(chosen[kept : kept + 1], with_context=with_context)
                kept += 1
                self._line.show_count(kept, len(chosen))
        except MootError as error:
            self._say_problem(error)
        else:
            dropped = sum(arrival.unapproved for arrival in chosen[:kept])
            self._line.say(self._with_unapproved(self._language("data.imported", count=kept), dropped))
        self.refresh()

    def _with_unapproved(self, text: str, count: int) -> str:
        """Add to a text in how many sessions permissions or open tool calls were dropped."""
        return f"{text} {self._language('data.unapproved', count=count)}" if count else text

    def _stop_bringing_in(self) -> None:
        """Stop the import after the current session."""
        self._enough = True

    async def _export_all(self, path: Path) -> None:
        total = len(self._engine.sessions())

        def exported(left_out: Sequence[str]) -> None:
            said = self._language("export.done", name=path.name)
            if left_out:
                more = ", …" if len(left_out) > MOST_NAMED else ""
                titles = ", ".join(title[:60] for title in left_out[:MOST_NAMED]) + more
                said += " " + self._language("data.left_out", count=len(left_out), titles=titles)
            self._line.say(said, "error" if left_out else "hint")

        self._line.begin(total)
        work = self._engine.archive.export_all(str(path), partial(self._line.show_count, total=total))
        await self._do(work, exported)

    # Files of sessions

    def _on_drop(self, _what: str, session_id: str) -> None:
        files, row = self._engine.session_files, self.files.list.currentItem()
        if not any(size.old for session, size in self._made if session.id == session_id):
            return
        said = self._language("data.files.dropped", title=row.title if row is not None else "")

        async def undo() -> bool:
            await files.bring_back_old(session_id)
            self.refresh()
            return True

        work = self._do(files.drop_old(session_id), lambda _: self.undo_offered.emit(said, undo))
        self._tasks.start("old versions", work)

    # Trash

    def _on_bin(self, what: str, file: str) -> None:
        words = self._language
        if what == "restore":
            self._tasks.start("restore from bin", self._take_out(file))
            return
        thrown = [item for item in self._thrown if what != "remove" or item.file == file]
        files = [item.file for item in thrown]
        title = " ".join(thrown[0].title.split())[:80] if thrown else ""
        remove, sure = words("data.bin.remove_now"), words("data.bin.sure", count=len(files), title=title)
        dialog = ConfirmDialog(words, remove, sure, remove, self)
        dialog.open_for(lambda: self._tasks.start("empty bin", self._remove(files)))

    async def _take_out(self, file: str) -> None:
        thrown = next((item for item in self._thrown if item.file == file), None)
        if thrown is not None:
            said = self._language("data.bin.back", title=thrown.title)
            await self._do(self._engine.archive.take_out(file), said)
            if thrown.kind == "provider":
                self.restored.emit()

    async def _remove(self, files: list[str]) -> None:
        self._line.begin(len(files))
        await self._do(self._remove_all(files), self._language("data.bin.removed", count=len(files)))

    async def _remove_all(self, files: list[str]) -> None:
        for start in range(0, len(files), AT_ONCE):
            await self._engine.archive.files.remove_thrown(files[start : start + AT_ONCE])
            self._line.show_count(min(start + AT_ONCE, len(files)), len(files))

    # Helpers

    async def _do(self, work: Awaitable[Found], done: str | Callable[[Found], None]) -> None:
        """Await a change, show its result or pass it to `done`, and read the data again."""
        try:
            found = await work
        except MootError as error:
            self._say_problem(error)
        else:
            if isinstance(done, str):
                self._line.say(done)
            else:
                done(found)
        self.refresh()

    async def _looked_at(self, work: Awaitable[Found]) -> Found | None:
        """Await the content of a file; show the error and return None if that fails, or
        if the page is closed.
        """
        self._line.say(self._language("data.looking"))
        try:
            found = await work
        except MootError as error:
            self._say_problem(error)
            return None
        self._line.say("")
        return None if self._gone else found

    def _ask_for(self, key: str, kinds: str, task: str, work: Callable[[str], Work]) -> None:
        """Ask for a file of these kinds, and start work with its path as a task."""
        ask_for_file(self, self._language(key), lambda path: self._tasks.start(task, work(str(path))), kinds)

    def _ask_where(self, key: str, name: str, task: str, work: Callable[[Path], Work]) -> None:
        """Ask where to write an archive, and start the work that does it as a task."""
        dated = f"{name}-{datetime.now().astimezone():%Y%m%d}"
        ask_where(self, self._language(key), dated, lambda path: self._tasks.start(task, work(path)), "zip")

    def _say_problem(self, error: MootError) -> None:
        self._line.say(self._language.problem(error.code, **error.details), "error")


BEAT_MS = 1_000


class WorkLine(QWidget):
    """Shows progress and elapsed time, and Cancel if the work can be stopped."""

    def __init__(self, words: Language, name: str) -> None:
        """`name` begins the object names of its parts."""
        super().__init__()
        self._words = words
        self._count = (0, 0)
        self._runs = False
        self._began = 0.0
        self._on_cancel: Callable[[], object] = lambda: None
        self.said = named(f"{name}_said", plain_label("hint", wrap=True))
        self._cancel = button("", f"{name}_cancel", lambda: self._on_cancel())
        self._cancel.hide()
        self._beat = timer(self, BEAT_MS, self._show)
        hbox((self.said, 1), (self._cancel, 0, Qt.AlignmentFlag.AlignTop), inside=self)

    def begin(self, total: int = 0, cancel: Callable[[], object] | None = None) -> None:
        """Show that work has begun, of `total` parts if known; `cancel` is called to stop it."""
        self._began, self._count, self._on_cancel = monotonic(), (0, total), cancel or self._on_cancel
        show_as(self.said, "hint", "")
        self._cancel.setText(self._words("dialog.cancel"))
        self._cancel.setVisible(cancel is not None)
        self._runs = True
        self._beat.start()
        self._show()

    def show_count(self, done: int, total: int) -> None:
        """Show the progress; what is told after the end, when the dialog may be gone, is passed over."""
        if self._runs:
            self._count = (done, total)
            self._show()

    def say(self, text: str, kind: str = "hint") -> None:
        """Show a text when the work has ended; `kind` is hint or error."""
        self._runs = False
        self._beat.stop()
        self._cancel.hide()
        show_as(self.said, kind, text)

    def _show(self) -> None:
        words, (done, total) = self._words, self._count
        parts = [words("data.progress", done=done, total=total) if total else words("data.working")]
        if seconds := int(monotonic() - self._began):
            parts.append(time_text(seconds, words))
        self.said.setText(" · ".join(parts))


SAVED_PROMPTS = "settings_saved_prompts"


class SavedPromptsPage(Page):
    """Lists the prompts; one of the program is edited as a copy."""

    def __init__(self, ground: Ground) -> None:
        super().__init__(ground)
        self._prompts, language, look = self._engine.saved_prompts, self._language, self._look
        self.list = TwoLineList(look, f"{SAVED_PROMPTS}_list")
        new = button("link", f"{SAVED_PROMPTS}_new", lambda: self._edit(SavedPrompt(id="", name="", text="")))
        say(new.dress(look, "plus", "accent"), language, "settings.saved_prompts.new")
        bring_in = button("link", f"{SAVED_PROMPTS}_import", self._ask_for_file)
        say(bring_in, language, "saved_prompt.import")
        delete = button("", f"{SAVED_PROMPTS}_delete", self._on_delete)
        self._delete = say(delete, language, "saved_prompt.delete")
        share = button("", f"{SAVED_PROMPTS}_share", self._on_share)
        self._share = say(share, language, "saved_prompt.export")
        self._open = say(button("", f"{SAVED_PROMPTS}_edit", self._on_edit), language, "settings.edit")
        self._lead = Paragraph("card_text")
        foot = hbox(new, bring_in, STRETCH, self._delete, self._share, self._open)
        vbox(self._lead, (self.list, 1), foot, inside=self, margins=(22, 14, 22, 14), spacing=10)
        for asked in (self.list.activated, self.list.edit_requested):
            asked.connect(lambda _row: self._on_edit())
        self.list.delete_requested.connect(lambda _id: self._on_delete())
        self.list.currentItemChanged.connect(lambda *_: self._fit())
        language.follow(self.refresh)

    def refresh(self) -> None:
        """Read the list again."""
        words = self._language
        self._lead.setText(words("settings.saved_prompts.text", example=example(words)))
        self.list.setAccessibleName(words("settings.saved_prompts"))
        prompts = self._prompts.all()
        built_in = self._prompts.is_built_in
        self.list.fixed = frozenset(prompt.id for prompt in prompts if built_in(prompt.id))
        lines = [(each.id, each.name, " ".join(each.text.split())) for each in prompts]
        self.list.show_rows([RowItem(id=id_, title=name, second=text) for id_, name, text in lines])
        self._fit()

    def _fit(self) -> None:
        chosen = self.list.current_id()
        self._delete.setEnabled(bool(chosen) and chosen not in self.list.fixed)
        enable_if(chosen, self._share, self._open)

    def _on_edit(self) -> None:
        if chosen := self.list.current_id():
            prompt = self._prompts.find(chosen)
            self._edit(replace(prompt, id="", version=1) if chosen in self.list.fixed else prompt)

    def _edit(self, prompt: SavedPrompt) -> None:
        dialog = SavedPromptDialog(self._language, prompt, self.window())
        dialog.open_for(lambda given: self._start(lambda: self._prompts.save(self._named(given))))

    def _named(self, prompt: SavedPrompt) -> SavedPrompt:
        """Return a new prompt under a name that no other one has."""
        taken = {item.name for item in self._prompts.all() if item.id != prompt.id}
        return replace(prompt, name=free_name(prompt.name, taken))

    def _start(self, work: Callable[[], Awaitable[object]]) -> None:
        async def then() -> None:
            await work()
            self.refresh()

        self._tasks.add("saved prompts", then())

    def _on_delete(self) -> None:
        prompt = self._prompts.find(self.list.current_id())

        async def undo() -> bool:
            await self._prompts.restore(prompt)
            self.refresh()
            return True

        self._start(lambda: self._prompts.delete(prompt.id))
        self.undo_offered.emit(self._language("assistant.deleted", name=prompt.name), undo)

    def _on_share(self) -> None:
        prompt = self._prompts.find(self.list.current_id())
        words, text, toasts = self._language, self._prompts.share(prompt.id), self._ground.toasts

        def write(path: Path) -> None:
            self._start(partial(write_shared_file, toasts, words, path, text))

        ask_where(self.window(), words("saved_prompt.export"), prompt.name, write)

    def _ask_for_file(self) -> None:
        title = self._language("saved_prompt.import")
        ask_for_file(self.window(), title, lambda path: self._start(partial(self._bring_in, path)))

    async def _bring_in(self, path: Path) -> None:
        """Save the prompt of a file. Raises BadInput."""
        shared = self._prompts.read_shared(await read_shared_file(path))
        await self._prompts.save(self._named(shared.definition))
