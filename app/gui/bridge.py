"""From engine events to Qt signals: one signal a kind of event, deltas gathered once a frame."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.core.events import (
    AssistantsChanged,
    AvailabilityChanged,
    CallsStreamed,
    Event,
    EventBus,
    GroupsChanged,
    KeysChanged,
    MessageDelta,
    MessageFinished,
    MessageStarted,
    ModelsChanged,
    Notice,
    PlanChanged,
    PromptAsked,
    RetryScheduled,
    ServersChanged,
    SessionChanged,
    SessionDeleted,
    SessionRestored,
    SessionStarted,
    StepChanged,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
    UsageReported,
    WorkflowsChanged,
)

FRAME_MS = 16
CROWDED_FRAME_MS = 33


class Bridge(QObject):
    """Re-emits the bus's events as typed signals; what streams arrives at most once a frame.

    `text_arrived` carries session id, message id, text and thinking; the rest carry their event.
    """

    session_started = Signal(object)
    session_changed = Signal(object)
    session_deleted = Signal(object)
    session_restored = Signal(object)
    turn_started = Signal(object)
    turn_finished = Signal(object)
    message_started = Signal(object)
    message_finished = Signal(object)
    text_arrived = Signal(str, str, str, str)
    calls_streamed = Signal(object)
    tool_started = Signal(object)
    tool_finished = Signal(object)
    prompt_asked = Signal(object)
    usage_reported = Signal(object)
    retry_scheduled = Signal(object)
    notice_given = Signal(object)
    plan_changed = Signal(object)
    step_changed = Signal(object)
    availability_changed = Signal(object)
    assistants_changed = Signal()
    groups_changed = Signal()
    workflows_changed = Signal()
    servers_changed = Signal()
    keys_changed = Signal()
    models_changed = Signal()

    def __init__(self, bus: EventBus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pending: dict[str, tuple[str, list[str], list[str]]] = {}
        self._calls: dict[str, CallsStreamed] = {}
        self._fresh: set[str] = set()
        self._frame = QTimer(self)
        self._frame.setSingleShot(True)
        self._frame.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame.timeout.connect(self._on_frame)
        self._signals: dict[type[Event], Callable[[Any], None]] = {
            SessionStarted: self.session_started.emit,
            SessionChanged: self.session_changed.emit,
            SessionDeleted: self.session_deleted.emit,
            SessionRestored: self.session_restored.emit,
            TurnStarted: self.turn_started.emit,
            TurnFinished: self.turn_finished.emit,
            MessageStarted: self._on_message_started,
            MessageDelta: self._on_delta,
            MessageFinished: self._on_message_finished,
            CallsStreamed: self._on_calls,
            ToolStarted: self.tool_started.emit,
            ToolFinished: self.tool_finished.emit,
            PromptAsked: self.prompt_asked.emit,
            UsageReported: self.usage_reported.emit,
            RetryScheduled: self.retry_scheduled.emit,
            Notice: self.notice_given.emit,
            PlanChanged: self.plan_changed.emit,
            StepChanged: self.step_changed.emit,
            AvailabilityChanged: self.availability_changed.emit,
            WorkflowsChanged: lambda _event: self.workflows_changed.emit(),
            AssistantsChanged: lambda _event: self.assistants_changed.emit(),
            GroupsChanged: lambda _event: self.groups_changed.emit(),
            ServersChanged: lambda _event: self.servers_changed.emit(),
            KeysChanged: lambda _event: self.keys_changed.emit(),
            ModelsChanged: lambda _event: self.models_changed.emit(),
        }
        self._unsubscribe = bus.subscribe(self._on_events)

    def flush(self) -> None:
        """Hand over what has piled up now: who reads a session anew would else get it twice."""
        self._frame.stop()
        self._on_frame()

    def close(self) -> None:
        """Stop listening and drop what has not been shown."""
        self._unsubscribe()
        self._frame.stop()
        self._pending.clear()
        self._calls.clear()

    def _on_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            emit = self._signals.get(type(event))
            if emit is not None:
                emit(event)

    def _on_message_started(self, event: MessageStarted) -> None:
        self._fresh.add(event.message.id)
        self.message_started.emit(event)

    def _on_delta(self, event: MessageDelta) -> None:
        if event.message_id in self._fresh:
            # The first words of a message are shown at once; nobody waits a frame for them.
            self._fresh.discard(event.message_id)
            self.text_arrived.emit(event.session_id, event.message_id, event.text, event.thinking)
            return
        _, text, thinking = self._pending.setdefault(event.message_id, (event.session_id, [], []))
        text.append(event.text)
        thinking.append(event.thinking)
        self._wait_a_frame()

    def _on_calls(self, event: CallsStreamed) -> None:
        # Each carries the whole of the calls so far: only the newest of a frame is shown.
        self._calls[event.message_id] = event
        self._wait_a_frame()

    def _on_message_finished(self, event: MessageFinished) -> None:
        self._fresh.discard(event.message.id)
        self._hand_over(event.message.id)
        self.message_finished.emit(event)

    def _wait_a_frame(self) -> None:
        if not self._frame.isActive():
            self._frame.start(FRAME_MS if len(self._pending) < 2 else CROWDED_FRAME_MS)

    def _on_frame(self) -> None:
        for message_id in (*self._pending, *self._calls):
            self._hand_over(message_id)

    def _hand_over(self, message_id: str) -> None:
        calls = self._calls.pop(message_id, None)
        pending = self._pending.pop(message_id, None)
        if pending is not None:
            session_id, text, thinking = pending
            self.text_arrived.emit(session_id, message_id, "".join(text), "".join(thinking))
        if calls is not None:
            self.calls_streamed.emit(calls)
