"""What was typed, as data: the commands, their options and the form of `-p SPEC`.

Used by __main__ and cli; a set of arguments can be written as JSON, so that a command can be handed to the
Moot that holds the data directory.
"""

import argparse
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import NoReturn

from app import __version__
from app.core.errors import BadInput
from app.core.session import DEFAULT_ROUNDS, AgentMode, DebateMode, ExportFormat
from app.core.texts import LANGUAGES, Texts
from app.storage.paths import default_data_dir

ASK = "ask"
DEBATE = "debate"
REPLY = "reply"
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
DOCTOR = "doctor"
USAGE = "usage"
SERVERS = "servers"
KEYS = "keys"
MODELS = "models"

WRITING = (ASK, WORKFLOW, STEP, DEBATE, REPLY, RESUME, PAUSE, STOP, DELETE, IMPORT, BACKUP, RESTORE)
# What these do depends on their second word; without one, and with `list`, they only read.
DIVIDED = (SERVERS, KEYS, MODELS)
LIST = "list"
ALLOW = "allow"
DENY = "deny"
SET = "set"
GET = "get"
REMOVE = "remove"
RETRY = "retry"
SKIP = "skip"
ACCEPT = "accept"

THEMES = ("light", "dark", "system")

_MODEL_TAG = re.compile(r"[A-Za-z0-9._@/+-]*")


MAX_QUOTED = 300
# What argparse says in English, by the code of our own text for it.
_COMPLAINTS = tuple(
    (code, re.compile(pattern, re.DOTALL))
    for code, pattern in (
        ("usage_missing", r"the following arguments are required: (?P<what>.+)"),
        ("usage_unknown", r"unrecognized arguments: (?P<what>.+)"),
        ("usage_choice", r"argument (?P<what>[^:]+): invalid choice: (?P<value>.+) \(choose from (?P<choices>.+)\)"),
        ("usage_number", r"argument (?P<what>[^:]+): invalid int value: (?P<value>.+)"),
        ("usage_value", r"argument (?P<what>[^:]+): expected (?:one|at least one) argument"),
        ("usage_no_value", r"argument (?P<what>[^:]+): ignored explicit argument (?P<value>.+)"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Arguments:
    """One command line; an empty `command` asks for the window. Paths are absolute texts."""

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
    rounds: int = DEFAULT_ROUNDS
    seed: int | None = None
    verdict: bool = False
    context: tuple[str, ...] = ()
    format: str = ""
    output: str = ""
    files: tuple[str, ...] = ()
    yes: bool = False
    skip_turn: bool = False
    without: str = ""

    @property
    def root(self) -> Path:
        """The data directory that is meant."""
        return Path(self.data_dir) if self.data_dir else default_data_dir()

    @property
    def writes(self) -> bool:
        """Whether the command changes something, so that it needs the one writer of the data directory."""
        return self.command in WRITING or (self.command in DIVIDED and self.action not in ("", LIST))

    def to_json(self) -> dict[str, object]:
        """Return the fields as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: Mapping[str, object]) -> "Arguments":
        """Read what `to_json` wrote. Raises ValueError for a field or a type that is not ours."""
        known = {field.name: field.default for field in fields(cls)}
        taken: dict[str, object] = {}
        for name, value in values.items():
            if name not in known:
                raise ValueError(name)
            if isinstance(known[name], tuple):
                if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
                    raise ValueError(name)
                taken[name] = tuple(value)
            elif name == "seed":
                if value is not None and type(value) is not int:
                    raise ValueError(name)
                taken[name] = value
            elif type(value) is not type(known[name]):
                raise ValueError(name)
            else:
                taken[name] = value
        return cls(**taken)  # type: ignore[arg-type]  # each was compared with its default's type


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """A participant as typed: `NAME=PROVIDER/MODEL` or `NAME=PROVIDER/MODEL:ROLE`."""

    name: str
    provider: str
    model: str
    role: str = ""


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser whose complaint is an error of ours: one line, in the user's language."""

    def error(self, message: str) -> NoReturn:
        help_command = f"{self.prog} --help"
        for code, pattern in _COMPLAINTS:
            if found := pattern.fullmatch(message):
                raise BadInput(code, help=help_command, **_shortened(found.groupdict()))
        raise BadInput("usage", help=help_command, **_shortened({"detail": message}))


def _shortened(blanks: Mapping[str, str]) -> dict[str, str]:
    """Return what is quoted of the command line, without what looks like a key."""
    from app.storage.redaction import Redactor

    redact = Redactor().redact
    return {name: redact(text)[:MAX_QUOTED] for name, text in blanks.items()}


def parse_arguments(arguments: Sequence[str], texts: Texts) -> Arguments:
    """Read a command line. Raises BadInput; exits with 0 after `--help`."""
    parser = _parser(texts)
    parsed, unknown = parser.parse_known_args(arguments)
    values = vars(parsed)
    if unknown and values["command"] == KEYS:
        # It may be a key: it is not repeated.
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
    """Return the value of `--lang`, so that even a complaint about the rest is in that language."""
    for index, argument in enumerate(arguments):
        if argument.startswith("--lang="):
            return argument.partition("=")[2]
        if argument == "--lang" and index + 1 < len(arguments):
            return arguments[index + 1]
    return ""


def parse_spec(spec: str, roles: Sequence[str]) -> Spec:
    """Read one `-p SPEC`. Raises BadInput with the part that is missing.

    NAME ends at the first `=`, PROVIDER at the first `/` after it. A model's own name may hold
    colons (`llama3.2:3b`), so ROLE is what follows the first `:` whose next part is one of
    `roles` or holds something no model name does, such as a space or a Korean letter.
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
    def common(*, default: object = argparse.SUPPRESS) -> _Parser:
        options = _Parser(add_help=False, argument_default=default)
        options.add_argument("--data-dir", metavar="DIR", dest="data_dir", help=texts("cli.help.data_dir"))
        options.add_argument("--lang", choices=LANGUAGES, dest="language", help=texts("cli.help.lang"))
        return options

    parser = _Parser(
        prog="moot", description=texts("cli.help.moot"), allow_abbrev=False, parents=[common(default=None)]
    )
    parser.add_argument(
        "--version", action="version", version=f"Moot {__version__}", help=texts("cli.help.version")
    )
    parser.add_argument("--theme", choices=THEMES, help=texts("cli.help.theme"))
    # `--json` before the sub-command is the same as after it.
    parser.add_argument("--json", action="store_true", help=texts("cli.help.json"))
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser)

    def command(name: str, *, json: bool = True) -> _Parser:
        help_text = texts(f"cli.help.{name}")
        made = commands.add_parser(
            name, help=help_text, description=help_text, allow_abbrev=False, parents=[common()]
        )
        if json:
            made.add_argument(
                "--json", action="store_true", default=argparse.SUPPRESS, help=texts("cli.help.json")
            )
        return made

    debate = command(DEBATE)
    debate.add_argument("text", metavar="TOPIC", help=texts("cli.help.topic"))
    debate.add_argument(
        "-p",
        "--participant",
        action="append",
        metavar="SPEC",
        dest="participants",
        help=texts("cli.help.participant"),
    )
    debate.add_argument(
        "--mode",
        choices=tuple(map(str, DebateMode)),
        help=texts("cli.help.mode"),
    )
    debate.add_argument(
        "--rounds", type=int, default=DEFAULT_ROUNDS, metavar="1..10", help=texts("cli.help.rounds")
    )
    debate.add_argument("--seed", type=int, metavar="N", help=texts("cli.help.seed"))
    debate.add_argument("--verdict", action="store_true", help=texts("cli.help.verdict"))
    debate.add_argument("--context", action="append", metavar="FILE", help=texts("cli.help.context"))
    ask = command(ASK)
    ask.add_argument("assistant", metavar="WHO", help=texts("cli.help.who"))
    ask.add_argument("text", metavar="TEXT", help=texts("cli.help.text"))
    ask.add_argument("--session", metavar="ID", help=texts("cli.help.session"))
    ask.add_argument(
        "--mode", choices=(AgentMode.DEFAULT, AgentMode.SETTINGS), help=texts("cli.help.ask_mode")
    )
    workflow = command(WORKFLOW)
    workflow.add_argument("text", metavar="COMMAND", help=texts("cli.help.work"))
    workflow.add_argument("--definition", metavar="ID", help=texts("cli.help.definition"))
    step = command(STEP)
    step.add_argument("session", metavar="SESSION", help=texts("cli.help.session_id"))
    step.add_argument("step", metavar="STEP", help=texts("cli.help.step_id"))
    step.add_argument("action", choices=(RETRY, SKIP, ACCEPT), help=texts("cli.help.action"))
    reply = command(REPLY)
    reply.add_argument("session", metavar="SESSION", help=texts("cli.help.session_id"))
    reply.add_argument("text", metavar="TEXT", help=texts("cli.help.text"))
    for name, json in ((RESUME, True), (PAUSE, False), (STOP, False), (SHOW, True), (DELETE, False)):
        made = command(name, json=json)
        made.add_argument("session", metavar="SESSION", help=texts("cli.help.session_id"))
        if name == RESUME:
            ways = made.add_mutually_exclusive_group()
            ways.add_argument("--skip-turn", action="store_true", help=texts("cli.help.skip_turn"))
            ways.add_argument("--without", metavar="NAME", help=texts("cli.help.without"))
    export = command(EXPORT, json=False)
    export.add_argument("session", metavar="SESSION", help=texts("cli.help.session_id"))
    export.add_argument(
        "--format", choices=tuple(map(str, ExportFormat)), required=True, help=texts("cli.help.format")
    )
    export.add_argument("-o", "--output", metavar="FILE", help=texts("cli.help.output"))
    command(IMPORT).add_argument("files", nargs="+", metavar="FILE", help=texts("cli.help.import_file"))
    command(BACKUP, json=False).add_argument(
        "output", nargs="?", metavar="FILE", help=texts("cli.help.backup_file")
    )
    restore = command(RESTORE)
    restore.add_argument("files", nargs=1, metavar="FILE", help=texts("cli.help.restore_file"))
    restore.add_argument("--yes", action="store_true", help=texts("cli.help.yes"))
    for name in (SESSIONS, PROVIDERS, USAGE, DOCTOR):
        command(name)

    def divided(name: str, *actions: tuple[str, str]) -> dict[str, _Parser]:
        """Add a command whose second word is `list` or one of the actions, each with what its name is of."""
        made = command(name)
        parts = made.add_subparsers(
            dest="action", metavar="ACTION", parser_class=_Parser, help=texts("cli.help.what")
        )
        added: dict[str, _Parser] = {}
        for action, what in ((LIST, ""), *actions):
            text = texts(f"cli.help.{name}.{action}")
            added[action] = part = parts.add_parser(
                action, help=text, description=text, allow_abbrev=False, parents=[common()]
            )
            part.add_argument(
                "--json", action="store_true", default=argparse.SUPPRESS, help=texts("cli.help.json")
            )
            if what:
                part.add_argument("name", metavar=what, help=texts(f"cli.help.{name}.name"))
        return added

    servers = divided(SERVERS, (ALLOW, "NAME"), (DENY, "NAME"))
    divided(KEYS, (SET, "PROVIDER"), (REMOVE, "PROVIDER"))
    models = divided(MODELS, (GET, "ID"), (REMOVE, "ID"))
    for part in (servers[ALLOW], models[GET], models[REMOVE]):
        part.add_argument("--yes", action="store_true", help=texts("cli.help.agree"))
    return parser
