"""A debate as a document for people: its outcome, then all that was said, round by round."""

from collections.abc import Iterator, Mapping

from app.core.catalog import EMBEDDED
from app.core.council import Decision, Point
from app.core.council_parts import Position
from app.core.message import SPOKEN, Attachment, CouncilPart, Message, Role
from app.core.session import Debate
from app.core.texts import closed
from app.engine.council.outcome import Said, cite_text, vote_places
from app.engine.council.record import Record
from app.engine.council.verdicts import verdict_parts
from app.engine.debate.modes import role_name
from app.engine.debate.replies import without_marks
from app.engine.export import document
from app.engine.export.formats import literal_markdown, message_entry, moment, named, said_by
from app.engine.live_session import LiveSession
from app.engine.prompts import Prompts
from app.engine.voting import name_of

_KINDS = (CouncilPart.DISSENT, CouncilPart.SOLO, CouncilPart.CHECK)


class DebateDocument:
    """A debate as a document: its messages, and headings and facts in the debate's language."""

    def __init__(self, live: LiveSession, prompts: Prompts, decision: Decision | None = None) -> None:
        self._decision = decision
        self._session = live.debate_session
        self._debate: Debate = self._session.debate
        self._whole = list(live.whole_messages())
        spoken = (each for each in self._whole if each.part in SPOKEN and each.role != Role.SUMMARY)
        said = (each for each in spoken if each.content or each.error or each.note or each.attachments)
        self._messages = [each for each in said if not each.is_interim]
        self._by_id = {message.id: message for message in self._messages}
        self._rounds, self._held = self._counted_rounds()
        self._prompts = prompts
        self._lines = prompts.lines(self._debate.language, "export")
        self._texts = prompts.shown(self._debate.language)
        people = self._debate.participants
        self._roles = {person.id: person.role for person in people}
        self._colours = {person.id: document.colour_of(place) for place, person in enumerate(people)}

    def parts(self) -> Iterator[document.DocumentPart]:
        """Yield it part by part: what came of it, and then what was said."""
        title, language, facts = self._session.title, self._debate.language, tuple(self._facts())
        yield document.DocumentHead(title=title, language=language, facts=facts)
        if (topic := self._debate.topic.strip()) and "\n" in topic and not self._debate.is_council:
            # A council's stands among what was said.
            body = literal_markdown(topic)
            yield document.Entry(heading=self._lines["topic"], body=body, colour=document.USER)
        yield from self._outcome()
        before = ""
        for message in self._messages:
            heading = self._heading_before(message)
            if heading and heading != before:
                yield document.Section(heading=heading)
            before = heading or before
            colour, told = self._colours.get(message.author.id, document.USER), (self._lines, self._texts)
            said = self._heading(message)
            yield message_entry(message, *told, heading=said, colour=colour, anchor=message.id)
        if context := self._debate.context:
            files = tuple(Attachment(name=file.name, text=file.text) for file in context)
            yield document.Section(heading=self._lines["context"], files=files)

    def _facts(self) -> list[tuple[str, str]]:
        debate = self._debate
        roles = ((item, f"{self._role(item.role)}, " if item.role else "") for item in debate.participants)
        people = ", ".join(f"{item.name} ({role}{name_of(item.seat)})" for item, role in roles)
        topic = debate.topic.strip()
        embedded = any(participant.provider == EMBEDDED for participant in debate.participants)
        facts = {
            "topic": topic if topic != self._session.title and "\n" not in topic else None,
            "mode": named(self._lines, "mode", debate.mode),
            "participants": people,
            "rounds": self._rounds_held(),
            "date": moment(self._session.created_at),
            "status": named(self._lines, "status", self._session.status),
            "context": ", ".join(file.name for file in debate.context) if debate.context else None,
            "note": self._lines["embedded"] if embedded else None,
        }
        return [(self._lines[name], fact) for name, fact in facts.items() if fact is not None]

    def _counted_rounds(self) -> tuple[Mapping[str, int], tuple[int, int]]:
        """Return how many rounds the debate of each message's question has, by the message's id, and how many
        were held and wanted in all: each question has its own, and only what is wanted of the last is kept.
        """
        debate, record = self._debate, Record(self._debate, self._whole)
        begun = {record.messages[place].id for place in record.new}
        parts: list[list[Message]] = [[]]
        for message in self._messages:
            parts += [[]] if message.id in begun else []
            parts[-1].append(message)
        held = [max((message.round for message in part), default=0) for part in parts]
        last = debate.council.rounds if debate.council and debate.is_council else debate.rounds
        wanted = [*held[:-1], max(held[-1], last)]
        by_message = {msg.id: count for part, count in zip(parts, wanted, strict=True) for msg in part}
        return by_message, (sum(held), sum(wanted))

    def _rounds_held(self) -> str:
        """Return the number of rounds, and how many of them were held where a debate ended early."""
        held, wanted = self._held
        if not self._debate.is_council or held in (0, wanted):
            return str(wanted)
        return self._words("rounds.held", held=held, rounds=wanted)

    def _outcome(self) -> Iterator[document.Section]:
        """Yield what the user decided, the verdict, and the ballots."""
        if self._decision is not None:
            decided = tuple(document.ListItem(text=line) for line in self._decided(self._decision))
            yield document.Section(heading=self._lines["decision"], lines=decided)
        chart = None if self._debate.is_council else self._chart()
        for heading, points in verdict_parts(self._session, self._whole, self._words):
            held = chart if heading == self._lines["council.options"] else None
            yield document.Section(heading=heading, lines=tuple(map(self._line, points)), chart=held)
            # The chart has the votes up to now, which stand first.
            chart = None if held else chart

    def _decided(self, decision: Decision) -> Iterator[str]:
        """Yield what the user decided, and what came of it or when that is asked."""
        yield decision.decided
        if decision.sign:
            yield self._words("decision.sign", sign=decision.sign)
        if decision.result:
            yield self._words(f"decision.{decision.result}")
        elif decision.due:
            yield self._words("decision.due", date=decision.due)

    def _chart(self) -> document.Chart | None:
        """Return the ballots of a debate as a chart, None where all voted only once."""
        record = Record(self._debate, self._whole)
        letters, rounds = record.letters, record.voted_rounds
        if len(rounds) < 2:
            return None
        columns = (self._words("verdict.round" if item else "verdict.before", round=item) for item in rounds)
        curves = (document.Curve(self._colours[who], places) for who, places in vote_places(record).items())
        levels, title = tuple(letters.get(option.id, "") for option in record.options()), self._lines["stood"]
        return document.Chart(title=title, levels=levels, columns=tuple(columns), curves=tuple(curves))

    def _words(self, key: str, **values: object) -> str:
        """Return a text of the export by its key; a failure's code where it has none."""
        return self._lines.get(key, key.partition(".")[2]).format(**values)

    def _line(self, point: Point) -> document.ListItem:
        """Return a sentence with the messages it cites."""
        cited = (self._by_id[cite] for cite in point.cites if cite in self._by_id)
        named = ((cite_text(item, said_by(item, self._lines), self._words), item.id) for item in cited)
        cites = tuple(document.Citation(*item) for item in named)
        text, is_said = point.text.strip(), isinstance(point, Said)
        if is_said and "\n" in text:
            return document.ListItem(body=closed(text), cites=cites)
        return document.ListItem(
            text=" ".join((without_marks(text) if is_said else text).split()), cites=cites
        )

    def _heading_before(self, message: Message) -> str:
        """Return the heading that a message stands below, "" for that of the message before it."""
        if message.part == CouncilPart.ANSWER:
            return self._lines["answers"]
        rounds = self._rounds[message.id]
        return self._words("round", round=message.round, rounds=rounds) if message.round else ""

    def _heading(self, message: Message) -> str:
        if message.author.kind == "user":
            return said_by(message, self._lines)
        name = message.author.name
        if message.part == CouncilPart.MERGE:
            return self._words("council.merged")
        if message.part in _KINDS:
            return f"{name} · {self._words(f'council.{message.part}')}"
        role, sure = self._roles.get(message.author.id, ""), message.data_as(Position).confidence
        said = [self._role(role)] if role else []
        said += [self._words("council.sure", percent=sure)] if sure is not None else []
        return f"{name} ({', '.join(said)})" if said else name

    def _role(self, role: str) -> str:
        return role_name(role, self._debate.language, self._prompts)
