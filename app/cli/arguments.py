"""The table of commands; a command line as data, and how it is read; the form of `-p SPEC`.

A command is a function: what its parameters say with `Typed` is its parser and its help. `Arguments` can be
converted to JSON and back, so that a command can be given to the Moot that holds the data directory.
"""

import argparse
import functools
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, ClassVar, NoReturn, get_args, get_origin

from app import __version__
from app.core.council import Participant
from app.core.errors import BadInput
from app.core.frozen import Frozen
from app.core.ids import new_id
from app.core.settings import MOST
from app.core.texts import LANGUAGES, Texts, command_name
from app.storage.paths import default_data_dir

# Up to which character a caller was told a message that it was told to its end.
TOLD_WHOLE = -1
# The commands in the order of the help, each with the module in `commands` and the function there. Where
# actions follow, each has a function, as `servers_allow`, and without an action `list` is meant. Commands
# without a function have no words of their own.
COMMANDS: Mapping[str, tuple[str, ...]] = {
    "debate": ("debates.debate",),
    "council": ("debates.council",),
    "ask": ("chats.ask",),
    "propose": ("chats.propose",),
    "workflow": ("chats.workflow",),
    "step": ("chats.step",),
    "give": ("chats.give",),
    "extend": ("debates.extend",),
    "reply": ("sessions.reply",),
    "retry": ("chats.retry",),
    "resume": ("sessions.resume",),
    "pause": ("sessions.pause",),
    "stop": ("sessions.stop",),
    "accept": ("sessions.accept",),
    "show": ("sessions.show",),
    "delete": ("stored_data.delete",),
    "files": ("stored_data.session_files",),
    "export": ("stored_data.export",),
    "import": ("stored_data.bring_in",),
    "backup": ("stored_data.back_up",),
    "restore": ("stored_data.restore",),
    "sessions": ("session_list.sessions",),
    "work": ("sessions.work",),
    "providers": ("providers.list_providers",),
    "panels": ("debates.list_panels",),
    "decisions": ("debates.list_decisions",),
    "journal": ("debates.list_decisions",),
    "decide": ("debates.decide",),
    "outcome": ("debates.note_outcome",),
    "blind": ("debates.blind",),
    "schedule": ("schedules.schedule", "list", "add", "remove", "pause", "resume", "run", "runs"),
    "doctor": ("",),
    "quit": ("",),
    "usage": ("providers.usage",),
    "mcp": ("",),
    "background": ("", "install", "remove", "status"),
    "servers": ("providers.servers", "list", "allow", "deny", "login", "logout", "log"),
    "memory": ("stored_data.memory", "list", "add", "remove"),
    "agents": ("providers.agents", "list", "add", "allow", "deny", "check"),
    "keys": ("providers.keys", "list", "set", "remove"),
    "skills": ("providers.skills", "list", "add", "show", "allow", "remove"),
    "models": ("providers.models", "list", "get", "remove", "check", "allow", "add"),
}
# Of those with a function these change nothing, and neither do the actions `list`, `runs` and `show`.
_READING = ("show", "files", "export", "sessions", "providers", "panels", "decisions", "journal", "usage")
_WITHOUT_JSON = ("pause", "stop", "delete", "export", "backup", "quit")


class Typed:
    """How a parameter of a command is typed: an option of these names; without names, a word by its place.

    Its help is `cli.help.<text>`, by default that of the parameter's name. Of those with `either` only one
    can be typed. `how` is for argparse.
    """

    def __init__(
        self, *names: str, text: str = "", choices: Iterable[str] = (), either: bool = False, **how: Any
    ) -> None:
        self.names = names
        self.text = text
        self.either = either
        self.how = {**how, "choices": [str(each) for each in choices]} if choices else how


def absolute(typed: str) -> str:
    """Return a path that means the same in another process, "" for none."""
    return str(Path(typed).absolute()) if typed else ""


# What several commands take.
Many = tuple[str, ...]
Text = Annotated[str, Typed(metavar="TEXT")]
SessionId = Annotated[str, Typed(text="session_id", metavar="SESSION")]
Files = Annotated[Many, Typed("--file", text="file", metavar="PATH", type=absolute)]
Folder = Annotated[str, Typed("--folder", metavar="NAME")]
AsItLooks = Annotated[bool, Typed("--as-it-looks")]
DoneMeans = Annotated[Many, Typed("--done-means", text="done_means", metavar="TEXT")]
Agreed = Annotated[bool, Typed("--yes", text="agree")]


class Arguments(Frozen):
    """One command line; without a command the window opens. Paths are absolute."""

    command: str = ""
    data_dir: str = ""
    language: str = ""
    theme: str = ""
    json: bool = False
    # The program that gives the command over MCP.
    caller: str = ""
    # What else was typed, by the parameters of the command's function, and `action` where there are actions.
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def root(self) -> Path:
        """The data directory."""
        return Path(self.data_dir) if self.data_dir else default_data_dir()

    @property
    def action(self) -> str:
        """Which of its actions a command shall do, "" where it has none."""
        return str(self.values.get("action", "list")) if len(COMMANDS[self.command]) > 1 else ""

    @property
    def writes(self) -> bool:
        """Whether the command changes something and so must run in the one writer of the data directory."""
        has_function = COMMANDS.get(self.command, ("",))[0] != ""
        return has_function and self.command not in _READING and self.action not in ("list", "runs", "show")

    def to_json(self) -> dict[str, object]:
        """Return the fields and the values as one JSON object."""
        return {**self.values, **{name: getattr(self, name) for name in _FIELDS}}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Arguments":
        """Read what `to_json` wrote. Raises ValueError for an unknown name or a wrong type.

        What a caller gives is checked when its command is carried out (`commands/calls`).
        """
        # Only the Moot that is given commands needs it.
        from app.storage.codec import check

        values = _with_tuples({name: value for name, value in record.items() if name not in _FIELDS})
        found = cls(values=values, **{name: record[name] for name in _FIELDS if name in record})
        kinds, wrong = dict(_FIELDS), []
        if not found.caller:
            try:
                kinds |= {name: kind for name, kind, _ in parameters_of(found.command, found.action)}
                kinds |= {"action": str} if found.action else {}
            except (KeyError, TypeError) as error:
                raise ValueError("$.command") from error
        for name, value in record.items():
            try:
                if name in kinds or not found.caller:
                    check(kinds[name], value)
            except (KeyError, ValueError):
                wrong.append(f"$.{name}")
        if wrong:
            raise ValueError(", ".join(wrong))
        return found


_FIELDS: Mapping[str, Any] = {each.name: each.type for each in fields(Arguments) if each.name != "values"}


def function_of(command: str, action: str) -> Callable[..., Any] | None:
    """Return the function of a command, whose module is imported, None where it has none.

    Raises KeyError for an unknown command, ValueError for an unknown action.
    """
    place, *actions = COMMANDS[command]
    if not place:
        return None
    module, name = place.split(".")
    if actions:
        name = f"{name}_{actions[actions.index(action)]}"
    found: Callable[..., Any] = getattr(import_module(f"app.cli.commands.{module}"), name)
    return found


def parameters_of(command: str, action: str) -> Iterator[tuple[str, Any, Typed]]:
    """Yield the parameters of a command's function that are typed: name, type and description."""
    function = function_of(command, action)
    for parameter in inspect.signature(function).parameters.values() if function else ():
        if get_origin(parameter.annotation) is Annotated:
            kind, typed = get_args(parameter.annotation)
            yield parameter.name, kind, typed


THEMES = ("light", "dark", "system")
_MODEL_TAG = re.compile(r"[A-Za-z0-9._@/+-]*")
MAX_QUOTED = 300
_WHAT = "argument (?P<what>[^:]+):"
# argparse's English messages, by the code of Moot's own text for each.
_COMPLAINTS = {
    "usage_missing": r"the following arguments are required: (?P<what>.+)",
    "usage_unknown": r"unrecognized arguments: (?P<what>.+)",
    "usage_choice": rf"{_WHAT} invalid choice: (?P<value>.+) \(choose from (?P<choices>.+)\)",
    "usage_number": rf"{_WHAT} invalid (?:int|whole) value: (?P<value>.+)",
    "usage_amount": rf"{_WHAT} invalid amount value: (?P<value>.+)",
    "usage_value": rf"{_WHAT} expected (?:one|at least one) argument",
    "usage_no_value": rf"{_WHAT} ignored explicit argument (?P<value>.+)",
}


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises BadInput, whose text is one line in the user's language.

    `own` are the texts that take the place of argparse's English ones in the help. `fill` adds what a command
    takes, once that command is read: the import of its module may take long.
    """

    own: ClassVar[Mapping[str, str]] = {}
    fill: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        # Python 3.14 would colour the help, whose words are then not found.
        self.color = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        self.fill()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        text = super().format_help()
        for english, words in self.own.items():
            text = text.replace(english, words, 1)
        return text

    def error(self, message: str) -> NoReturn:
        help_command = f"{self.prog} --help"
        for code, pattern in _COMPLAINTS.items():
            if found := re.fullmatch(pattern, message, re.DOTALL):
                raise BadInput(code, help=help_command, **_shortened(found.groupdict()))
        raise BadInput("usage", help=help_command, **_shortened({"detail": message}))


def amount(typed: str) -> float:
    """Read an amount of money. Raises ValueError."""
    found = float(typed)
    if not 0 < found < math.inf:
        raise ValueError
    return found


def whole(typed: str) -> int:
    """Read a number of minutes or calls. Raises ValueError."""
    found = int(typed)
    if not 0 < found <= MOST:
        raise ValueError
    return found


def _shortened(blanks: Mapping[str, str]) -> dict[str, str]:
    """Return parts of the command line for a message: shortened, but for what can be chosen,
    and without what looks like a key.
    """
    from app.storage.secrets import Redactor

    redact = Redactor().redact
    return {name: text if name == "choices" else redact(text)[:MAX_QUOTED] for name, text in blanks.items()}


def parse_arguments(arguments: Sequence[str], texts: Texts) -> Arguments:
    """Read a command line. Raises BadInput; exits with 0 after `--help`."""
    parser = _parser(texts, arguments[0] if arguments else "")
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown and parsed.command == "keys":
        # It may be a key, so it is not repeated.
        raise BadInput("key_as_argument")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    given = vars(parsed).items()
    typed = _with_tuples({name: value for name, value in given if value is not None and value is not False})
    own = {name: typed.pop(name) for name in _FIELDS if name in typed}
    if words := typed.get("words"):
        # It is given later, by a process that is in another folder.
        typed["words"] = _with_full_paths(words, parse_arguments(words, texts).values)
    return Arguments(**own, values=typed)


def _with_full_paths(words: Sequence[str], values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the words of a command whose values these are, with full paths."""
    read = {each for value in values.values() for each in (value if isinstance(value, tuple) else (value,))}
    whole = []
    for word in words:
        option, equals, path = word.partition("=") if word.startswith("--") else ("", "", word)
        whole.append(f"{option}{equals}{absolute(path)}" if absolute(path) in read else word)
    return tuple(whole)


def _with_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def wanted_language(arguments: Sequence[str]) -> str:
    """Return the value of `--lang`, so that errors in the other arguments are in that language too."""
    for index, argument in enumerate(arguments):
        if argument.startswith("--lang="):
            return argument.partition("=")[2]
        if argument == "--lang" and index + 1 < len(arguments):
            return arguments[index + 1]
    return ""


def parse_spec(spec: str, roles: Sequence[str]) -> Participant:
    """Read one `-p SPEC`: `NAME=PROVIDER/MODEL` or `NAME=PROVIDER/MODEL:ROLE`. Raises BadInput.

    NAME ends at the first `=`, PROVIDER at the first `/` after it. A model's name may contain colons
    (`llama3.2:3b`), so ROLE follows the first `:` after which comes one of `roles`, or a part with a
    character that no model name has, such as a space or a Korean letter.
    """
    name, equals, rest = spec.partition("=")
    provider, slash, model = rest.partition("/")
    if not (name.strip() and equals and provider.strip() and slash):
        raise BadInput("bad_spec", spec=spec)
    model, role = _split_role(model, roles)
    if not model.strip():
        raise BadInput("bad_spec", spec=spec)
    seat = {"provider": provider.strip(), "model": model.strip()}
    return Participant(id=new_id(), name=name.strip(), role=role, **seat)


def _split_role(text: str, roles: Sequence[str]) -> tuple[str, str]:
    parts = text.split(":")
    for index in range(1, len(parts)):
        role = ":".join(parts[index:]).strip()
        if role in roles or not _MODEL_TAG.fullmatch(parts[index]):
            return ":".join(parts[:index]), role
    return text, ""


def _parser(texts: Texts, first: str) -> _Parser:
    """Return the parser of the command that stands first, of all commands where none does:
    making all takes longer than listing a thousand sessions.
    """
    _Parser.own = {
        "usage: ": f"{texts('cli.heading.usage')}: ",
        "\npositional arguments:\n": f"\n{texts('cli.heading.arguments')}:\n",
        "\noptions:\n": f"\n{texts('cli.heading.options')}:\n",
        "show this help message and exit": texts("cli.heading.help"),
    }

    def add(to: argparse._ActionsContainer, *names: str, text: str, **how: Any) -> None:
        to.add_argument(*names, help=texts(f"cli.help.{text}").replace("%", "%%"), **how)

    def common(*, default: object = argparse.SUPPRESS) -> _Parser:
        options = _Parser(add_help=False, argument_default=default)
        add(options, "--data-dir", text="data_dir", metavar="DIR", dest="data_dir", type=absolute)
        add(options, "--lang", text="lang", choices=LANGUAGES, dest="language")
        return options

    for_all = common()

    def add_command(to: Any, command: str, action: str = "") -> None:
        words = texts(f"cli.help.{command}.{action}" if action else f"cli.help.{command}")
        how = {"help": words, "description": words, "allow_abbrev": False, "parents": [for_all]}
        made: _Parser = to.add_parser(action or command, **how)
        made.fill = functools.partial(fill, made, command, action)

    def fill(made: _Parser, command: str, action: str) -> None:
        if command not in _WITHOUT_JSON:
            add(made, "--json", text="json", action="store_true", default=argparse.SUPPRESS)
        if (actions := COMMANDS[command][1:]) and not action:
            what = texts("cli.help.what")
            parts = made.add_subparsers(dest="action", metavar="ACTION", parser_class=_Parser, help=what)
            for each in actions:
                add_command(parts, command, each)
            return
        ways: argparse._ActionsContainer | None = None
        for name, kind, typed in parameters_of(command, action):
            how = {"dest": name, **typed.how} if typed.names else dict(typed.how)
            if kind is bool:
                how["action"] = "store_true"
            elif typed.names and get_origin(kind) is tuple:
                how["action"] = "append"
            if typed.either:
                ways = ways or made.add_mutually_exclusive_group()
            to = ways if typed.either and ways else made
            add(to, *(typed.names or (name,)), text=typed.text or name, **how)

    name, words, always = command_name(), texts("cli.help.moot"), common(default=None)
    parser = _Parser(prog=name, description=words, allow_abbrev=False, parents=[always])
    add(parser, "--version", text="version", action="version", version=f"Moot {__version__}")
    add(parser, "--theme", text="theme", choices=THEMES)
    # `--json` may stand before or after the command.
    add(parser, "--json", text="json", action="store_true")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for command in (first,) if first in COMMANDS else COMMANDS:
        add_command(commands, command)
    return parser
