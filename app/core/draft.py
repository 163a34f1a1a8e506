"""Drafts: what was written and not sent. Storage keeps one file for each place, the window shows them."""

from dataclasses import field, replace

from app.core.frozen import Frozen
from app.core.message import Attachment
from app.core.session import DebateChoices, DebateMode

# The places of drafts outside sessions; the draft of a session has the session's id.
NEW, SETUP, COMMAND = "new", "setup", "command"


class Rewriting(Frozen):
    """The new text of a sent message that is being rewritten."""

    message_id: str
    text: str = ""
    attachments: tuple[Attachment, ...] = ()


class ParticipantDraft(Frozen):
    """The changes to one participant of a debate's set-up; `chosen` is None where it was not changed.

    `added` says that the user added the participant, `own_model` that the user chose the model. `effort`,
    `creativity` and `length` are "" where they are those of its assistant. `prompt_for` names the debate that
    has begun with the prompt (`prompt_place`), "" for none: it is for such debates only.
    """

    id: str
    provider: str
    model: str
    name: str = ""
    role: str = ""
    system_prompt: str = ""
    prompt_for: str = ""
    chosen: bool | None = None
    added: bool = False
    own_model: bool = False
    effort: str = ""
    creativity: str = ""
    length: str = ""


class SetupDraft(DebateChoices):
    """A debate's set-up as far as it was chosen, without its topic; `seed` is that of the debate it repeats.

    With `looks` the PDF files of its context are sent as they look. `options` are the lines of that field.
    """

    mode: str = DebateMode.ROUND_ROBIN
    context: bool = False
    looks: bool = False
    seats: tuple[ParticipantDraft, ...] = ()
    seed: int | None = None
    options: tuple[str, ...] = ()


class Draft(Frozen):
    """The unsent text of one place.

    While a sent message is rewritten, `text` and `attachments` are the draft from before. `answers` are
    unfinished answers by the ids of their questions, `queued` the texts of queued messages that are being
    edited, by their ids: these are not sent until the edit ends.
    """

    text: str = ""
    attachments: tuple[Attachment, ...] = ()
    rewriting: Rewriting | None = None
    answers: dict[str, str] = field(default_factory=dict)
    queued: dict[str, str] = field(default_factory=dict)
    setup: SetupDraft | None = None

    def with_file(self, attachment: Attachment, place: int) -> "Draft":
        """Return it with an attachment put back where it was."""
        before, behind = self.attachments[:place], self.attachments[place:]
        return replace(self, attachments=(*before, attachment, *behind))

    def led_by(self, text: str, attachments: tuple[Attachment, ...] = ()) -> "Draft":
        """Return it with what could not be sent before what has been written since."""
        text = "\n\n".join(part for part in (text, self.text) if part)
        return replace(self, text=text, attachments=(*attachments, *self.attachments))
