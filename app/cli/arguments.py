"""One command line as data, and how it is read: commands, options, and the form of `-p SPEC`.

`Arguments` can be converted to JSON and back, so that a command can be given to the Moot that holds the data
directory.
"""

import argparse
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, NoReturn

from app import __version__
from app.core.errors import BadInput
from app.core.model_facts import Effort
from app.core.session import CLASSIC_MODES, DEFAULT_ROUNDS, AgentMode, DebateTools, ExportFormat
from app.core.texts import LANGUAGES, Texts
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
        known = {field.name: field.default for field in fields(cls)}
        taken: dict[str, object] = {}
        for name, value in values.items():
            if name not in known:
                raise ValueError(name)
            if isinstance(known[name], tuple):
                if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                    raise ValueError(name)
                taken[name] = tuple(value)
            elif known[name] is None:
                if value is not None and type(value) is not int:
                    raise ValueError(name)
                taken[name] = value
            elif type(value) is not type(known[name]):
                raise ValueError(name)
            else:
                taken[name] = value
        return cls(**taken)  # type: ignore[arg-type]  # each was compared with its default's type


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
    parser = _parser(texts)
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


def _parser(texts: Texts) -> _Parser:
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

    def command(name: CommandName, *, json: bool = True) -> _Parser:
        return add_command(commands, name.value, name, json=json)

    def participants(to: _Parser, text: str) -> None:
        add(to, "-p", "--participant", text=text, action="append", metavar="SPEC", dest="participants")

    debate = command(CommandName.DEBATE)
    add(debate, "text", text="topic", metavar="TOPIC")
    participants(debate, "participant")
    add(debate, "--mode", text="mode", choices=[one.value for one in CLASSIC_MODES])
    add(debate, "--rounds", text="rounds", type=int, default=DEFAULT_ROUNDS, metavar="1..10")
    add(debate, "--seed", text="seed", type=int, metavar="N")
    add(debate, "--ballots", text="ballots", choices=[*BallotTimes])
    add(debate, "--verdict", text="verdict", action="store_true")
    add(debate, "--judge", text="debate_judge", metavar="PROVIDER/MODEL")
    add(debate, "--tools", text="debate_tools", choices=list(DebateTools), default=DebateTools.NONE)
    add(debate, "--context", text="context", action="append", metavar="FILE")
    council = command(CommandName.COUNCIL)
    add(council, "text", text="question", metavar="QUESTION")
    participants(council, "council_participant")
    add(council, "--panel", text="panel", metavar="NAME")
    add(council, "--file", text="council_file", action="append", metavar="PATH", dest="files")
    add(council, "--no-differences", text="no_differences", action="store_true")
    add(council, "--debate", text="council_debate", action="store_true")
    add(council, "--rounds", text="council_rounds", type=int, metavar="1..5")
    add(council, "--judge", text="council_judge", metavar="PROVIDER/MODEL")
    add(council, "--tools", text="council_tools", choices=[*DebateTools][:2], default=DebateTools.NONE)
    add(council, "--seed", text="council_seed", type=int, metavar="N")
    add(council, "--max-usd", text="max_usd", type=_amount, metavar="X")
    ask = command(CommandName.ASK)
    add(ask, "assistant", text="who", metavar="WHO")
    add(ask, "text", text="text", metavar="TEXT")
    add(ask, "--session", text="session", metavar="ID")
    efforts = [one.value for one in Effort if one != Effort.AUTO]
    add(ask, "--effort", text="effort", choices=efforts)
    add(ask, "--mode", text="ask_mode", choices=[one.value for one in AgentMode])
    for begins in (debate, council, ask):
        add(begins, "--folder", text="folder", metavar="NAME")
    workflow = command(CommandName.WORKFLOW)
    add(workflow, "text", text="work", metavar="COMMAND")
    add(workflow, "--definition", text="definition", metavar="ID")
    of_a_session = {
        name: command(
            name,
            json=name not in (CommandName.PAUSE, CommandName.STOP, CommandName.DELETE, CommandName.EXPORT),
        )
        for name in (
            CommandName.STEP,
            CommandName.EXTEND,
            CommandName.REPLY,
            CommandName.RETRY,
            CommandName.RESUME,
            CommandName.PAUSE,
            CommandName.STOP,
            CommandName.SHOW,
            CommandName.DELETE,
            CommandName.EXPORT,
        )
    }
    for made in of_a_session.values():
        add(made, "session", text="session_id", metavar="SESSION")
    extend = of_a_session[CommandName.EXTEND]
    add(extend, "action", text="council_step", choices=[*CouncilStepName])
    add(extend, "--rounds", text="extend_rounds", type=int, metavar="1..5")
    add(extend, "--judge", text="council_judge", metavar="PROVIDER/MODEL")
    add(extend, "--option", text="extend_option", metavar="LETTER")
    step, export = of_a_session[CommandName.STEP], of_a_session[CommandName.EXPORT]
    add(step, "step", text="step_id", metavar="STEP")
    on_steps = [one.value for one in (Action.RETRY, Action.SKIP, Action.ACCEPT)]
    add(step, "action", text="action", choices=on_steps)
    reply, again = of_a_session[CommandName.REPLY], of_a_session[CommandName.RETRY]
    add(reply, "text", text="text", metavar="TEXT")
    for made in (ask, reply):
        add(made, "--file", text="file", action="append", metavar="PATH", dest="files")
    for made in (ask, reply, debate, council):
        add(made, "--as-it-looks", text="as_it_looks", action="store_true", dest="as_it_looks")
    add(again, "--model", text="retry_model", metavar="PROVIDER/MODEL")
    add(again, "--effort", text="retry_effort", choices=efforts)
    ways = of_a_session[CommandName.RESUME].add_mutually_exclusive_group()
    add(ways, "--skip-turn", text="skip_turn", action="store_true")
    add(ways, "--without", text="without", metavar="NAME")
    add(export, "--format", text="format", choices=[one.value for one in ExportFormat], required=True)
    add(export, "-o", "--output", text="output", metavar="FILE")
    add(command(CommandName.IMPORT), "files", text="import_file", nargs="+", metavar="FILE")
    add(command(CommandName.BACKUP, json=False), "output", text="backup_file", nargs="?", metavar="FILE")
    add(restore := command(CommandName.RESTORE), "files", text="restore_file", nargs=1, metavar="FILE")
    add(restore, "--yes", text="yes", action="store_true")
    add(command(CommandName.SESSIONS), "--folder", text="folder_listed", metavar="NAME")
    for name in (*PLAIN, *STARTING):
        command(name)

    def divided(name: CommandName, *actions: tuple[Action, str], agreed: Sequence[Action] = ()) -> None:
        """Add a command whose second word is `list` or one of the actions; those `agreed` take --yes."""
        parts = command(name).add_subparsers(
            dest="action", metavar="ACTION", parser_class=_Parser, help=texts("cli.help.what")
        )
        for action, argument in ((Action.LIST, ""), *actions):
            part = add_command(parts, action.value, f"{name}.{action}")
            if argument:
                add(part, "name", text=f"{name}.name", metavar=argument)
            if action in agreed:
                add(part, "--yes", text="agree", action="store_true")
            if action == Action.LOGIN:
                add(part, "--client-id", text="client_id", metavar="ID")

    on_servers = [
        (action, "NAME") for action in (Action.ALLOW, Action.DENY, Action.LOGIN, Action.LOGOUT, Action.LOG)
    ]
    divided(CommandName.SERVERS, *on_servers, agreed=(Action.ALLOW, Action.LOGIN))
    on_agents = ((Action.ADD, "PROGRAM"), (Action.ALLOW, "ID"), (Action.DENY, "ID"), (Action.CHECK, "ID"))
    divided(CommandName.AGENTS, *on_agents, agreed=(Action.ADD, Action.ALLOW))
    divided(CommandName.KEYS, (Action.SET, "PROVIDER"), (Action.REMOVE, "PROVIDER"))
    on_id = [(action, "ID") for action in (Action.GET, Action.REMOVE, Action.CHECK, Action.ALLOW)]
    divided(
        CommandName.MODELS, *on_id, (Action.ADD, "FILE"), agreed=(Action.GET, Action.REMOVE, Action.ALLOW)
    )
    return parser
