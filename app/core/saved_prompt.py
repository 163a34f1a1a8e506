"""Prompts that the user keeps: texts with variables such as {topic}, called by a / in the message box."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_VARIABLE = re.compile(r"\{(\w[\w -]{0,39})\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedPrompt:
    """A text with a name; words in braces are variables."""

    id: str
    name: str
    text: str
    version: int = 1
    kind: str = "saved_prompt"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in the order in which the text names them, each once."""
        return tuple(dict.fromkeys(_VARIABLE.findall(self.text)))

    @property
    def long_variables(self) -> frozenset[str]:
        """The variables that have a line to themselves, as a text to translate has: their values may be long."""
        lines = (_VARIABLE.fullmatch(line.strip()) for line in self.text.splitlines())
        return frozenset(match[1] for match in lines if match is not None)

    def titled(self, variable: str) -> str:
        """Return a variable as it is shown."""
        return variable

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the text with a value for each variable; one without a value stays as it is."""
        return _VARIABLE.sub(lambda match: values.get(match[1]) or match[0], self.text)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPrompt(SavedPrompt):
    """A prompt of an MCP server, which makes its text; `name` is how it is called, `key` what the server calls it.

    `arguments` are the server's names of its variables, with their titles.
    """

    server: str
    key: str
    arguments: tuple[tuple[str, str], ...] = ()
    kind: str = "server_prompt"

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables in the server's order."""
        return tuple(name for name, _ in self.arguments)

    def titled(self, variable: str) -> str:
        """Return a variable as it is shown."""
        return dict(self.arguments)[variable]
