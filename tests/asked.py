"""Where a command writes and what is answered to its questions; used by the tests of the command line."""

import asyncio

from app.cli.arguments import Arguments
from app.cli.commands.sessions import run_command
from app.wiring import Moot


class Answers:
    """Standard output and standard error, kept, and the user at the keyboard.

    Every question is answered with the next of the texts; None stands for nobody there. Without a text left the
    question waits.
    """

    def __init__(self, *answers: str | None) -> None:
        self.out = ""
        self.err: list[str] = []
        self.questions: list[tuple[str, bool]] = []
        self.asked = asyncio.Event()
        self.given_up = 0
        self._answers = list(answers)

    async def write(self, text: str) -> None:
        self.out += text

    async def complain(self, line: str) -> None:
        self.err.append(line)

    async def ask(self, question: str, *, secret: bool = False) -> str | None:
        self.questions.append((question, secret))
        self.asked.set()
        if not self._answers:
            try:
                await asyncio.Event().wait()
            finally:
                self.given_up += 1
        return self._answers.pop(0)


async def run(moot: Moot, arguments: Arguments, *answers: str | None) -> tuple[int, Answers]:
    """Run a command; return its status, and what it wrote and asked."""
    out = Answers(*answers)
    return await run_command(moot, arguments, out, asyncio.Event()), out
