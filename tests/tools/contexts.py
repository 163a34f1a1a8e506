"""What the tests of the tools give a running tool: a context of plain data."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.message import Author, Message, Prompt
from app.core.session import AgentMode
from app.core.tool import ToolProgress

ANN = Author(id="ann", name="Ann")


@dataclass
class Context:
    """A session as a tool sees it."""

    log: Sequence[Message] = ()
    pages: Sequence[str] = ()
    session_id: str = "session"
    author: Author = ANN
    message_id: str = "m1"
    mode: str = AgentMode.DEFAULT

    def messages(self) -> Sequence[Message]:
        return self.log

    def report(self, progress: ToolProgress) -> None:
        pass

    async def ask(self, prompt: Prompt) -> str | None:
        raise AssertionError("no tool of these asks while it runs")
