"""Engine events as Qt signals: a signal for each kind of event, named after it; streamed text once a
frame.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from app.core.events import CallsStreamed, Event, EventBus, MessageDelta, MessageFinished, MessageStarted

FRAME_MS = 16


class Bridge(QObject):
    """Emits the events of the bus as signals.
    An event that the window needs has a signal here, named after its class.

    `text_arrived` carries session id, message id, text and thinking, at most once a frame (16 ms) for a
    message; the other signals carry their event.
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
    tool_progressed = Signal(object)
    prompt_asked = Signal(object)
    limit_near = Signal(object)
    retry_scheduled = Signal(object)
    notice = Signal(object)
    plan_changed = Signal(object)
    file_written = Signal(object)
    memory_proposed = Signal(object)
    memory_changed = Signal(object)
    step_changed = Signal(object)
    availability_changed = Signal(object)
    assistants_changed = Signal(object)
    groups_changed = Signal(object)
    folders_changed = Signal(object)
    saved_prompts_changed = Signal(object)
    schedules_changed = Signal(object)
    schedule_missed = Signal(object)
    skills_changed = Signal(object)
    workflows_changed = Signal(object)
    panels_changed = Signal(object)
    journal_changed = Signal(object)
    servers_changed = Signal(object)
    keys_changed = Signal(object)
    models_changed = Signal(object)
    voting_checked = Signal(object)
    model_fetching = Signal(object)

    def __init__(self, bus: EventBus, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pending: dict[str, tuple[str, list[str], list[str]]] = {}
        self._calls: dict[str, CallsStreamed] = {}
        self._fresh: set[str] = set()
        self._frame = QTimer(self, singleShot=True)
        self._frame.setTimerType(Qt.TimerType.PreciseTimer)
        self._frame.timeout.connect(self._on_frame)
        # Streamed text is gathered; the start and end of a message must stay in order with it.
        self._gathered: dict[type[Event], Callable[[Any], None]] = {
            MessageStarted: self._on_message_started,
            MessageDelta: self._on_delta,
            MessageFinished: self._on_message_finished,
            CallsStreamed: self._on_calls,
        }
        self._unsubscribe = bus.subscribe(self._on_events)

    def flush(self) -> None:
        """Emit gathered text now, so that whoever reads a session next does not get it twice."""
        self._frame.stop()
        self._on_frame()

    def close(self) -> None:
        """Stop listening and drop gathered text."""
        self._unsubscribe()
        self._frame.stop()
        self._pending.clear()
        self._calls.clear()

    def _on_events(self, events: tuple[Event, ...]) -> None:
        for event in events:
            gather = self._gathered.get(type(event))
            signal = getattr(self, _signal_of(type(event).__name__), None)
            if gather is not None:
                gather(event)
            elif signal is not None:
                signal.emit(event)

    def _on_message_started(self, event: MessageStarted) -> None:
        self._hand_over(event.message.id)
        self._fresh.add(event.message.id)
        self.message_started.emit(event)

    def _on_delta(self, event: MessageDelta) -> None:
        if event.message_id in self._fresh:
            # The first words of a message are shown without waiting for a frame.
            self._fresh.discard(event.message_id)
            self.text_arrived.emit(event.session_id, event.message_id, event.text, event.thinking)
            return
        _, text, thinking = self._pending.setdefault(event.message_id, (event.session_id, [], []))
        text.append(event.text)
        thinking.append(event.thinking)
        self._wait_a_frame()

    def _on_calls(self, event: CallsStreamed) -> None:
        # Each event has all calls so far: only the last one of a frame is shown.
        self._calls[event.message_id] = event
        self._wait_a_frame()

    def _on_message_finished(self, event: MessageFinished) -> None:
        self._fresh.discard(event.message.id)
        self._hand_over(event.message.id)
        self.message_finished.emit(event)

    def _wait_a_frame(self) -> None:
        if not self._frame.isActive():
            self._frame.start(FRAME_MS if len(self._pending) < 2 else 33)

    def _on_frame(self) -> None:
        for message_id in (*self._pending, *self._calls):
            self._hand_over(message_id)

    def _hand_over(self, message_id: str) -> None:
        calls = self._calls.pop(message_id, None)
        if (pending := self._pending.pop(message_id, None)) is not None:
            session_id, text, thinking = pending
            self.text_arrived.emit(session_id, message_id, "".join(text), "".join(thinking))
        if calls is not None:
            self.calls_streamed.emit(calls)


@cache
def _signal_of(event: str) -> str:
    """Return the name of the signal of an event class: `plan_changed` for `PlanChanged`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()
