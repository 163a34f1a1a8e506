"""Tells the answer of an external agent from what the program says about itself."""

from app.core.errors import FailureKind, ProviderError

_MOST_OF_NOTICE = 300


class AnswerText:
    """Takes the pieces of an answer and returns what may be shown of them by now.

    `message_ids` says whether the program gives the messages of its model ids: then text without one is a notice. Where that
    is not known (None), text without an id is kept until the end, and counts only where no text had one.
    """

    def __init__(
        self, message_ids: bool | None, notices: tuple[str, ...], complaints: tuple[str, ...]
    ) -> None:
        self._message_ids = message_ids
        self._notices = notices
        self._complaints = complaints
        self._without_id = ""
        self._held = ""
        self._begun = False
        self._message = ""
        self.bytes = 0
        # What the program itself said, without an id.
        self.notice = ""

    def take(self, text: str, message_id: str) -> str:
        """Add a piece; return the text that is certainly part of the answer. Raises ProviderError for a complaint."""
        self.bytes += len(text.encode("utf-8", "replace"))
        if not message_id and self._message_ids is not False:
            self._without_id += "" if self._message_ids else text
            self.notice = (self.notice + text)[:_MOST_OF_NOTICE] if self._message_ids else ""
            return ""
        if self._begun and message_id != self._message and text:
            text = "\n\n" + text
        self._message = message_id
        return self._checked(text)

    def rest(self) -> str:
        """Return what was held back, at the end of the answer. Raises ProviderError for a complaint."""
        self._message_ids = False
        said = self._checked(self._without_id) if not (self._begun or self._held) else ""
        held, self._held = self._held, ""
        return said + ("" if held.startswith(self._notices or ("\0",)) else held)

    def _checked(self, text: str) -> str:
        if self._begun:
            return text
        self._held = (self._held + text).lstrip()
        if self._held.startswith(self._complaints or ("\0",)):
            raise ProviderError(FailureKind.SERVER, self._held[:300])
        while self._held.startswith(self._notices or ("\0",)) and "\n" in self._held:
            self._held = self._held.partition("\n")[2].lstrip()
        starts = (*self._notices, *self._complaints)
        if not self._held or any(one.startswith(self._held) or self._held.startswith(one) for one in starts):
            return ""
        self._begun = True
        held, self._held = self._held, ""
        return held
