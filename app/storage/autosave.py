"""The listener that puts every change on the disk."""

from collections.abc import Callable

from app.core.events import Event, EventBus
from app.core.store import SessionStore


def autosave(bus: EventBus, store: SessionStore) -> Callable[[], None]:
    """Append every batch of the bus to its session's log; call what is returned to stop."""

    def save(events: tuple[Event, ...]) -> None:
        by_session: dict[str, list[Event]] = {}
        for event in events:
            if event.session_id:
                by_session.setdefault(event.session_id, []).append(event)
        for batch in by_session.values():
            store.append(tuple(batch))

    return bus.subscribe(save)
