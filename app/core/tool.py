"""The plug for tools: what a tool is, what it returns, and who answers for the allow-list and MCP.

Also which assistant a call names, and the arguments of a call as rows, for those who are asked whether it may
run.
"""

import contextlib
import json
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Protocol

from app.core.criteria import Criterion, Plan, PlanItem
from app.core.definitions import Agent, ServerPrompt
from app.core.frozen import Frozen
from app.core.memory import Note
from app.core.message import Attachment, Author, Message, Prompt
from app.core.servers import McpServer
from app.core.session import AgentMode
from app.core.session_files import files_named
from app.core.texts import Texts, exact, fold


class Control(StrEnum):
    """What the loop does after a tool's result."""

    CONTINUE = "continue"
    WAIT = "wait"
    END = "end"


class ServerState(StrEnum):
    """The state of an MCP server."""

    CONNECTED = "connected"
    CONNECTING = "connecting"
    DOWN = "down"
    ASKING = "asking"
    OFF = "off"


class ServerProblem(StrEnum):
    """Why an MCP server is down; each has a text `problem.<code>`."""

    NOT_FOUND = "server_not_found"
    NO_ANSWER = "server_no_answer"
    ENDED = "server_ended"
    REFUSED = "server_refused"
    SSE = "server_sse"
    LOGIN = "server_login"
    CLIENT = "server_client"
    TOO_MUCH = "server_too_much"
    TOO_OFTEN = "server_too_often"
    NO_VALUE = "server_no_value"
    FAILED = "server_failed"


# What of a server's tool the user's consent is bound to: each has a digest in the consent, in this order.
PARTS: Final = ("name", "description", "schema", "effects", "page")

READ_FILE_PART: Final = "read_file_part"
# The tool that reads pages of a long attached file, and its set, which a turn is given where there is such a
# file.
FILE_PARTS: Final = "file_parts"

# The set of tools for the files of a session; debates have none.
FILES: Final = "files"
READ_SKILL: Final = "read_skill"
# The tool that reads a skill, and its set, which an assistant has whose skills are allowed.
SKILLS: Final = "skills"
# How many characters a hand-over to a member may have.
MAX_INSTRUCTION: Final = 50_000


class ToolResult(Frozen):
    """The result of a tool: text for the model, and what the loop does next.

    `control` is continue, wait (for the answer to `prompt`) or end (the turn). `resources` are MCP-UI
    resources and links to resources in the form of the protocol, `attachments` pictures and other files; both
    are kept with the message. `say` is what the assistant says to the user with it, as its last text,
    `proposal` a note that it proposes, so far without where it is from.
    """

    content: str
    ok: bool = True
    control: str = Control.CONTINUE
    resources: tuple[dict[str, object], ...] = ()
    attachments: tuple[Attachment, ...] = ()
    prompt: Prompt | None = None
    say: str = ""
    proposal: Note | None = None


def is_page(resource: Mapping[str, object]) -> bool:
    """Say whether a resource of a result is a page, and not a link."""
    inner = resource.get("resource")
    return isinstance(inner, Mapping) and str(inner.get("uri", "")).startswith("ui://")


class ToolProgress(Frozen):
    """How far a running tool is: the `share` from 0 to 1, None where that is not known, and what it does now.

    One that is `refused` says instead that further questions of the tool are refused.
    """

    share: float | None = None
    text: str = ""
    refused: bool = False


@dataclass(slots=True, kw_only=True)
class ToolContext:
    """What a running tool may know and do.

    A plan that it changes is written in one batch with the call's result: a tool that runs again finds the
    plan as it was.
    """

    session_id: str
    # Who called it.
    author: Author
    # The message that its result will be.
    message_id: str
    # An AgentMode.
    mode: str
    # The addresses of the agent's definition.
    pages: Sequence[str]
    # The assistants of the session's group, in order; empty outside groups.
    members: Sequence[Agent]
    # Returns the session's messages, oldest first.
    messages: Callable[[], Sequence[Message]]
    # Returns the session's plan as it is without what this tool does.
    plan_before: Callable[[], Plan | None]
    # Puts a question to the user while the tool runs; None when it was dismissed.
    ask: Callable[[Prompt], Coroutine[Any, Any, str | None]]
    # Shows how far the tool is.
    report: Callable[[ToolProgress], None]
    # Has the criteria of a plan item checked, and returns them as they are then.
    check: Callable[[PlanItem], Awaitable[tuple[Criterion, ...]]]
    # Returns the files of a skill of its caller that is allowed as it is now. Raises ToolError.
    skill: Callable[[str], Awaitable[Mapping[str, bytes]]]
    new_plan: tuple[Plan | None, ...] = ()

    @property
    def plan(self) -> Plan | None:
        """The session's plan."""
        return self.new_plan[0] if self.new_plan else self.plan_before()

    def change_plan(self, plan: Plan | None) -> None:
        """Replace the session's plan."""
        self.new_plan = (plan,)


Run = Callable[[Mapping[str, object], ToolContext], Awaitable[ToolResult]]
# Says of a call's arguments, and the session's messages, whether it opens an address that the user did not
# name.
Strays = Callable[[Mapping[str, object], Sequence[Message]], bool]


class Tool(Frozen):
    """Something a model may call.

    `key` is its name on the allow-list and to the model, `group` the set it belongs to, `parameters` the JSON
    Schema of its arguments. `repeatable` tools may run again after a crash without asking. `asks` means the
    user must allow each call; `consent` names what "always" then stands for. A server says of its tool that
    it only `reads`, as Moot's own tools for files do, and calls it `name` itself. `modes` are the agent modes
    it may run in. A tool that `ends` the turn wins over the calls after it, which are skipped. One that
    `strays` is asked about while a folder of the user's is open. `run` raises ToolError for what the model
    should know.
    """

    key: str
    description: str
    parameters: Mapping[str, object]
    run: Run
    group: str = ""
    repeatable: bool = False
    asks: bool = False
    ends: bool = False
    consent: str = ""
    reads: bool = False
    strays: Strays | None = None
    name: str = ""
    modes: tuple[str, ...] = (AgentMode.DEFAULT,)


class ToolChoice(Frozen):
    """A tool as an assistant is given it: by its own key, or by that of its group."""

    key: str
    description: str
    group: str = ""


class ToolError(Exception):
    """A tool failed; the text tells the model what, where and what to do.

    Of a request to a server `problem` says why, a code of `ServerProblem`.
    """

    def __init__(self, text: str, problem: str = ServerProblem.FAILED) -> None:
        super().__init__(text)
        self.problem = problem


def told_of(agent: Agent) -> str:
    """Return an assistant as models are told of it, never by its id: `Dana (Backend): Writes and fixes
    code`.
    """
    role = f" ({agent.role})" if agent.role else ""
    return " ".join(f"{agent.name}{role}{agent.description and ': '}{agent.description}".split())


def tool_name(key: str, texts: Texts) -> str:
    """Return a tool's name: that of one of Moot's own in words, that of a server's without the server;
    of the permission for a named file, what is allowed.
    """
    for path in files_named((key,)):
        return texts("permissions.file", path=path)
    own = f"tool.{key}.name"
    return texts(own) if own in texts else exact(key.partition("__")[2] or key)


def called(prompt: Prompt, texts: Texts) -> str:
    """Return what the tool of an approval is called: one of a server by the server's names."""
    return prompt.called if prompt.server else tool_name(prompt.tool, texts)


def assistants_called(name: str, agents: Sequence[Agent]) -> list[Agent]:
    """Return whom a name stands for: those who are called so, else the ones told of so, else the one of
    that id.

    Case and how letters are composed do not count.
    """
    wanted = fold(" ".join(name.split()))
    ways: tuple[Callable[[Agent], Collection[str]], ...] = (
        lambda agent: (agent.name,),
        lambda agent: (told_of(agent), told_of(replace(agent, description=""))),
        lambda agent: (agent.id,),
    )
    found = ([agent for agent in agents if wanted in map(fold, way(agent))] for way in ways)
    return next(filter(None, found), [])


def assistant_called(name: str, agents: Sequence[Agent], unknown: str) -> Agent:
    """Return the one whom a name stands for.
    Raises ToolError: `unknown` and all names, or all it may stand for.
    """
    found = assistants_called(name, agents)
    if len(found) == 1:
        return found[0]
    if found:
        lines = "\n".join(f"- {told_of(agent)}" for agent in found)
        raise ToolError(f"{name.strip()[:80]} is the name of several. Say which, by name and role:\n{lines}")
    listed = ", ".join(dict.fromkeys(agent.name for agent in agents)) or "nobody"
    raise ToolError(f"{name.strip()[:80]} {unknown}. You may call: {listed}.")


class ServerResource(Frozen):
    """A resource that a server lists; braces in its address are blanks to be filled in."""

    uri: str
    name: str
    description: str = ""
    media_type: str = ""


class ServerStatus(Frozen):
    """An MCP server as the faces show it.

    `state` is off, connecting, connected, down or asking (for consent: to its command line, or to the
    `changed` tools; `changes` are codes of what is new of each, with a text `consent.new.<code>`, and
    `pending` what the consent to them would be). `tools` are the keys it offers, `logged_in` says that the
    tokens of a login are kept, `unasked` those that run without a question, `lasting` how many of its tools
    were allowed to, also those not known now, `known` how many the user has allowed at all. As the server
    says, `reading` tools only read, `deleting` ones may delete or overwrite, and `outside` ones act beyond
    it; `withheld` are names of tools that are not offered, because they run only as tasks. A connected server
    may have `prompts` and resources. Of one that is down `problem` is a code with a text in the catalogue
    (`problem.<code>`), `detail` more of it and its last words, without secrets; `restarts` says that Moot
    starts it again.
    """

    server: McpServer
    state: str
    tools: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    reading: tuple[str, ...] = ()
    deleting: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
    prompts: tuple[ServerPrompt, ...] = ()
    has_resources: bool = False
    restarts: bool = False
    lasting: int = 0
    known: int = 0
    logged_in: bool = False
    problem: str = ""
    detail: str = ""

    @property
    def needs_login(self) -> bool:
        """Whether it can be used once the user has logged in."""
        return self.state == ServerState.DOWN and self.problem in (ServerProblem.LOGIN, ServerProblem.CLIENT)

    @property
    def said_of_tools(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What is to be said of its tools: codes, each with a text `server.<code>`,
        and the tools it is about.
        """
        codes = ("tools", "reading", "deleting", "outside", "withheld")
        return tuple((code, getattr(self, code)) for code in codes if getattr(self, code))


class Tools(Protocol):
    """The plug that holds the allow-list and the MCP servers."""

    def allowed(self) -> tuple[Tool, ...]:
        """Return the allow-list."""

    def servers(self) -> tuple[ServerStatus, ...]:
        """Return the MCP servers of `mcp.json` with their state."""

    def server_tools(self, servers: Sequence[str]) -> tuple[Tool, ...]:
        """Return what the connected servers of these names offer and the user has allowed."""

    async def attach(self, servers: Sequence[str]) -> None:
        """Connect to servers that may run; returns when each is connected, down or asking."""

    async def consent(self, server: str) -> None:
        """Store the user's consent to a server as it is now, and connect."""

    async def withdraw(self, server: str) -> None:
        """Withdraw the consent to a server, and close its connection."""

    async def permit(self, consents: Collection[str]) -> None:
        """Store that these tools run without a question for good; one that has changed since asks again."""

    async def ask_again(self, server: str) -> None:
        """Withdraw the lasting permissions of a server's tools."""

    async def restart(self, server: str) -> None:
        """Reconnect."""

    async def resources(self, server: str) -> tuple[ServerResource, ...]:
        """Return what a server lists. Raises ToolError."""

    async def read_resource(self, server: str, uri: str) -> tuple[Attachment, ...]:
        """Return what is in a resource, as files. Raises ToolError."""

    async def prompt(
        self, prompt: ServerPrompt, values: Mapping[str, str]
    ) -> tuple[str, tuple[Attachment, ...]]:
        """Return the text of a server's prompt, and the files it names. Raises ToolError."""

    async def log(self, server: str) -> str:
        """Return the last lines of a server's log, without secrets."""

    async def login(
        self, server: str, agree: Callable[[str], Awaitable[bool]], client: Mapping[str, str] | None = None
    ) -> None:
        """Log in to a server and connect; `agree` asks the user about the page's address and opens it.

        `client` are the ID of a client and its secret, where the server lets no program register itself.
        """

    async def logout(self, server: str) -> bool:
        """Forget the tokens of a server's login and disconnect it; false
        where the keyring may still have them.
        """

    def can_fetch_viewer(self) -> bool:
        """Say whether the viewer of servers' pages is missing and can be installed here."""

    async def fetch_viewer(self, progress: Callable[[int, int], None]) -> None:
        """Install the viewer of servers' pages; `progress` gets (bytes, all bytes).
        Raises MootError (viewer_not_fetched).

        It is used from the next start on. Cancelling leaves nothing.
        """

    async def close(self) -> None:
        """Close all servers and processes."""


MAX_ARGUMENTS = 200_000
# What the viewer of servers' pages takes to download.
VIEWER_BYTES = 175_307_424


def read_arguments(text: str) -> dict[str, Any]:
    """Return a call's arguments; an empty text is an empty object. Raises ToolError that says what is
    wrong.
    """
    if len(text) > MAX_ARGUMENTS:
        raise ToolError(f"The arguments have {len(text)} characters; at most {MAX_ARGUMENTS} are allowed.")
    if not text.strip():
        return {}
    try:
        value = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise ToolError("The arguments are nested too deeply.") from None
    except ValueError as error:
        again = "They may have been cut: send them again, whole."
        raise ToolError(f"The arguments are not valid JSON ({error}). {again}") from None
    if not isinstance(value, dict):
        raise ToolError(f"The arguments must be one JSON object, not {type(value).__name__}.")
    return value


def is_object(text: str) -> bool:
    """Say whether arguments can be sent back to a provider as they are."""
    try:
        read_arguments(text)
    except ToolError:
        return False
    return bool(text.strip())


def canonical(text: str) -> str:
    """Return arguments so that two calls that mean the same are the same text."""
    try:
        return json.dumps(read_arguments(text), sort_keys=True, ensure_ascii=False)
    except (ToolError, RecursionError):
        return text.strip()


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def changed_tools(status: ServerStatus, texts: Texts) -> list[str]:
    """Return a line for each changed tool of a server: what is new of it."""
    new = {tool: [texts(f"consent.new.{code}") for code in codes] for tool, codes in status.changes.items()}
    return [f"{exact(tool)}: {', '.join(what)}" for tool, what in new.items()]


def argument_rows(arguments: str, *, plainly: bool = False) -> list[tuple[str, str]]:
    """Return each argument's name with its value as JSON, over several lines if it is nested; `plainly`
    texts as they are, but for those that would be taken for another value.

    A text that is no object, or has a field twice, which parsers read in different ways, comes back whole and
    nameless. Invisible characters are shown as codes.
    """
    found = None
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(arguments, object_pairs_hook=_without_doubles)
    rows = []
    for name, value in found.items() if isinstance(found, dict) else ():
        as_it_is = plainly and isinstance(value, str) and _is_plain(value)
        shown = value if as_it_is else json.dumps(value, ensure_ascii=False, indent=2)
        rows.append((exact(name), exact(shown, "\n")))
    return rows or [("", exact(arguments, "\n"))]


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a field stands twice")
    return found


def _is_plain(text: str) -> bool:
    """Return whether a text can be shown without quotes: it is not empty, has no space around it,
    and is no JSON.
    """
    if not text or text != text.strip():
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return True
    return False
