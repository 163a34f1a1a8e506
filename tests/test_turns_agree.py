"""Engine, window, export and terminal agree about a tree of turns, however it has grown."""

import re
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.printing.chats import ChatPrinter
from app.core.events import EventBus
from app.core.message import Author, Message, MessageState, Prompt, PromptType, Role, ToolCall
from app.core.session import Chat, ChatSession
from app.core.store import StoredSession
from app.core.texts import Texts
from app.core.turns import Turns
from app.engine.chat.export import ChatDocument
from app.engine.export.document import Entry
from app.engine.live_session import LiveSession
from app.gui.transcript.transcript_model import CARD, MESSAGE, TranscriptModel
from tests.builders import PROMPTS
from tests.repeats import examples

TEXTS = Texts.load(Path(__file__).parents[1] / "resources" / "i18n", "en")
USER = Author(id="user", name="User", kind="user")
ENDS = (MessageState.DONE, MessageState.DONE, MessageState.STOPPED, MessageState.FAILED)
Seen = list[tuple[str, int]]
"""The words of messages, and the calls, in the order of reading, each with its depth."""


def unfold(model: TranscriptModel, live: LiveSession) -> None:
    """Do as if the user had unfolded all turns: sub-agents whose results were taken up are folded otherwise."""
    model.chosen.update(live.turns.ids)


class Growing:
    """A chat that grows as the engine writes one, and a transcript that follows it."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        session = ChatSession(id="s", title="T", chat=Chat(assistant_id="a", assistant_name="Ann"))
        self.live = LiveSession(StoredSession(session=session, messages=[]), EventBus())
        self.model = TranscriptModel()
        self.model.reset(session)
        self.count = 0

    @property
    def head(self) -> str:
        """The last turn of the chosen version."""
        return self.live.chat_session.chat.head

    def put(self, role: str, turn_id: str, **fields: object) -> Message:
        """Write a message, streamed before it is whole where it is an answer; its words are its own."""
        self.count += 1
        first = self.live.turns.first(turn_id)
        names = ("follows", "parent_turn_id", "parent_call_id") if first else ()
        hangs = {name: getattr(first, name) for name in names}
        values = {"author": USER if role == Role.USER else Author(id="a", name="Ann", path=("a",))}
        values |= {**hangs, "content": f"words{self.count}", **fields}
        message_id = f"m{self.count:04}"
        message = Message(id=message_id, turn_id=turn_id, role=role, **values)  # type: ignore[arg-type]
        if role == Role.ASSISTANT and self.draw(st.booleans()):
            self.live.start_message(message)
            self.follow(self.live.turns.messages[message.id])
        self.live.finish_message(message)
        self.follow(message)
        return message

    def follow(self, message: Message) -> None:
        """Let the transcript show a message of the chosen version."""
        if self.live.turns.root(message.turn_id) in self.live.turns.back_from(self.head):
            self.model.put(message)

    def go_to(self, head: str) -> None:
        """Choose another version."""
        self.live.change(chat=replace(self.live.chat_session.chat, head=head))
        unfold(self.model, self.live)
        self.model.load(self.live.shown_with_summaries())

    def some(self, turn_ids: list[str]) -> str:
        """Return one of some turns."""
        return self.draw(st.sampled_from(turn_ids))

    def says(self) -> None:
        """The user says something; in place of what was said before it is another version."""
        path = list(self.live.turns.back_from(self.head))
        follows = self.some(["", *path])
        if follows != self.head:
            self.go_to(follows)
        self.put(Role.USER, f"t{self.count}", follows=follows)

    def answers(self) -> None:
        """The assistant answers, or goes on with its turn."""
        first = self.live.turns.first(self.head)
        if first is None:
            return
        begins = first.role == Role.USER
        turn_id = f"t{self.count}" if begins else self.head
        self._speak(turn_id, **({"follows": self.head} if begins else {}))

    def retries(self) -> None:
        """An answer is made again."""
        follows = [
            each.follows for each in map(self.live.turns.first, self.live.turns.back_from(self.head)) if each
        ]
        if any(follows):
            self.go_to(self.some([each for each in follows if each]))
            self._speak(f"t{self.count}", follows=self.head)

    def chooses(self) -> None:
        """The user goes to another version of a turn."""
        if self.head:
            turn_id = self.some(list(self.live.turns.back_from(self.head)))
            self.go_to(self.live.turns.latest_leaf(self.some(list(self.live.turns.versions(turn_id)))))

    def _speak(self, turn_id: str, **fields: object) -> None:
        names = self.draw(st.lists(st.sampled_from(["fetch", "subAgent", "promptUser"]), max_size=3))
        calls = tuple(
            ToolCall(id=f"c{self.count}.{place}", name=name, arguments=f"call{self.count}.{place}")
            for place, name in enumerate(names)
        )
        state = self.draw(st.sampled_from(ENDS))
        fields["content"] = self.draw(st.sampled_from(["", f"words{self.count + 1}"]))
        done = {"tool_calls": calls} if state == MessageState.DONE else {}
        self.put(Role.ASSISTANT, turn_id, state=state, **done, **fields)

    def works(self) -> None:
        """Something comes of an open call: a result, a question, a sub-agent's next words."""
        turns = self.live.turns
        due = [
            (message, call)
            for turn_id in turns.below(self.head)
            for message in turns.said(turn_id)
            for call in message.tool_calls
            if not any(each.tool_call_id == call.id and each.ended for each in turns.said(turn_id))
        ]
        if not due:
            return
        message, call = self.draw(st.sampled_from(due))
        about = {"author": message.author, "tool_call_id": call.id}
        begun, ends = turns.child_turn(message.turn_id, call.id), self.draw(st.booleans())
        if call.name == "subAgent" and not (begun and ends):
            author = Author(id="b", name="Ben", kind="sub", path=("a",), depth=message.author.depth + 1)
            hangs = {"parent_turn_id": message.turn_id, "parent_call_id": call.id}
            self._speak(begun or f"t{self.count}", author=author, **hangs)
        elif call.name == "promptUser":
            prompt = Prompt(question="Which?", type=PromptType.TEXT)
            asked = self.put(Role.TOOL, message.turn_id, prompt=prompt, content="asked", **about)
            said = self.put(Role.USER, message.turn_id, content="answer", answers=asked.id)
            answered = replace(asked, prompt=replace(prompt, answered_by=said.id, answer="answer"))
            self.live.finish_message(answered)
            self.follow(answered)
        elif self.draw(st.booleans()):
            approval = Prompt(question="", type=PromptType.APPROVAL, tool=call.name, reason="tool")
            self.put(Role.SYSTEM, message.turn_id, prompt=approval, content="", **about)
        else:
            self.put(Role.TOOL, message.turn_id, content="result", **about)

    def summarises(self) -> None:
        """What was said before the last turn is summarised."""
        for turn_id in list(self.live.turns.back_from(self.head))[1:2]:
            self.put(Role.SUMMARY, turn_id, through=turn_id, content="summary", follows=None)


ACTS = (
    Growing.says, Growing.answers, Growing.answers, Growing.works, Growing.works, Growing.works,
    Growing.retries, Growing.chooses, Growing.summarises,
)  # fmt: skip


@st.composite
def chats(draw: st.DrawFn) -> Growing:
    """Return a chat after some of all that may happen to one."""
    growing = Growing(draw)
    growing.says()
    growing.answers()
    for act in draw(st.lists(st.sampled_from(ACTS), max_size=25)):
        act(growing)
    return growing


def by_engine(live: LiveSession) -> Seen:
    """Say it the long way: each turn of the path, and at each call the turns that it began."""
    seen: Seen = []

    def tell(turn_id: str, depth: int) -> None:
        for message in live.turns.said(turn_id):
            if message.content.startswith("words"):
                seen.append((message.content, depth))
            for call in message.tool_calls:
                seen.append((call.arguments, depth))
                begun = live.turns.child_turn(turn_id, call.id)
                if begun is not None:
                    tell(begun, depth + 1)

    for turn_id in reversed(list(live.turns.back_from(live.chat_session.chat.head))):
        tell(turn_id, 0)
    return seen


def in_window(model: TranscriptModel) -> Seen:
    """Return what the rows show; a question that is a call's result has a row in place of the call's."""
    seen: Seen = []
    for row in model.entries:
        message, depth = model.book.messages[row.message_id], len(row.groups)
        if row.kind == MESSAGE and message.content:
            seen.append((message.content, depth))
        elif row.kind == CARD:
            seen.append((message.tool_calls[row.call].arguments, depth))
        elif message.role == Role.TOOL:
            calls = [call for each in model.book.said(message.turn_id) for call in each.tool_calls]
            seen += [(call.arguments, depth) for call in calls if call.id == message.tool_call_id]
    return seen


def in_export(live: LiveSession) -> Seen:
    """Return what the document of the chat holds."""
    entries = [part for part in ChatDocument(live, PROMPTS).parts() if isinstance(part, Entry)]
    found = (
        (re.search(r"(words|call)[\d.]+", " ".join((one.body, *one.notes))), one.depth) for one in entries
    )
    return [(words[0], depth) for words, depth in found if words]


def in_terminal(live: LiveSession) -> Seen:
    """Return what `moot show` prints."""
    printer = ChatPrinter(TEXTS)
    printer.know(live.session)
    text = "".join(printer.transcript(live.shown_with_summaries()))
    lines = [re.fullmatch(r"( *)(?:> \w+ )?((?:words|call)[\d.]+)", line) for line in text.splitlines()]
    return [(line[2], len(line[1]) // 4) for line in lines if line]


@settings(max_examples=examples(150), deadline=None)
@given(chats())
def test_all_tell_a_chat_alike(chat: Growing) -> None:
    live, model = chat.live, TranscriptModel()
    model.reset(live.session)
    unfold(model, live)
    model.load(live.shown_with_summaries())
    assert chat.model.entries == model.entries, "rows that came one by one are those of the whole"
    told = by_engine(live)
    assert in_window(model) == told
    assert in_export(live) == told
    assert in_terminal(live) == told
    path = set(live.turns.back_from(chat.head))
    assert [each.id for each in live.shown()] == [
        each.id
        for each in live.messages
        if each.role != Role.SUMMARY and live.turns.root(each.turn_id) in path
    ]
    again = Turns(live.messages)
    assert [again.root(each) for each in again.ids] == [live.turns.root(each) for each in live.turns.ids]
    assert again.versions_shown(chat.head) == live.turns.versions_shown(chat.head)
