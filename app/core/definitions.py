"""Assistants, groups, workflows and prompts that the user keeps, as data of `assistants/<id>.json` and so on.

Also the roles that assistants have in a team, and the names by which each is known.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Final

from app.core.criteria import Criterion
from app.core.frozen import Frozen


class Effort(StrEnum):
    """How much a model thinks before it answers; AUTO leaves it to the model."""

    AUTO = "auto"
    NONE = "none"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class Creativity(StrEnum):
    """How freely a model chooses its words; AUTO leaves it to the model."""

    AUTO = "auto"
    PRECISE = "precise"
    BALANCED = "balanced"
    CREATIVE = "creative"


class Length(StrEnum):
    """How long answers are to be; AUTO leaves it to the model."""

    AUTO = "auto"
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class Busy(Frozen):
    """What happens to work that arrives while the assistant is busy."""

    strategy: str = "queue"
    timeout_s: float | None = None
    depth: int | None = None
    limit: int | None = None


# How many colours assistants have.
COLOURS: Final = 8


class Agent(Frozen):
    """An assistant: a name, a model, and what it may use.

    `provider` and `model` are empty together: then a sub-agent uses its caller's model, and any other
    assistant the first that is ready. `description` tells callers what to call the assistant for. `tools`
    are keys of the allow-list, `skills` names of skills, `pages` addresses the assistant may read first.
    `knows_user` says whether it is told what the user wrote in the settings under "About you",
    `remembers` whether it is told its notes. `colour` is the number of one of COLOURS; where none is
    given, as in an older file, it follows from the id. `folder` is where an external agent works with its
    own tools; without one it only speaks. `version` grows with every save.
    """

    id: str
    name: str
    provider: str = ""
    model: str = ""
    description: str = ""
    role: str = ""
    instructions: str = ""
    tools: tuple[str, ...] = ()
    sub_agents: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()
    max_depth: int = 3
    max_steps: int = 10
    effort: str = Effort.AUTO
    creativity: str = Creativity.AUTO
    length: str = Length.AUTO
    knows_user: bool = True
    remembers: bool = True
    colour: int = -1
    folder: str = ""
    enabled: bool = True
    busy: Busy | None = None
    version: int = 1

    def __post_init__(self) -> None:
        colour = self.colour if self.colour >= 0 else sum(self.id.encode())
        object.__setattr__(self, "colour", colour % COLOURS)


class Leader(Frozen):
    """The model of a group's orchestrator; both empty: the first that is ready."""

    provider: str = ""
    model: str = ""
    effort: str = Effort.AUTO
    creativity: str = Creativity.AUTO
    length: str = Length.AUTO


class Group(Frozen):
    """Assistants that work together under an orchestrator.

    `members` are assistants' ids in order. `turns_limit` is how often the orchestrator may speak for one
    message of the user. `ask_before_hand_over` lets the user see, change or refuse each hand-over.
    """

    id: str
    name: str
    members: tuple[str, ...] = ()
    orchestrator: Leader = Leader()
    instructions: str = ""
    turns_limit: int = 20
    ask_before_hand_over: bool = False
    version: int = 1


# The tool that hands a task over to a member of a group; each hand-over is asked about alone.
SWITCH_ASSISTANT: Final = "switchAssistant"

_VARIABLE = re.compile(r"\{(\w[\w -]{0,39})\}")


class SavedPrompt(Frozen):
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
        """The variables that have a line to themselves, as a text to translate has: their values may be
        long.
        """
        lines = (_VARIABLE.fullmatch(line.strip()) for line in self.text.splitlines())
        return frozenset(match[1] for match in lines if match is not None)

    def titled(self, variable: str) -> str:
        """Return a variable as it is shown."""
        return variable

    def filled(self, values: Mapping[str, str]) -> str:
        """Return the text with a value for each variable; one without a value stays as it is."""
        return _VARIABLE.sub(lambda match: values.get(match[1]) or match[0], self.text)


class ServerPrompt(SavedPrompt):
    """A prompt of an MCP server, which makes its text; `name` is how it is called,
    `key` what the server calls it.

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


# The id and the kind of the author that leads a group.
ORCHESTRATOR: Final = "orchestrator"

# The id of the author that a workflow's own turn has.
WORKFLOW: Final = "workflow"

# The group of tools that an assistant has in a step of a workflow.
STEP_TOOLS: Final = "step"


class StepStatus(StrEnum):
    """The state of a step of a workflow."""

    PENDING = "pending"
    READY = "ready"
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


# The reason of a step that waits for a busy assistant.
QUEUED: Final = "busy"
# What such a step is said to be.
QUEUED_STEP: Final = "queued"

STEP_ENDED = (StepStatus.DONE, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED)

MOST_STEPS: Final = 2_000

# The name of the call that stands for a step's attempt.
STEP: Final = "step"


class WhenSkipped(StrEnum):
    """What skipping a step means to the steps that depend on it."""

    SATISFIES = "satisfies"
    BLOCKS = "blocks"


class WorkflowStep(Frozen):
    """One step of a definition: its role, its prompt, and the steps it depends on.

    `when_skipped` says what a skip means to the steps that depend on it: satisfies or blocks. `done_means`
    are its criteria. A `gate` has no assistant: it checks what was made so far. `assistant` is the id or name
    of who does it, whatever the role says.
    """

    id: str
    name: str
    role: str
    prompt: str
    depends_on: tuple[str, ...] = ()
    when_skipped: str = WhenSkipped.SATISFIES
    done_means: tuple[str, ...] = ()
    gate: bool = False
    assistant: str = ""


class WorkflowDefinition(Frozen):
    """A kind of work; `keywords` are whole words, in any language, by which a command is recognised."""

    id: str
    name: str
    keywords: tuple[str, ...] = ()
    steps: tuple[WorkflowStep, ...] = ()
    version: int = 1


class StepState(Frozen):
    """The progress of a step.

    `fresh` says that the next run is another attempt; `attempt` counts from 1 and is never used twice;
    `turn_id` is the turn of the attempt, `reason` why it waits, failed or was skipped, `artifacts` what it
    says it made, `result` its text for the steps after it. `started_at` is since when it runs, `seconds` for
    how long it ran before: waiting does not count. `given_to` is the id of the assistant that the user gave
    it to.
    """

    id: str
    state: str = StepStatus.PENDING
    attempt: int = 0
    turn_id: str = ""
    assistant_id: str = ""
    reason: str = ""
    artifacts: str = ""
    result: str = ""
    asked_again: bool = False
    fresh: bool = False
    started_at: str = ""
    ended_at: str = ""
    seconds: float = 0.0
    criteria: tuple[Criterion, ...] = ()
    given_to: str = ""

    @property
    def queued(self) -> bool:
        """Whether the step waits for a busy assistant; any other that waits needs the user."""
        return self.state == StepStatus.WAITING and self.reason == QUEUED

    @property
    def said(self) -> str:
        """The state as people are told it: one that is queued does not need the user."""
        return QUEUED_STEP if self.queued else self.state

    @property
    def taken(self) -> bool:
        """Whether an assistant holds the step, or will as soon as it is free."""
        return self.state == StepStatus.RUNNING or self.queued


def put_down(states: Iterable[StepState]) -> tuple[StepState, ...]:
    """Return steps as they are when nobody works: those that were taken, or waited for an assistant,
    are ready.
    """
    return tuple(
        replace(state, state=StepStatus.READY, reason="") if state.taken else state for state in states
    )


class Fault(Frozen, kw_only=False):
    """A fault in a definition: a code (`problem.<code>`), the step's place, and a detail."""

    code: str
    place: int | None = None
    field: str = ""
    detail: str = ""

    @property
    def path(self) -> str:
        """The field as users write it: `steps[2].role`."""
        return self.field if self.place is None else f"steps[{self.place}].{self.field}"


def faults(definition: WorkflowDefinition) -> list[Fault]:
    """Return what keeps a definition from running, whoever is there."""
    if len(definition.steps) > MOST_STEPS:
        return [Fault("too_many_steps", field="steps", detail=f"{len(definition.steps)} > {MOST_STEPS}")]
    found: list[Fault] = []
    places: dict[str, int] = {}
    for place, step in enumerate(definition.steps):
        if step.id in places:
            found.append(Fault("duplicate_step", place, "id", step.id))
        places.setdefault(step.id, place)
        if step.gate and not step.done_means:
            found.append(Fault("gate_without_criteria", place, "done_means"))
    if not definition.steps:
        found.append(Fault("no_steps", field="steps"))
    for place, step in enumerate(definition.steps):
        for needed in step.depends_on:
            if needed == step.id:
                found.append(Fault("depends_on_itself", place, "depends_on", needed))
            elif needed not in places:
                found.append(Fault("unknown_dependency", place, "depends_on", needed))
    if not found and (circle := _circle(definition)):
        found.append(Fault("cycle", places[circle[0]], "depends_on", " > ".join((*circle, circle[0]))))
    return found


def _circle(definition: WorkflowDefinition) -> list[str]:
    """Return the steps of a cycle, each in front of one that depends on it; empty where there is none."""
    try:
        TopologicalSorter({step.id: step.depends_on for step in definition.steps}).prepare()
    except CycleError as error:
        return list(error.args[1][1:])
    return []


def dependents(definition: WorkflowDefinition) -> dict[str, list[str]]:
    """Return the steps that depend on each step, in order."""
    after: dict[str, list[str]] = {}
    for step in definition.steps:
        for item in dict.fromkeys(step.depends_on):
            after.setdefault(item, []).append(step.id)
    return after


# A role matches exactly or by one of these names, never by a part of its name.
ROLES: Mapping[str, tuple[str, ...]] = {
    "po": ("product owner", "기획자"),
    "pm": ("project manager", "product manager", "프로젝트 매니저"),
    "designer": ("디자이너",),
    "architect": ("아키텍트",),
    "fe": ("frontend", "front-end", "front end", "프론트엔드"),
    "be": ("backend", "back-end", "back end", "백엔드"),
    "qa": ("tester", "quality assurance", "테스터", "테스트"),
}
_ALIASES = {name: role for role, names in ROLES.items() for name in (role, *names)}
# What finds a role in a text; an abbreviation counts in capitals alone, as `be` is also a word.
_IN_TEXT = {
    role: re.compile(rf"(?<![A-Za-z])(?:{role.upper()}|(?i:{'|'.join(names)}))(?![A-Za-z])")
    for role, names in ((role, names if len(role) < 3 else (role, *names)) for role, names in ROLES.items())
}


def role_of(text: str) -> str:
    """Return the role a text names, exactly or by an alias; otherwise the text itself in lower case."""
    folded = " ".join(text.casefold().split())
    return _ALIASES.get(folded, folded)


def roles_of(agent: Agent) -> frozenset[str]:
    """Return the roles an assistant fills: its own, and those it is called as,
    as the ready-made architect is.
    """
    return frozenset(map(role_of, (agent.role, agent.id, agent.name)))


def distance(agent: Agent, role: str) -> int | None:
    """Return how far an assistant is from a role: 0 for one that fills it, 1 or 2 where its role or name,
    or its description, has a word for it, else None.
    """
    if role_of(role) in roles_of(agent):
        return 0
    words, texts = _words_for(role), (f"{agent.role}\n{agent.name}", agent.description)
    return next((place for place, text in enumerate(texts, 1) if words.search(text)), None)


@lru_cache(maxsize=256)
def _words_for(role: str) -> re.Pattern[str]:
    """Return what finds a role in a text: the names of the known roles that it has, else the role itself."""
    wanted = role_of(role)
    known = [words.pattern for item, words in _IN_TEXT.items() if item == wanted or words.search(role)]
    return re.compile("|".join(known) or rf"(?i)(?<!\w){re.escape(wanted)}(?![A-Za-z0-9])")
