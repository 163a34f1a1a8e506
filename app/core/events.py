"""Events: what changed, as frozen data, and the bus that carries them to screen, disk and terminal.

The names in `EVENT_NAMES` are those of the command line's `--json` lines. A batch handed to
`EventBus.publish` belongs together: storage writes it as one line, so it is there whole or not.
"""

from collections.abc import Callable, Mapping
from dataclasses import field

from app.core.criteria import Criterion, Plan
from app.core.definitions import StepState
from app.core.frozen import Frozen
from app.core.ids import utc_now
from app.core.memory import Note
from app.core.message import Author, Message, Prompt, ToolCall, Usage
from app.core.provider import FetchProgress
from app.core.session import Session
from app.core.session_files import FileVersion
from app.core.tool import ToolProgress


class Event(Frozen):
    """Something changed in a session; `at` is ISO 8601 UTC."""

    session_id: str
    at: str = field(default_factory=utc_now)


class SessionStarted(Event):
    """A session was created."""

    session: Session


class SessionChanged(Event):
    """Title, status, reason or the cursor changed; carries the session as it is now.

    `status_changed` is true where the status or its reason has changed.
    """

    session: Session
    status_changed: bool = False


class SessionDeleted(Event):
    """The session was moved to the trash."""


class SessionRestored(Event):
    """The session came back from the trash or a backup, or was imported."""


class TurnStarted(Event):
    """A turn begins; `part` is what its messages are in a debate or a council, `why` the rule
    that chose its speaker.
    """

    turn_id: str
    author: Author
    parent_turn_id: str | None = None
    part: str = ""
    round: int = 0
    why: str = ""


class MessageStarted(Event):
    """A message was added; it streams and is usually empty.

    One that streams already begins again: what it had was thinking, which it carries now.
    """

    message: Message


class MessageDelta(Event):
    """A streaming message grew; `offset` is the length in characters before this piece."""

    message_id: str
    offset: int
    text: str = ""
    thinking: str = ""


class MessageFinished(Event):
    """A message is whole, stopped or failed; carries it as it will be stored."""

    message: Message


class CallsStreamed(Event):
    """A streaming message calls tools; the last call's arguments may still grow."""

    message_id: str
    tool_calls: tuple[ToolCall, ...]


class ToolEvent(Event):
    """Something about a call of a turn."""

    turn_id: str
    tool_call_id: str
    name: str


class ToolStarted(ToolEvent):
    """A tool runs for a call; `arguments` is the JSON text as the model wrote it."""

    arguments: str


class ToolProgressed(ToolEvent):
    """A running tool says how far it is."""

    progress: ToolProgress


class ToolFinished(ToolEvent):
    """A call has its result; `content` is what the model is sent."""

    ok: bool
    content: str


class PromptAsked(Event):
    """The user is asked; the message with the question is part of the same batch."""

    message_id: str
    prompt: Prompt


class PlanChanged(Event):
    """The session's plan has changed; None where it was dropped."""

    plan: Plan | None


class FileWritten(Event):
    """A file of the session was written, moved or deleted."""

    file: FileVersion


class GroupsChanged(Event):
    """A group was saved, deleted or restored; `session_id` is ""."""


class PanelsChanged(Event):
    """A panel was saved, deleted or restored; `session_id` is ""."""


class JournalChanged(Event):
    """A decision was kept, settled or deleted; `session_id` is ""."""


class MemoryProposed(Event):
    """An assistant has proposed a note; the message is the result of its call."""

    message_id: str
    proposal: Note


class MemoryChanged(Event):
    """A note was kept, changed, deleted or brought back; `session_id` is ""."""


class StepChanged(Event):
    """The state of a workflow's step has changed."""

    step: StepState


class CriterionChecked(Event):
    """A criterion was checked: the session's, or that of a step; `place` is its place among them."""

    criterion: Criterion
    place: int
    step_id: str = ""


class AvailabilityChanged(Event):
    """The tasks of an assistant have changed; `running` and `queued` count them, `waiting` those
    with a time limit. `session_id` is "".
    """

    assistant_id: str
    running: int
    queued: int
    waiting: int


class WorkflowsChanged(Event):
    """A workflow's definition was saved or deleted; `session_id` is ""."""


class FoldersChanged(Event):
    """A folder was saved, deleted or restored, or their order changed; `session_id` is ""."""


class SkillsChanged(Event):
    """A skill was added, allowed, removed or restored, or has changed; `session_id` is ""."""


class SchedulesChanged(Event):
    """A schedule was saved, deleted or restored, or a run of it began or ended; `session_id` is ""."""


class ScheduleMissed(Event):
    """A schedule was due and did not run; `session_id` is "".

    `schedule` is its id, `due` when it was due, a time of day where the user is, `reason` why.
    """

    schedule: str
    name: str
    due: str
    reason: str


class SavedPromptsChanged(Event):
    """A prompt of the user's was saved, deleted or restored; `session_id` is ""."""


class TurnFinished(Event):
    """A turn ended or waits; `outcome` is done, waiting, failed or stopped."""

    turn_id: str
    outcome: str


class AssistantsChanged(Event):
    """An assistant was saved, deleted or restored, or their order changed; `session_id` is ""."""


class ServersChanged(Event):
    """An MCP server was added or removed, or asks for consent; `session_id` is ""."""


class ModelsChanged(Event):
    """A model of this computer was downloaded, paused, added or removed; `session_id` is ""."""


class ModelFetching(Event):
    """A model is being downloaded; `session_id` is ""."""

    model: str
    progress: FetchProgress


class KeysChanged(Event):
    """Keys were looked up, the keyring answered late, or a terminal changed a key; `session_id` is ""."""


class VotingChecked(Event):
    """A model was checked; `session_id` is "" where no session needed that.

    `model` is its "provider/model", `reason` why it may not vote or judge, as `NoVote` has it.
    """

    model: str
    may_vote: bool
    may_judge: bool
    reason: str = ""


class UsageReported(Event):
    """A turn's tokens and cost are known."""

    turn_id: str
    usage: Usage


class LimitNear(Event):
    """A run has used most of what it may: `limit` is minutes, calls or usd, `spent` is how much of it,
    `most` all.
    """

    limit: str
    spent: float
    most: float


class RetryScheduled(Event):
    """A turn waits `seconds` before its provider is asked again; `reason` is a FailureKind.

    After a fault that passes it is asked for the `repeat`-th of `repeats` times again; 0 where the provider
    is paused.
    """

    turn_id: str
    author: Author
    seconds: float
    reason: str
    provider: str = ""
    repeat: int = 0
    repeats: int = 0


class Notice(Event):
    """Something the user should know: `level` info, warning or error, `code` of `notice.<code>`.

    An empty `session_id` means it concerns the whole program; `sticky` that work may be lost.
    """

    level: str
    code: str
    details: Mapping[str, object] = field(default_factory=dict)
    sticky: bool = False


Listener = Callable[[tuple[Event, ...]], None]


class EventBus:
    """Calls every listener with each batch, in the order they subscribed, on the loop's thread."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Add a listener; the returned function removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def publish(self, *events: Event) -> None:
        """Pass one batch to every listener, also after one that fails; raise the first fault after that."""
        faults = []
        for listener in tuple(self._listeners):
            try:
                listener(events)
            except Exception as fault:
                faults.append(fault)
        if faults:
            raise faults[0]
