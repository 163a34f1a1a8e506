"""A place where the words looked for stand in a session; made by the finder, marked by the rows."""

from dataclasses import dataclass

TEXT = "text"
THOUGHT = "thought"
ARGUMENTS = "arguments"
RESULT = "result"
REST = "rest"
"""What a row stands for but does not show letter by letter: files, questions, errors, a tool's name."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A found stretch of one of a row's texts: `part` says of which, `start` and `end` where in it as it reads."""

    row_id: str
    part: str
    start: int
    end: int

    @property
    def message_id(self) -> str:
        """The message the row is drawn from."""
        return self.row_id.partition("/")[0]
