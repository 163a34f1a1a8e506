"""The commands of debates: choose participants, set up, start, step in; `engine.debates` for the faces."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.core.council import Participant
from app.core.errors import BadInput, NotFound
from app.core.message import Attachments, Message, MessageState, Role, SummaryNote
from app.core.provider import ProviderStatus
from app.core.session import Council, DebateSession, Reason, Status, has_ended, resumable
from app.core.store import SessionStore
from app.engine.chat.commands import checked_text, found_message
from app.engine.chat.run import user_message
from app.engine.debate.director import copied, decide, forked, participant_of, turns_of, with_what_if
from app.engine.debate.modes import system_prompt
from app.engine.debate.notes import part_of, write_notes
from app.engine.debate.providers import DebateProviders
from app.engine.debate.run import HeldTurns, StatementRun
from app.engine.debate.setup import Candidate, DebateSetup, candidates_of, draft_of, session_of
from app.engine.director import Finish
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.runner import Sessions, check_open
from app.engine.turns.context import MeteredModels
from app.engine.voting import SessionChecks, seat_of


@dataclass(eq=False, repr=False)
class Debates:
    """The commands of debates; all raise BadInput, NotFound or StorageError in words."""

    _directory: AgentDirectory
    _sessions: Sessions
    _store: SessionStore
    _prompts: Prompts
    _providers: DebateProviders
    _models: MeteredModels

    def __post_init__(self) -> None:
        self.held = HeldTurns(self._sessions, self._models, self._providers.absent)

    def candidates(self) -> list[Candidate]:
        """Return who may take part."""
        directory, first = self._directory, self._directory.first_model()
        agents = [(agent, directory.model_of(agent, first)) for agent in directory.agents()]
        return candidates_of(agents, self._providers.statuses())

    def check(self, setup: DebateSetup) -> DebateSession:
        """Return the session of a set-up that passes every check. Raises BadInput."""
        session = session_of(setup, self._providers.statuses())
        self._providers.check_chosen(session)
        return session

    def system_prompt(self, setup: DebateSetup, participant: Participant) -> str:
        """Return the generated system prompt of a participant; the set-up need not be complete."""
        debate = draft_of(setup, self._providers.statuses()).debate
        completed = next((item for item in debate.participants if item.id == participant.id), participant)
        speaker = replace(completed, system_prompt=participant.system_prompt)
        return system_prompt(debate, speaker, self._prompts)

    async def start(self, setup: DebateSetup) -> str:
        """Start a debate and return its session's id.
        Raises BadInput, StorageError; then nothing was started.
        """
        session = self.check(setup)
        council = Council(differences=False, helper=self._providers.helper(session), ends=session.debate.ends)
        session = replace(session, debate=replace(session.debate, council=council))
        session_id = await self._sessions.start(session)
        self._providers.tell_helpless(self._sessions.live(session_id))
        return session_id

    async def say(
        self, session_id: str, text: str, files: Attachments = (), to: Sequence[str] = (), *, by: str = ""
    ) -> None:
        """Step into a debate, as the user or as the program `by`; the next speaker sees it.

        Where nobody has a turn left it begins a what-if round, in which all speak once, or those with these
        ids. Raises BadInput where it is empty.
        """
        live = await self._sessions.open(session_id)
        debate, text = live.debate_session.debate, checked_text(text, files)
        begins = self.is_over(live)
        if not begins:
            check_open(live)
        if to and not begins:
            raise BadInput("what_if_not_over", title=live.session.title)
        self._sessions.check(live.session)
        if (run := self._sessions.running(session_id)) is not None and begins:
            await run.wait()
        number = debate.round + bool(debate.turn) if begins else min(debate.round, debate.rounds)
        message = user_message(text, files, None, by=by, round=number)
        if begins:
            # With the message the debate runs, so that one that is killed here goes on with it.
            begun = with_what_if(debate, message, to)
            live.finish_message(message, debate=begun, status=Status.RUNNING, reason="")
            self._sessions.run(live)
        else:
            live.finish_message(message)
        await self._store.flush(session_id)

    def is_over(self, live: LiveSession) -> bool:
        """Say whether nobody has a turn left in a debate that does not run: a message begins a what-if
        round.
        """
        session = live.debate_session
        if live.read_only or session.debate.is_council or session.status == Status.RUNNING:
            return False
        if has_ended(session) and not resumable(session):
            return True
        decision = decide(session.debate, live.said, self._providers.absent(session))
        return isinstance(decision, Finish) and decision.reason != Reason.TOO_FEW

    # Results

    async def check_voting(self, provider: str, model: str) -> int:
        """Check once more whether a model can vote and judge; return how many questions it answered alike.

        Raises ProviderError.
        """
        return await self._providers.checks.run((provider, model), again=True)

    async def check_again(self, session_id: str, participant_id: str) -> None:
        """Check once more whether a participant can vote; what is found holds in the session at once.

        Raises ProviderError.
        """
        live = await self._sessions.open_to_change(session_id)
        participant = participant_of(live.debate_session.debate, participant_id)
        await SessionChecks(self._providers.checks, live).again(participant.seat)
        await self._store.flush(session_id)

    async def skip_check(self, session_id: str) -> None:
        """Go on without the votes of the models that are not checked yet. Raises BadInput without a run."""
        run = self._sessions.running(session_id)
        if not isinstance(run, StatementRun) or run.over:
            raise BadInput("no_voting_check")
        run.checks.skip()

    def judges(self, session_id: str) -> dict[str, str]:
        """Return who could judge an open debate, with names, the default first; empty
        where all models are too small.
        """
        live = self._sessions.live(session_id)
        return self._providers.offered_judges(live.debate_session) if live is not None else {}

    def first_judge(self, setup: DebateSetup) -> str:
        """Return who judges a debate that is set up so, a "provider/model", "" where nobody can."""
        return self._providers.first_judge(draft_of(setup, self._providers.statuses()))

    def readers(self, setup: DebateSetup) -> tuple[dict[str, str], dict[str, str]]:
        """Return who could judge what is set up so, and who could help, with their names,
        each the best first.
        """
        session = draft_of(setup, self._providers.statuses())
        return self._providers.offered_judges(session), self._providers.helpers(session)

    def may_help(self, setup: DebateSetup) -> list[ProviderStatus]:
        """Return the providers whose models could help in what is set up so."""
        able = {seat_of(reader)[0] for reader in self.readers(setup)[1]}
        return [status for status in self._providers.statuses() if status.config.id in able]

    def notes_writer(self, session_id: str) -> str:
        """Return the name of the model that writes the running notes of a debate, "" where there is none."""
        live = self._sessions.live(session_id)
        writers = self._providers.writers(live.debate_session) if live is not None else ()
        return seat_of(next(iter(writers), ""))[1]

    async def redo_notes(self, session_id: str, message_id: str) -> None:
        """Put running notes aside and write others on the same statements.
        Raises BadInput where no model gives any.
        """
        live = await self._sessions.open(session_id)
        check_open(live)
        self._sessions.check(live.session)
        notes, before = found_message(live, message_id), live.session.unused_summaries
        if notes.role != Role.SUMMARY:
            raise NotFound("message_not_found", message=message_id)
        live.change(**live.session.without_summaries({*before, notes.id}))
        writers = self._providers.writers(live.debate_session)
        part = part_of(live, notes)
        if await write_notes(live, part, writers, self._models, self._prompts, SummaryNote.ASKED):
            live.change(**live.session.without_summaries(before))
            raise BadInput("notes_failed", title=live.session.title)
        await self._store.flush(session_id)

    async def turns(self, session_id: str) -> list[Message]:
        """Return the turns of a debate that another could go on from, in order."""
        live = await self._sessions.open(session_id)
        return [turn for turn in turns_of([*live.whole_messages()]) if turn.state == MessageState.DONE]

    async def fork(self, session_id: str, message_id: str) -> str:
        """Start another debate that is the same up to a turn, paused after it; return its id."""
        live = await self._sessions.open(session_id)
        if live.debate_session.debate.is_council:
            raise BadInput("council_not_forked", title=live.session.title)
        messages = [msg for msg in live.whole_messages() if msg.role != Role.SUMMARY and not msg.is_interim]
        place = next((n for n, message in enumerate(messages) if message.id == message_id), None)
        if place is None:
            raise NotFound("message_not_found", message=message_id)
        kept, ids = copied(messages[: place + 1])
        return (await self._sessions.begin(forked(live.debate_session, kept, ids), *kept)).id
