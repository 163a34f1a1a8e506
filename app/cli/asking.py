"""Questions that a command asks its user before it changes what may run or what is stored."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from app.cli.follow import Call
from app.core.errors import BadInput

Result = TypeVar("Result")


async def asked(call: Call, question: str, *, secret: bool = False) -> str | None:
    """Return what the user types; None where nobody can be asked, or Ctrl-C was pressed instead."""
    return await unless_interrupted(call, call.out.ask(question, secret=secret))


async def unless_interrupted(call: Call, work: Awaitable[Result]) -> Result | None:
    """Return what is awaited; None, and nothing is awaited any more, where Ctrl-C was pressed before."""
    working = asyncio.ensure_future(work)
    interrupted = asyncio.ensure_future(call.interrupted.wait())
    try:
        await asyncio.wait({working, interrupted}, return_when=asyncio.FIRST_COMPLETED)
        return None if call.interrupted.is_set() else await working
    finally:
        for task in (working, interrupted):
            task.cancel()
        await asyncio.gather(working, interrupted, return_exceptions=True)


async def confirmed(call: Call, question: str) -> bool:
    """Say whether the user agrees, by `--yes` or by answering; anything but a yes is a no.

    Raises BadInput where nobody can be asked.
    """
    if call.arguments.yes:
        return True
    answer = None if call.arguments.json else await asked(call, f"{question} [y/N] ")
    if answer is None and not call.interrupted.is_set():
        raise BadInput("needs_yes")
    if (answer or "").strip().casefold() in call.texts("cli.yes_words").split():
        return True
    await call.out.complain(call.texts("cli.not_agreed"))
    return False
