"""One command line as data, and how it is read: commands, options, and the form of `-p SPEC`.

`Arguments` can be converted to JSON and back, so that a command can be given to the Moot that holds the data
directory.
"""

import argparse
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from app import __version__
from app.core.errors import BadInput
from app.core.session import CLASSIC_MODES, DEFAULT_ROUNDS, AgentMode, DebateTools, ExportFormat
from app.core.texts import LANGUAGES, Texts
from app.core.usage import Effort
from app.storage.paths import default_data_dir

# Up to which character a caller was told a message that it was told to its end.
TOLD_WHOLE = -1


class CommandName(StrEnum):
    """The commands; without one the window opens."""

    ASK = "ask"
    DEBATE = "debate"
    COUNCIL = "council"
    EXTEND = "extend"
    REPLY = "reply"
    RETRY = "retry"
    WORKFLOW = "workflow"
    STEP = "step"
    RESUME = "resume"
    PAUSE = "pause"
    STOP = "stop"
    DELETE = "delete"
    SESSIONS = "sessions"
    SHOW = "show"
    EXPORT = "export"
    IMPORT = "import"
    BACKUP = "backup"
    RESTORE = "restore"
    PROVIDERS = "providers"
    PANELS = "panels"
    JOURNAL = "journal"
    DOCTOR = "doctor"
    USAGE = "usage"
    SERVERS = "servers"
    AGENTS = "agents"
    KEYS = "keys"
    MODELS = "models"
    MCP = "mcp"
    BACKGROUND = "background"


class BallotTimes(StrEnum):
    """When the participants of a debate vote: at its end, or before it and after each round."""

    FINAL = "final"
    ROUNDS = "rounds"


class CouncilStepName(StrEnum):
    """What a council can be asked to do further."""

    DEBATE = "debate"
    ARGUE = "argue"
    STRESS = "stress"
    CHECK = "check"
    JOIN = "join"
    SOLO = "solo"
    JUDGE = "judge"
    COMPARE = "compare"
    MERGE = "merge"


class Action(StrEnum):
    """The second word of a command that has one."""

    LIST = "list"
    ALLOW = "allow"
    DENY = "deny"
    LOGIN = "login"
    LOGOUT = "logout"
    LOG = "log"
    SET = "set"
    GET = "get"
    ADD = "add"
    CHECK = "check"
    REMOVE = "remove"
    RETRY = "retry"
    SKIP = "skip"
    ACCEPT = "accept"


# These have actions; without one, and with `list`, they change nothing.
DIVIDED = (CommandName.SERVERS, CommandName.AGENTS, CommandName.KEYS, CommandName.MODELS)
# These have no words of their own.
PLAIN = tuple(CommandName(one) for one in ("providers", "panels", "journal", "doctor", "usage"))
# These start Moot without a window.
STARTING = (CommandName.MCP, CommandName.BACKGROUND)
_READING = frozenset(
    (*DIVIDED, *PLAIN, *STARTING, *(CommandName(one) for one in ("sessions", "show", "export")))
)
WRITING = tuple(one for one in CommandName if one not in _READING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """One command line; without a command the window opens. Paths are absolute. A `caller` over MCP was told what is `seen`."""

    command: str = ""
    data_dir: str = ""
    language: str = ""
    theme: str = ""
    json: bool = False
    session: str = ""
    assistant: str = ""
    definition: str = ""
    step: str = ""
    action: str = ""
    name: str = ""
    text: str = ""
    participants: tuple[str, ...] = ()
    mode: str = ""
    rounds: int | None = None
    seed: int | None = None
    ballots: str = ""
    verdict: bool = False
    tools: str = DebateTools.NONE.value
    no_differences: bool = False
    debate: bool = False
    max_usd: float = 0.0
    panel: str = ""
    option: str = ""
    count: int = 0
    judge: str = ""
    context: tuple[str, ...] = ()
    folder: str = ""
    format: str = ""
    output: str = ""
    files: tuple[str, ...] = ()
    as_it_looks: bool = False
    effort: str = ""
    model: str = ""
    yes: bool = False
    client_id: str = ""
    skip_turn: bool = False
    without: str = ""
    caller: str = ""
    seen: tuple[str, ...] = ()

    @property
    def root(self) -> Path:
        """The data directory."""
        return Path(self.data_dir) if self.data_dir else default_data_dir()

    @property
    def writes(self) -> bool:
        """Whether the command changes something and so must run in the one writer of the data directory."""
        return self.command in WRITING or (self.command in DIVIDED and self.action not in ("", Action.LIST))

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> "Arguments":
        """Read what `to_json` wrote. Raises ValueError for an unknown field or a wrong type."""
        # Only the Moot that is given commands needs it.
        from app.storage.codec import Wrong, is_known, read

        wrong: list[Wrong] = []
        found = read(cls, values, wrong)
        if found is None or wrong or not is_known(cls, dict(values)):
            raise ValueError(", ".join(field.path for field in wrong) or "unknown field")
        return found


THEMES = ("light", "dark", "system")
_MODEL_TAG = re.compile(r"[A-Za-z0-9._@/+-]*")
MAX_QUOTED = 300
# argparse's English messages, with the code of Moot's own text for each.
_COMPLAINTS = tuple(
    (code, re.compile(pattern, re.DOTALL))
    for code, pattern in (
        ("usage_missing", r"the following arguments are required: (?P<what>.+)"),
        ("usage_unknown", r"unrecognized arguments: (?P<what>.+)"),
        ("usage_choice", r"argument (?P<what>[^:]+): invalid choice: (?P<value>.+) \(choose from (?P<choices>.+)\)"),
        ("usage_number", r"argument (?P<what>[^:]+): invalid int value: (?P<value>.+)"),
        ("usage_amount", r"argument (?P<what>[^:]+): invalid _amount value: (?P<value>.+)"),
        ("usage_value", r"argument (?P<what>[^:]+): expected (?:one|at least one) argument"),
        ("usage_no_value", r"argument (?P<what>[^:]+): ignored explicit argument (?P<value>.+)"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A participant of a debate as typed: `NAME=PROVIDER/MODEL` or `NAME=PROVIDER/MODEL:ROLE`."""

    name: str
    provider: str
    model: str
    role: str = ""


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser that raises BadInput, whose text is one line in the user's language.

    `own` are the texts that take the place of argparse's English ones in the help.
    """

    own: ClassVar[Mapping[str, str]] = {}

    def format_help(self) -> str:
        text = super().format_help()
        for english, words in self.own.items():
            text = text.replace(english, words, 1)
        return text

    def error(self, message: str) -> NoReturn:
        help_command = f"{self.prog} --help"
        for code, pattern in _COMPLAINTS:
            if found := pattern.fullmatch(message):
                raise BadInput(code, help=help_command, **_shortened(found.groupdict()))
        raise BadInput("usage", help=help_command, **_shortened({"detail": message}))


def _amount(typed: str) -> float:
    """Read an amount of money. Raises ValueError."""
    amount = float(typed)
    if not 0 < amount < math.inf:
        raise ValueError
    return amount


def _shortened(blanks: Mapping[str, str]) -> dict[str, str]:
    """Return parts of the command line for a message: shortened, and without what looks like a key."""
    from app.storage.redaction import Redactor

    redact = Redactor().redact
    return {name: redact(text)[:MAX_QUOTED] for name, text in blanks.items()}


def parse_arguments(arguments: Sequence[str], texts: Texts) -> Arguments:
    """Read a command line. Raises BadInput; exits with 0 after `--help`."""
    parser = _parser(texts, arguments[0] if arguments else "")
    parsed, unknown = parser.parse_known_args(arguments)
    values = vars(parsed)
    if unknown and values["command"] == CommandName.KEYS:
        # It may be a key, so it is not repeated.
        raise BadInput("key_as_argument")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    for name in ("participants", "context", "files"):
        values[name] = tuple(values.get(name) or ())
    for name in ("context", "files"):
        values[name] = tuple(str(Path(path).absolute()) for path in values[name])
    for name in ("data_dir", "output"):
        if values.get(name):
            values[name] = str(Path(values[name]).absolute())
    return Arguments(**{name: value for name, value in values.items() if value is not None})


def wanted_language(arguments: Sequence[str]) -> str:
    """Return the value of `--lang`, so that errors in the other arguments are in that language too."""
    for index, argument in enumerate(arguments):
        if argument.startswith("--lang="):
            return argument.partition("=")[2]
        if argument == "--lang" and index + 1 < len(arguments):
            return arguments[index + 1]
    return ""


def parse_spec(spec: str, roles: Sequence[str]) -> Spec:
    """Read one `-p SPEC`. Raises BadInput.

    NAME ends at the first `=`, PROVIDER at the first `/` after it. A model's name may contain colons
    (`llama3.2:3b`), so ROLE follows the first `:` after which comes one of `roles`, or a part with a character
    that no model name has, such as a space or a Korean letter.
    """
    name, equals, rest = spec.partition("=")
    provider, slash, model = rest.partition("/")
    if not (name.strip() and equals and provider.strip() and slash):
        raise BadInput("bad_spec", spec=spec)
    model, role = _split_role(model, roles)
    if not model.strip():
        raise BadInput("bad_spec", spec=spec)
    return Spec(name=name.strip(), provider=provider.strip(), model=model.strip(), role=role)


def _split_role(text: str, roles: Sequence[str]) -> tuple[str, str]:
    parts = text.split(":")
    for index in range(1, len(parts)):
        role = ":".join(parts[index:]).strip()
        if role in roles or not _MODEL_TAG.fullmatch(parts[index]):
            return ":".join(parts[:index]), role
    return text, ""


def _parser(texts: Texts, first: str) -> _Parser:
    """Return the parser of the command that stands first, of all commands where none does: making all takes longer than
    listing a thousand sessions.
    """
    _Parser.own = {
        "usage: ": f"{texts('cli.heading.usage')}: ",
        "\npositional arguments:\n": f"\n{texts('cli.heading.arguments')}:\n",
        "\noptions:\n": f"\n{texts('cli.heading.options')}:\n",
        "show this help message and exit": texts("cli.heading.help"),
    }

    def add(to: argparse._ActionsContainer, *names: str, text: str, **options: Any) -> None:
        to.add_argument(*names, help=texts(f"cli.help.{text}"), **options)

    def common(*, default: object = argparse.SUPPRESS) -> _Parser:
        options = _Parser(add_help=False, argument_default=default)
        add(options, "--data-dir", text="data_dir", metavar="DIR", dest="data_dir")
        add(options, "--lang", text="lang", choices=LANGUAGES, dest="language")
        return options

    for_all = common()

    def add_command(to: Any, name: str, text: str, *, json: bool = True) -> _Parser:
        words = texts(f"cli.help.{text}")
        made: _Parser = to.add_parser(
            name, help=words, description=words, allow_abbrev=False, parents=[for_all]
        )
        if json:
            add(made, "--json", text="json", action="store_true", default=argparse.SUPPRESS)
        return made

    parser = _Parser(
        prog="moot", description=texts("cli.help.moot"), allow_abbrev=False, parents=[common(default=None)]
    )
    add(parser, "--version", text="version", action="version", version=f"Moot {__version__}")
    add(parser, "--theme", text="theme", choices=THEMES)
    # `--json` may stand before or after the command.
    add(parser, "--json", text="json", action="store_true")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)
    for name in [name for name in _COMMANDS if name == first] or _COMMANDS:
        made = add_command(commands, name.value, name, json=name not in _WITHOUT_JSON)
        if name in _OF_A_SESSION:
            add(made, "session", text="session_id", metavar="SESSION")
        _COMMANDS[name](made, add)
        if name not in DIVIDED:
            continue
        parts = made.add_subparsers(
            dest="action", metavar="ACTION", parser_class=_Parser, help=texts("cli.help.what")
        )
        for action, argument in {Action.LIST: "", **_ACTIONS[name]}.items():
            part = add_command(parts, action.value, f"{name}.{action}")
            if argument:
                add(part, "name", text=f"{name}.name", metavar=argument)
            if action in _AGREED[name]:
                add(part, "--yes", text="agree", action="store_true")
            if action == Action.LOGIN:
                add(part, "--client-id", text="client_id", metavar="ID")
    return parser


def _nothing(_made: _Parser, _add: "_Add") -> None:
    """Add nothing: the command has no words of its own."""


def _debate(made: _Parser, add: "_Add") -> None:
    add(made, "text", text="topic", metavar="TOPIC")
    _participants(made, add, "participant")
    add(made, "--mode", text="mode", choices=[mode.value for mode in CLASSIC_MODES])
    add(made, "--rounds", text="rounds", type=int, default=DEFAULT_ROUNDS, metavar="1..10")
    add(made, "--seed", text="seed", type=int, metavar="N")
    add(made, "--ballots", text="ballots", choices=[*BallotTimes])
    add(made, "--verdict", text="verdict", action="store_true")
    add(made, "--judge", text="debate_judge", metavar="PROVIDER/MODEL")
    add(made, "--tools", text="debate_tools", choices=list(DebateTools), default=DebateTools.NONE)
    add(made, "--context", text="context", action="append", metavar="FILE")
    _folder(made, add)
    _as_it_looks(made, add)


def _council(made: _Parser, add: "_Add") -> None:
    add(made, "text", text="question", metavar="QUESTION")
    _participants(made, add, "council_participant")
    add(made, "--panel", text="panel", metavar="NAME")
    add(made, "--file", text="council_file", action="append", metavar="PATH", dest="files")
    add(made, "--no-differences", text="no_differences", action="store_true")
    add(made, "--debate", text="council_debate", action="store_true")
    add(made, "--rounds", text="council_rounds", type=int, metavar="1..5")
    add(made, "--judge", text="council_judge", metavar="PROVIDER/MODEL")
    add(made, "--tools", text="council_tools", choices=[*DebateTools][:2], default=DebateTools.NONE)
    add(made, "--seed", text="council_seed", type=int, metavar="N")
    add(made, "--max-usd", text="max_usd", type=_amount, metavar="X")
    _folder(made, add)
    _as_it_looks(made, add)


def _ask(made: _Parser, add: "_Add") -> None:
    add(made, "assistant", text="who", metavar="WHO")
    add(made, "text", text="text", metavar="TEXT")
    add(made, "--session", text="session", metavar="ID")
    add(made, "--effort", text="effort", choices=_EFFORTS)
    add(made, "--mode", text="ask_mode", choices=[mode.value for mode in AgentMode])
    _folder(made, add)
    _files(made, add)
    _as_it_looks(made, add)


def _workflow(made: _Parser, add: "_Add") -> None:
    add(made, "text", text="work", metavar="COMMAND")
    add(made, "--definition", text="definition", metavar="ID")


def _step(made: _Parser, add: "_Add") -> None:
    add(made, "step", text="step_id", metavar="STEP")
    actions = [action.value for action in (Action.RETRY, Action.SKIP, Action.ACCEPT)]
    add(made, "action", text="action", choices=actions)


def _extend(made: _Parser, add: "_Add") -> None:
    add(made, "action", text="council_step", choices=[*CouncilStepName])
    add(made, "--rounds", text="extend_rounds", type=int, metavar="1..5")
    add(made, "--judge", text="council_judge", metavar="PROVIDER/MODEL")
    add(made, "--option", text="extend_option", metavar="LETTER")


def _reply(made: _Parser, add: "_Add") -> None:
    add(made, "text", text="text", metavar="TEXT")
    _files(made, add)
    _as_it_looks(made, add)


def _retry(made: _Parser, add: "_Add") -> None:
    add(made, "--model", text="retry_model", metavar="PROVIDER/MODEL")
    add(made, "--effort", text="retry_effort", choices=_EFFORTS)


def _resume(made: _Parser, add: "_Add") -> None:
    ways = made.add_mutually_exclusive_group()
    add(ways, "--skip-turn", text="skip_turn", action="store_true")
    add(ways, "--without", text="without", metavar="NAME")


def _export(made: _Parser, add: "_Add") -> None:
    add(made, "--format", text="format", choices=[form.value for form in ExportFormat], required=True)
    add(made, "-o", "--output", text="output", metavar="FILE")


def _import(made: _Parser, add: "_Add") -> None:
    add(made, "files", text="import_file", nargs="+", metavar="FILE")


def _backup(made: _Parser, add: "_Add") -> None:
    add(made, "output", text="backup_file", nargs="?", metavar="FILE")


def _restore(made: _Parser, add: "_Add") -> None:
    add(made, "files", text="restore_file", nargs=1, metavar="FILE")
    add(made, "--yes", text="yes", action="store_true")


def _sessions(made: _Parser, add: "_Add") -> None:
    add(made, "--folder", text="folder_listed", metavar="NAME")


def _participants(made: _Parser, add: "_Add", text: str) -> None:
    add(made, "-p", "--participant", text=text, action="append", metavar="SPEC", dest="participants")


def _folder(made: _Parser, add: "_Add") -> None:
    add(made, "--folder", text="folder", metavar="NAME")


def _files(made: _Parser, add: "_Add") -> None:
    add(made, "--file", text="file", action="append", metavar="PATH", dest="files")


def _as_it_looks(made: _Parser, add: "_Add") -> None:
    add(made, "--as-it-looks", text="as_it_looks", action="store_true", dest="as_it_looks")


_Add = Callable[..., None]
"""Adds an argument to a parser, with the help `cli.help.<text>`."""

_EFFORTS = [effort.value for effort in Effort if effort != Effort.AUTO]
# In the order of the help; each adds what its command takes.
_COMMANDS: Mapping[CommandName, Callable[[_Parser, _Add], None]] = {
    CommandName.DEBATE: _debate,
    CommandName.COUNCIL: _council,
    CommandName.ASK: _ask,
    CommandName.WORKFLOW: _workflow,
    CommandName.STEP: _step,
    CommandName.EXTEND: _extend,
    CommandName.REPLY: _reply,
    CommandName.RETRY: _retry,
    CommandName.RESUME: _resume,
    CommandName.PAUSE: _nothing,
    CommandName.STOP: _nothing,
    CommandName.SHOW: _nothing,
    CommandName.DELETE: _nothing,
    CommandName.EXPORT: _export,
    CommandName.IMPORT: _import,
    CommandName.BACKUP: _backup,
    CommandName.RESTORE: _restore,
    CommandName.SESSIONS: _sessions,
    **dict.fromkeys((*PLAIN, *STARTING, *DIVIDED), _nothing),
}
_OF_A_SESSION = tuple(
    CommandName(name)
    for name in ("step", "extend", "reply", "retry", "resume", "pause", "stop", "show", "delete", "export")
)
_WITHOUT_JSON = tuple(CommandName(name) for name in ("pause", "stop", "delete", "export", "backup"))
# What a divided command does besides `list`, each with what it is done to; some ask for agreement by `--yes`.
_ACTIONS: Mapping[CommandName, Mapping[Action, str]] = {
    CommandName.SERVERS: dict.fromkeys(
        (Action.ALLOW, Action.DENY, Action.LOGIN, Action.LOGOUT, Action.LOG), "NAME"
    ),
    CommandName.AGENTS: {Action.ADD: "PROGRAM", Action.ALLOW: "ID", Action.DENY: "ID", Action.CHECK: "ID"},
    CommandName.KEYS: {Action.SET: "PROVIDER", Action.REMOVE: "PROVIDER"},
    CommandName.MODELS: {
        **dict.fromkeys((Action.GET, Action.REMOVE, Action.CHECK, Action.ALLOW), "ID"),
        Action.ADD: "FILE",
    },
}
_AGREED: Mapping[CommandName, tuple[Action, ...]] = {
    CommandName.SERVERS: (Action.ALLOW, Action.LOGIN),
    CommandName.AGENTS: (Action.ADD, Action.ALLOW),
    CommandName.KEYS: (),
    CommandName.MODELS: (Action.GET, Action.REMOVE, Action.ALLOW),
}
