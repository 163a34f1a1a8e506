"""Waiting for what the user asked for: where it takes more than a moment it is said, with a way to cancel it."""

import asyncio
from collections.abc import Coroutine

from app.gui.display.i18n import Language
from app.gui.widgets.toast import Toast, Toasts

NOTE_AFTER_S = 0.5


async def with_note(
    toasts: Toasts, words: Language, text: str, work: Coroutine[object, object, object]
) -> bool:
    """Await work, under a note where it takes longer; say whether it was done and not cancelled."""
    task = asyncio.ensure_future(work)
    notes: list[Toast] = []

    def show_note() -> None:
        notes.append(toasts.show_toast(text, words("dialog.cancel"), task.cancel, undoes=False, stays=True))

    timer = asyncio.get_running_loop().call_later(NOTE_AFTER_S, show_note)
    waits = asyncio.current_task()
    try:
        await task
    except asyncio.CancelledError:
        # Who closes the window cancels the waiting, not the work.
        if waits is not None and waits.cancelling():
            raise
        return False
    finally:
        timer.cancel()
        for note in notes:
            note.leave()
    return True
