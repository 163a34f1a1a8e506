"""What the providers mean to a debate: who is absent, who can vote and judge, and how a request looks."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from app.core.catalog import RequestForm
from app.core.council import NO_JUDGE, Ends, Judge, Participant, Seat
from app.core.errors import BadInput
from app.core.message import Attachment, Message
from app.core.provider import ModelRequest, ProviderStatus
from app.core.session import Council, Debate, DebateSession, DebateTools
from app.core.settings import DebateHistory
from app.core.store import Documents
from app.engine.debate.director import participant_of
from app.engine.debate.families import family_of
from app.engine.debate.modes import form_of
from app.engine.debate.perspective import chat_request, notes_sent, transcript_request, visible
from app.engine.debate.setup import check_judge
from app.engine.director import Speak
from app.engine.history import fits, tokens_of
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.providers import ProviderProblem, provider_of, stays_here
from app.engine.request import WINDOW, cache_plan
from app.engine.request_items import as_taken, context_text
from app.engine.turns.metered_models import MeteredModels
from app.engine.voting import VotingChecks, name_of, seat_of

MOST_JUDGES = 3


class DebateProviders:
    """Answers a debate's questions about its participants' providers as they are now."""

    def __init__(
        self,
        documents: Documents,
        prompts: Prompts,
        statuses: Callable[[], list[ProviderStatus]],
        directory: AgentDirectory,
        models: MeteredModels,
        checks: VotingChecks,
    ) -> None:
        self._facts = models.known_facts
        self._directory = directory
        self.checks = checks
        self._documents = documents
        self._prompts = prompts
        self.statuses = statuses

    def thinkers(self, session: DebateSession) -> list[Participant]:
        """Return the participants whose models can argue: not those that take no chat messages."""
        return [one for one in session.debate.participants if self._can_think(one.provider)]

    def can_judge(self, provider: str, model: str) -> bool:
        """Return whether a model can judge; one that was not checked yet can."""
        return not self.checks.judge_reason((provider, model))

    def needed_checks(self, session: DebateSession) -> list[Seat]:
        """Return whose votes, and whose verdict as the first judge, a session comes to by itself.

        A judge that was named is among them even where it cannot judge: that is then said.
        """
        debate, council = session.debate, session.debate.council or Council()
        votes = bool(council.rounds or council.wanted_rounds) if debate.is_council else debate.votes
        judged = votes if debate.is_council else debate.concludes
        fits = "/" in debate.judge and seat_of(debate.judge)[0] not in self.barred(session)
        named = (debate.judge,) if fits else ()
        judges = (*named, *(council.judges or self.council_judges(session))[:1]) if judged else ()
        absent = self.absent(session) if votes else frozenset()
        voters = [one.seat for one in debate.participants if votes and one.id not in absent]
        return [*voters, *map(seat_of, judges)]

    def writers(self, session: DebateSession) -> list[Judge]:
        """Return the models that can write running notes: the judge chosen in the set-up and the participants', each once.

        No other provider reads the debate for that.
        """
        usable = {one.config.id for one in self._ready(session)}
        provider, model = seat_of(session.debate.judge)
        found = [Judge(one.name, one.provider, one.model) for one in session.debate.participants]
        # The chosen one comes first, under its name in the debate where it takes part.
        chosen = [one for one in found if (one.provider, one.model) == (provider, model)]
        chosen = chosen or ([Judge(model, provider, model)] if model else [])
        return _each_once(one for one in (*chosen, *found) if one.provider in usable)

    def judges(self, session: DebateSession) -> list[Judge]:
        """Return who is asked for a verdict, each with its name: the judge chosen in the set-up alone, else as in `outside`."""
        names = {f"{one.provider}/{one.model}": one.name for one in reversed(session.debate.participants)}
        pairs = ((one, *seat_of(one)) for one in self.council_judges(session))
        return [Judge(names.get(one, model), provider, model) for one, provider, model in pairs]

    def _able(self, session: DebateSession) -> Iterator[str]:
        """Yield who can read a session, each a "provider/model": the judge chosen alone, else as in `outside`."""
        chosen = [session.debate.judge] if "/" in session.debate.judge else self.outside(session)
        for one in chosen:
            if self.can_judge(*one.split("/", 1)) and seat_of(one)[0] not in self.barred(session):
                yield one

    def offered_judges(self, session: DebateSession) -> list[Judge]:
        """Return whom the user can ask for a verdict, the default first: other providers that are ready as well."""
        # Behind the chosen judge stand those whom the user can choose in its place.
        others = replace(session, debate=replace(session.debate, judge=""))
        found = self.judges(session) + self.judges(others) + self._readers(session)
        return [one for one in _each_once(found) if self.can_judge(one.provider, one.model)]

    def _readers(self, session: DebateSession) -> list[Judge]:
        usual = [one for one in self._ready(session) if one.default_model]
        found = [Judge(one.label, one.config.id, one.default_model) for one in usual]
        return _each_once((*self.writers(session), *found))

    def _ready(self, session: DebateSession) -> list[ProviderStatus]:
        """Return the providers that are ready, whose models can argue, and that may read a session."""
        barred = self.barred(session)
        ready = [one for one in self.statuses() if one.ready and self._can_think(one.config.id)]
        return [one for one in ready if one.config.id not in barred]

    def barred(self, session: DebateSession) -> set[str]:
        """Return the providers that may not read a session, whoever chose them.

        Where all who take part run on this computer these are all that do not.
        """
        elsewhere = {one.config.id for one in self.statuses() if not stays_here(one)}
        return set() if _used(session) & elsewhere else elsewhere

    def tell_helpless(self, live: LiveSession | None) -> None:
        """Say in a session that has begun that nobody can vote, compare or judge, where that was wanted."""
        council = live.debate_session.debate.council if live is not None else None
        if live is not None and council is not None and council.ends != Ends.NONE and not council.helper:
            live.notice(self.without_help(live.debate_session, "nobody_votes"))

    def without_help(self, session: DebateSession, code: str) -> str:
        """Return the code of a text on why nobody helps: `code`, or that of a session that stays here.

        That is where somebody elsewhere is ready, and may not read it.
        """
        ready = {one.config.id for one in self.statuses() if one.ready}
        return f"{code}_here" if ready & self.barred(session) else code

    def check_judge(self, judge: str, session: DebateSession) -> None:
        """Raise BadInput for a judge that cannot be asked, or not about this session."""
        check_judge(judge, self.statuses())
        if seat_of(judge)[0] in self.barred(session):
            raise BadInput("reader_elsewhere", model=judge)

    def check_chosen(self, session: DebateSession) -> None:
        """Raise BadInput where the user chose a judge or a helper that cannot be asked about a session."""
        self.check_judge(session.debate.judge, session)
        provider, model = seat_of(chosen := session.debate.helper)
        if provider in self.barred(session):
            raise BadInput("reader_elsewhere", model=chosen)
        allowed = self._may_read(session) & {one.config.id for one in self.statuses()}
        if chosen and not (model and provider in allowed and self._can_think(provider)):
            raise BadInput("unknown_helper", model=chosen, providers=", ".join(sorted(allowed)))

    def helper(self, session: DebateSession) -> str:
        """Return the "provider/model" that compares a council's answers, "" where nobody can.

        It is the one that the user chose, else the one before, as long as it can be asked; else the first of `helpers`.
        """
        council, found = session.debate.council, self.helpers(session)
        chosen = session.debate.helper or (council.helper if council else "")
        provider, known = seat_of(chosen)[0], {one.provider for one in found}
        if provider in known if found else provider not in self.barred(session):
            return chosen
        return name_of(found[0].seat) if found else ""

    def helpers(self, session: DebateSession) -> list[Judge]:
        """Return who can compare a council's answers, the cheapest first.

        First those of a provider that the session uses, then of one that may read any session; the default model of a
        provider comes before a participant's own.
        """
        used, may_read = _used(session), self._may_read(session)
        taking_part = {one.seat for one in session.debate.participants}

        def rank(one: Judge) -> tuple[bool, bool, float]:
            return one.provider not in used, one.seat in taking_part, self._price(*one.seat)

        return sorted((one for one in self._readers(session) if one.provider in may_read), key=rank)

    def may_not_read(self, session: DebateSession) -> ProviderStatus | None:
        """Return a provider that could compare a council's answers if it might read any session; None where one can already."""
        could = {one.provider for one in self._readers(session)}
        if could & self._may_read(session):
            return None
        return next((one for one in self.statuses() if one.config.id in could), None)

    def outside(self, session: DebateSession) -> list[str]:
        """Return the models that can read a council without having taken part, each a "provider/model", the best first.

        First those of a base family that does not take part, then others, and the participants' own last. All are of
        providers that the session uses, or that may read any session.
        """
        taking = [f"{one.provider}/{one.model}" for one in session.debate.participants]
        families = {family_of(one.model) for one in session.debate.participants}
        may_read = self._may_read(session)
        ready = [one for one in self._ready(session) if one.config.id in may_read]
        usual = [(one.config.id, one.default_model) for one in ready if one.default_model]
        others = [(one.config.id, model) for one in ready for model in one.models]
        found = [f"{provider}/{model}" for provider, model in usual if family_of(model) not in families]
        found += [f"{provider}/{model}" for provider, model in (*usual, *others)]
        usable = {one.config.id for one in ready}
        inside = [one for one in taking if one.partition("/")[0] in usable]
        return list(dict.fromkeys((*(one for one in found if one not in taking), *inside)))

    def _may_read(self, session: DebateSession) -> set[str]:
        """Return the providers that may be sent a session: those that it uses, and those that may read any."""
        return _used(session) | set(self._documents.settings().may_read_any)

    def council_judges(self, session: DebateSession) -> tuple[str, ...]:
        """Return who reads a session at its end: the user's choice alone; none where the user wants none."""
        return () if session.debate.judge == NO_JUDGE else tuple(islice(self._able(session), MOST_JUDGES))

    def outsider(self, session: DebateSession) -> str:
        """Return the "provider/model" of another base family than those that take part, "" where there is none."""
        families = {family_of(one.model) for one in session.debate.participants}
        first = next(iter(self.outside(session)), "")
        return first if first and family_of(first) not in families else ""

    def form(self, provider_id: str) -> str:
        """Return how a provider's models are asked: as chat turns, or with one text."""
        return form_of(self._kind(provider_id))

    def _kind(self, provider_id: str) -> str:
        config = provider_of(self._documents, provider_id)
        return config.kind if config else ""

    def _price(self, provider: str, model: str) -> float:
        prices = self._facts(provider, model).prices
        return prices.read + prices.written if prices else float("inf")

    def _can_think(self, provider_id: str) -> bool:
        return self.form(provider_id) != RequestForm.TRANSCRIPT

    def tools(self, debate: Debate, speaker: Participant) -> str:
        """Return which tools a participant may use, a DebateTools: none where its model takes no chat messages."""
        return debate.tools if self._can_think(speaker.provider) else DebateTools.NONE

    def absent(self, session: DebateSession) -> frozenset[str]:
        """Return which participants are absent: their provider is gone or switched off, or the user left them out."""
        unusable = (ProviderProblem.DISABLED, ProviderProblem.UNKNOWN_KIND)
        usable = {one.config.id for one in self.statuses() if one.problem not in unusable}
        gone = {one.id for one in session.debate.participants if one.provider not in usable}
        return frozenset(gone | set(session.debate.left))

    def request(self, live: LiveSession, spoken: Speak, window: int, verdict: str = "") -> ModelRequest:
        """Return the request of a turn, with at most `window` messages; a what-if round is told the last `verdict`."""
        debate, messages = live.debate_session.debate, live.said
        speaker = participant_of(debate, spoken.speaker)
        if self.form(speaker.provider) == RequestForm.TRANSCRIPT:
            asked = partial(transcript_request, debate, messages, speaker, spoken.round, self._prompts)
            return asked(window=window, notes=notes_sent(live, window), verdict=verdict)
        if window == WINDOW and not self.keeps_notes():
            window = self._fitting(live, speaker)
        notes = notes_sent(live, window)
        given, said = self.taken(debate, messages, speaker)
        asked = partial(chat_request, given, said, speaker, spoken.round, self._prompts)
        request = asked(window=window, notes=notes, verdict=verdict)
        heard = visible(debate, messages, speaker, spoken.round, window=len(messages))
        # What others say first stands before the own opening where that was made without it.
        blind = debate.independent_opening and spoken.round == 1
        own = (one for one in reversed(messages) if one.author.id == speaker.id)
        grows = len(heard) <= window and not blind
        plan = cache_plan(live.id, speaker.id, messages, own, brief=True, tail=True, grows=grows)
        return replace(request, cache=plan)

    def given(self, debate: Debate, provider: str, model: str) -> Debate:
        """Return a debate with its context files as a model takes them."""
        taker = self._directory.model(provider, model)
        return replace(debate, context=tuple(as_taken(one, taker) for one in debate.context))

    def taken(
        self, debate: Debate, messages: Sequence[Message], speaker: Participant
    ) -> tuple[Debate, list[Message]]:
        """Return a debate and what was said in it, all files as a participant's model takes them."""
        taker = self._directory.model(speaker.provider, speaker.model)
        words = self._prompts.lines(debate.language, "assistant")

        def shown(file: Attachment) -> Attachment:
            # What is seen has no text beside it.
            given = as_taken(file, taker)
            return replace(given, text=context_text(given, words)) if given.data or given.pages else given

        def with_taken(message: Message) -> Message:
            if not message.by_user or not message.attachments:
                return message
            return replace(message, attachments=tuple(map(shown, message.attachments)))

        given = self.given(debate, speaker.provider, speaker.model)
        return given, [with_taken(one) for one in messages]

    def keeps_notes(self) -> bool:
        """Whether participants are sent the last statements alone, with notes on the others."""
        return self._documents.settings().debate_history != DebateHistory.ALL

    def _fitting(self, live: LiveSession, speaker: Participant) -> int:
        """Return how many messages a participant's model can be sent, those of the rule at least.

        Half of its window is left to the brief, the files and the answer.
        """
        room = fits(self._facts(speaker.provider, speaker.model)) // 2
        count = 0
        for message in reversed(live.said):
            texts = (message.content, *(one.text for one in message.attachments))
            room -= sum(tokens_of(text, speaker.model) for text in texts)
            if room < 0:
                break
            count += 1
        return max(WINDOW, count)


def _used(session: DebateSession) -> set[str]:
    return {one.provider for one in session.debate.participants}


def _each_once(found: Iterable[Judge]) -> list[Judge]:
    """Return each model once, under the first of its names."""
    unique: dict[tuple[str, str], Judge] = {}
    for one in found:
        unique.setdefault((one.provider, one.model), one)
    return list(unique.values())
