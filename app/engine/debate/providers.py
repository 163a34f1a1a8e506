"""What the providers mean to a debate: who is absent, who can vote and judge, and how a request looks."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.core.catalog import RequestForm
from app.core.council import NO_JUDGE, Ends, Participant, Seat
from app.core.errors import BadInput
from app.core.message import Attachment, Message
from app.core.provider import ModelRequest, ProviderStatus
from app.core.session import Council, Debate, DebateSession, DebateTools
from app.core.settings import DebateHistory
from app.core.store import Documents
from app.engine.debate.director import participant_of
from app.engine.debate.families import family_of
from app.engine.debate.modes import form_of
from app.engine.debate.perspective import Turn, chat_request, notes_sent, transcript_request
from app.engine.debate.setup import knows_judge
from app.engine.director import Speak
from app.engine.history import as_taken, context_text, fits, tokens_of
from app.engine.library.agents import AgentDirectory
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.providers import ProviderProblem, provider_of, stays_here
from app.engine.request import WINDOW, cache_plan
from app.engine.turns.context import MeteredModels
from app.engine.voting import VotingChecks, name_of, seat_of

MOST_JUDGES = 3


@dataclass(eq=False, repr=False)
class DebateProviders:
    """Answers a debate's questions about its participants' providers as they are now."""

    _documents: Documents
    _prompts: Prompts
    statuses: Callable[[], list[ProviderStatus]]
    _directory: AgentDirectory
    _models: MeteredModels
    checks: VotingChecks

    def mute(self, session: DebateSession) -> set[str]:
        """Return the participants whose models cannot argue: they take no chat messages."""
        return {item.id for item in session.debate.participants if not self._can_think(item.provider)}

    def can_judge(self, seat: Seat) -> bool:
        """Return whether a model can judge; one that was not checked yet can."""
        return not self.checks.judge_reason(seat)

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
        voters = [item.seat for item in debate.participants if votes and item.id not in absent]
        return [*voters, *map(seat_of, judges)]

    def writers(self, session: DebateSession) -> dict[str, str]:
        """Return the models that can write running notes with their names: the judge that was chosen,
        and the participants'.

        No other provider reads the debate for that.
        """
        usable = {status.config.id for status in self._ready(_used(session))}
        chosen = [session.debate.judge] if seat_of(session.debate.judge)[1] else []
        found = _named(session, (*chosen, *(name_of(item.seat) for item in session.debate.participants)))
        return {item: name for item, name in found.items() if seat_of(item)[0] in usable}

    def offered_judges(self, session: DebateSession) -> dict[str, str]:
        """Return whom the user can ask for a verdict, with their names: the default first, then all
        that are ready.
        """
        # Behind the chosen judge stand those whom the user can choose in its place.
        others = replace(session, debate=replace(session.debate, judge=""))
        judges = _named(session, (*self.council_judges(session), *self.council_judges(others)))
        found = judges | self._readers(session) | judges
        return {item: name for item, name in found.items() if self.can_judge(seat_of(item))}

    def _readers(self, session: DebateSession) -> dict[str, str]:
        usual = (status for status in self._ready(_used(session)) if status.default_model)
        writers = self.writers(session)
        return writers | {name_of((one.config.id, one.default_model)): one.label for one in usual} | writers

    def _ready(self, used: set[str]) -> list[ProviderStatus]:
        """Return the providers that are ready, whose models can argue, and that may read a session
        that uses these.
        """
        barred = self._barred(used)
        ready = [status for status in self.statuses() if status.ready and self._can_think(status.config.id)]
        return [status for status in ready if status.config.id not in barred]

    def barred(self, session: DebateSession) -> set[str]:
        """Return the providers that may not read a session, whoever chose them.

        Where all who take part run on this computer these are all that do not.
        """
        return self._barred(_used(session))

    def _barred(self, used: set[str]) -> set[str]:
        elsewhere = {status.config.id for status in self.statuses() if not stays_here(status)}
        return set() if used & elsewhere else elsewhere

    def tell_helpless(self, live: LiveSession | None) -> None:
        """Say in a session that has begun that nobody can vote, compare or judge, and who cannot read
        the web, where that was wanted.
        """
        if live is None:
            return
        debate, council = live.debate_session.debate, live.debate_session.debate.council
        if council is not None and council.ends != Ends.NONE and not council.helper:
            live.notice(self.without_help(live.debate_session, "nobody_votes"))
        if only_reads(debate.tools, council=debate.is_council):
            without = (each for each in debate.participants if self.tools(debate, each) == DebateTools.NONE)
            if names := ", ".join(each.name for each in without):
                live.notice("without_web", names=names)

    def without_help(self, session: DebateSession, code: str) -> str:
        """Return the code of a text on why nobody helps: `code`, or that of a session that stays here.

        That is where somebody elsewhere is ready, and may not read it.
        """
        ready = {status.config.id for status in self.statuses() if status.ready}
        return f"{code}_here" if ready & self.barred(session) else code

    def check_judge(self, judge: str, session: DebateSession) -> None:
        """Raise BadInput for a judge that cannot be asked, or not about this session."""
        if not knows_judge(judge, statuses := self.statuses()):
            known = sorted(status.config.id for status in statuses)
            raise BadInput("unknown_judge", judge=judge, providers=", ".join(known))
        if seat_of(judge)[0] in self.barred(session):
            raise BadInput("reader_elsewhere", model=judge)

    def check_chosen(self, session: DebateSession) -> None:
        """Raise BadInput where the user chose a judge or a helper that cannot be asked about a session."""
        self.check_judge(session.debate.judge, session)
        self.check_helper(session.debate.helper, session)

    def check_helper(self, chosen: str, session: DebateSession) -> None:
        """Raise BadInput for a helper that cannot be asked, or not about this session; "" is nobody."""
        provider, model = seat_of(chosen)
        if provider in self.barred(session):
            raise BadInput("reader_elsewhere", model=chosen)
        allowed = self._may_read(_used(session)) & {status.config.id for status in self.statuses()}
        if chosen and not (model and provider in allowed and self._can_think(provider)):
            raise BadInput("unknown_helper", model=chosen, providers=", ".join(sorted(allowed)))

    def helper(self, session: DebateSession) -> str:
        """Return the "provider/model" that compares a council's answers, "" where nobody can.

        It is the one that the user chose, else the one before, as long as it can be asked; else the first of
        `helpers`.
        """
        council, found = session.debate.council, self.helpers(session)
        chosen = session.debate.helper or (council.helper if council else "")
        provider, known = seat_of(chosen)[0], {seat_of(item)[0] for item in found}
        if provider in known if found else provider not in self.barred(session):
            return chosen
        return next(iter(found), "")

    def helpers(self, session: DebateSession) -> dict[str, str]:
        """Return who can compare a council's answers, with their names, the cheapest first.

        First those of a provider that the session uses, then of one that may read any session; the default
        model of a provider comes before a participant's own.
        """
        used, may_read = _used(session), self._may_read(_used(session))
        taking_part = {participant.seat for participant in session.debate.participants}

        def rank(one: str) -> tuple[bool, bool, float]:
            seat = seat_of(one)
            return seat[0] not in used, seat in taking_part, self._price(seat)

        readers = self._readers(session)
        return {item: readers[item] for item in sorted(readers, key=rank) if seat_of(item)[0] in may_read}

    def may_not_read(self, session: DebateSession) -> ProviderStatus | None:
        """Return a provider that could compare a council's answers if it might read any session; None
        where one can already.
        """
        could = {seat_of(reader)[0] for reader in self._readers(session)}
        if could & self._may_read(_used(session)):
            return None
        return next((status for status in self.statuses() if status.config.id in could), None)

    def outside(self, session: DebateSession) -> list[str]:
        """Return the models that can read a council without having taken part, each a "provider/model",
        the best first.

        First those of a base family that does not take part, then others, and the participants' own last. All
        are of providers that the session uses, or that may read any session.
        """
        return self._outside([participant.seat for participant in session.debate.participants])

    def _outside(self, taking: Sequence[tuple[str, str]]) -> list[str]:
        families = {family_of(model) for _, model in taking}
        used = {provider for provider, _ in taking}
        may_read = self._may_read(used)
        ready = [status for status in self._ready(used) if status.config.id in may_read]
        usual = [(status.config.id, status.default_model) for status in ready if status.default_model]
        every = [(status.config.id, model) for status in ready for model in status.models]
        found = [*(seat for seat in usual if family_of(seat[1]) not in families), *usual, *every]
        usable = {status.config.id for status in ready}
        inside = [seat for seat in taking if seat[0] in usable]
        others = [seat for seat in found if seat not in taking]
        return [*dict.fromkeys(map(name_of, (*others, *inside)))]

    def _may_read(self, used: set[str]) -> set[str]:
        """Return the providers that may be sent a session that uses these: these, and those
        that may read any.
        """
        return used | set(self._documents.settings().may_read_any)

    def council_judges(self, session: DebateSession) -> tuple[str, ...]:
        """Return who reads a session at its end: the user's choice alone, else as in `outside`; none
        where the user wants none.
        """
        judge, barred = session.debate.judge, self.barred(session)
        chosen = [] if judge == NO_JUDGE else [judge] if "/" in judge else self.outside(session)
        able = (item for item in chosen if self.can_judge(seat_of(item)) and seat_of(item)[0] not in barred)
        return tuple(islice(able, MOST_JUDGES))

    def first_judge(self, session: DebateSession) -> str:
        """Return who reads a session at its end first, "" for nobody."""
        return next(iter(self.council_judges(session)), "")

    def outsider(self, session: DebateSession) -> str:
        """Return the "provider/model" of another base family than those that take part, ""
        where there is none.
        """
        return self.outsider_of([name_of(participant.seat) for participant in session.debate.participants])

    def outsider_of(self, taking: Sequence[str]) -> str:
        """Return the "provider/model" of another base family than these that may read what they do, ""
        for none.
        """
        families = set(map(family_of, taking))
        first = next(iter(self._outside([seat_of(item) for item in taking])), "")
        return first if first and family_of(first) not in families else ""

    def form(self, provider_id: str) -> str:
        """Return how a provider's models are asked: as chat turns, or with one text."""
        config = provider_of(self._documents, provider_id)
        return form_of(config.kind if config else "")

    def _price(self, seat: Seat) -> float:
        prices = self._models.known_facts(*seat).prices
        return prices.read + prices.written if prices else float("inf")

    def _can_think(self, provider_id: str) -> bool:
        return self.form(provider_id) != RequestForm.TRANSCRIPT

    def tools(self, debate: Debate, speaker: Participant) -> str:
        """Return which tools a participant may use, a DebateTools: in a council at most those for reading.

        It is none where its model takes no chat messages; nor does an external agent read, or a model that
        can call no tools.
        """
        if only_reads(debate.tools, council=debate.is_council):
            able = self._directory.model(*speaker.seat).may_call
            return DebateTools.READING if able else DebateTools.NONE
        return debate.tools if self._can_think(speaker.provider) else DebateTools.NONE

    def absent(self, session: DebateSession) -> frozenset[str]:
        """Return which participants are absent: their provider is gone or switched off,
        or the user left them out.
        """
        unusable = (ProviderProblem.DISABLED, ProviderProblem.UNKNOWN_KIND)
        usable = {status.config.id for status in self.statuses() if status.problem not in unusable}
        gone = {item.id for item in session.debate.participants if item.provider not in usable}
        return frozenset(gone | set(session.debate.left))

    def request(self, live: LiveSession, spoken: Speak, window: int, verdict: str = "") -> ModelRequest:
        """Return the request of a turn, with at most `window` messages;
        a what-if round is told the last `verdict`.
        """
        debate, messages = live.debate_session.debate, live.said
        speaker = participant_of(debate, spoken.speaker)
        thinks = self._can_think(speaker.provider)
        if thinks and window == WINDOW and not self.keeps_notes():
            window = self._fitting(live, speaker)
        given, said = self.taken(live, speaker) if thinks else (debate, messages)
        turn = Turn(debate=given, messages=said, speaker=speaker, round=spoken.round, window=window)
        turn = replace(turn, notes=notes_sent(live, window), verdict=verdict)
        if not thinks:
            return transcript_request(turn, self._prompts)
        # What others say first stands before the own opening where that was made without it.
        blind = debate.independent_opening and spoken.round == 1
        own = (message for message in reversed(messages) if message.author.id == speaker.id)
        grows = len(turn.readable()) <= window and not blind
        plan = cache_plan(live.id, speaker.id, messages, own, brief=True, tail=True, grows=grows)
        return replace(chat_request(turn, self._prompts), cache=plan)

    def given(self, debate: Debate, provider: str, model: str) -> Debate:
        """Return a debate with its context files as a model takes them."""
        taker = self._directory.model(provider, model)
        return replace(debate, context=tuple(as_taken(attachment, taker) for attachment in debate.context))

    def taken(self, live: LiveSession, speaker: Participant) -> tuple[Debate, list[Message]]:
        """Return a debate and what was said in it, all files as a participant's model takes them."""
        debate, taker = live.debate_session.debate, self._directory.model(*speaker.seat)
        words = self._prompts.lines(debate.language, "assistant")

        def shown(file: Attachment) -> Attachment:
            # What is seen has no text beside it.
            given = as_taken(file, taker)
            return replace(given, text=context_text(given, words)) if given.data or given.pages else given

        def with_taken(message: Message) -> Message:
            files = map(shown, message.attachments)
            return replace(message, attachments=(*files,)) if message.by_user else message

        return self.given(debate, *speaker.seat), [*map(with_taken, live.said)]

    def keeps_notes(self) -> bool:
        """Whether participants are sent the last statements alone, with notes on the others."""
        return self._documents.settings().debate_history != DebateHistory.ALL

    def _fitting(self, live: LiveSession, speaker: Participant) -> int:
        """Return how many messages a participant's model can be sent, those of the rule at least.

        Half of its window is left to the brief, the files and the answer.
        """
        room = fits(self._models.known_facts(*speaker.seat)) // 2
        count = 0
        for message in reversed(live.said):
            texts = (message.content, *(attachment.text for attachment in message.attachments))
            room -= sum(tokens_of(text, speaker.model) for text in texts)
            if room < 0:
                break
            count += 1
        return max(WINDOW, count)


def only_reads(tools: str, *, council: bool) -> bool:
    """Say whether these tools let participants read the web and nothing else; in a council
    all they have are for that.
    """
    return tools == DebateTools.READING or (council and tools == DebateTools.OWN)


def _used(session: DebateSession) -> set[str]:
    return {participant.provider for participant in session.debate.participants}


def _named(session: DebateSession, models: Iterable[str]) -> dict[str, str]:
    """Return models, each a "provider/model", with their names: that of a participant, else
    of the model itself.
    """
    names = {name_of(item.seat): item.name for item in reversed(session.debate.participants)}
    return {model: names.get(model, seat_of(model)[1]) for model in models}
