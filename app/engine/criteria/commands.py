"""What the user does with the criteria of a session, and what a model proposes; `engine.criteria`
for window and terminal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from app.core.criteria import MAX_CRITERION, MOST_CRITERIA, CriterionState, accepted, chosen, criteria_of
from app.core.errors import BadInput
from app.core.ids import new_id
from app.core.json_values import as_list, read_object, schema_list, schema_object
from app.core.provider import one_message
from app.core.session import Status
from app.engine.criteria.checking import Checked
from app.engine.library.agents import AgentModel
from app.engine.prompts import Prompts
from app.engine.runner import Sessions
from app.engine.turns.context import MeteredModels

# How many criteria are proposed at most, and the characters of a task that are read for that.
MOST_PROPOSED = 5
MOST_TASK = 20_000
_PROPOSED = schema_object(criteria=schema_list({"type": "string"}))


@dataclass(eq=False, repr=False)
class Criteria:
    """The commands of criteria; all raise BadInput, NotFound or StorageError in words."""

    _sessions: Sessions
    _models: MeteredModels
    _prompts: Prompts
    _language: Callable[[], str]

    async def propose(self, task: str, model: AgentModel, session_id: str = "") -> tuple[str, ...]:
        """Return what a model says must be true when a task is done; nothing is kept but what the call cost.

        None where its answer cannot be read. Raises ProviderError.
        """
        live = self._sessions.live(session_id)
        told = {"most": str(MOST_PROPOSED), "task": task[:MOST_TASK]}
        text = self._prompts.text(self._language(), "criteria-propose", **told)
        request = one_message(model.provider, model.model, text, schema=_PROPOSED)
        used = partial(self._sessions.note_unsaid, live)
        answer = await self._models.ask(request, session_id, used=used)
        said = as_list((read_object(answer) or {}).get("criteria"))
        texts = [item for item in said if isinstance(item, str) and len(item) <= MAX_CRITERION]
        return tuple(criterion.text for criterion in criteria_of(texts[:MOST_CRITERIA])[:MOST_PROPOSED])

    async def choose(self, session_id: str, texts: Sequence[str]) -> None:
        """Say when the work of a session is done; a criterion that was there stays as it is."""
        live = await self._sessions.open_chat(session_id)
        live.change(criteria=chosen(texts, live.session.criteria))

    async def accept(self, session_id: str) -> None:
        """Take the work as it is: what is not met is accepted, and the session is completed."""
        live = await self._sessions.open_chat(session_id)
        session = live.session
        criteria, works = session.all_criteria(due=True), session.status in (Status.RUNNING, Status.WAITING)
        missing = any(item.state in (CriterionState.UNMET, CriterionState.UNKNOWN) for item in criteria)
        if works or not missing:
            raise BadInput("nothing_to_accept", title=live.session.title)
        taken = Checked(criteria=accepted(criteria)).fields(session)
        live.change(**taken, status=Status.COMPLETED, reason="")

    async def check(self, session_id: str) -> None:
        """Have work that has ended checked now; what is not met goes back."""
        live = await self._sessions.open_chat(session_id)
        if live.session.status in (Status.IDLE, Status.COMPLETED) and live.session.all_criteria(due=True):
            live.change(chat=replace(live.chat_session.chat, budget_from=new_id()))
            self._sessions.run(live)
