"""Makes the rows of a transcript and says what each shows besides its message."""

from app.core.message import Message, MessageState
from app.core.text import visible
from app.core.texts import Texts
from app.core.usage import tokens_text
from app.engine.workflow.director import WORKFLOW
from app.engine.workflow.step_protocol import read_by_people
from app.gui.markdown.blocks import clean
from app.gui.transcript.card_row import CardContext, CardRow
from app.gui.transcript.group_row import GroupContext, GroupRow
from app.gui.transcript.message_row import MessageRow, RowContext
from app.gui.transcript.painted_row import PaintedRow
from app.gui.transcript.question_row import HeightOf, QuestionContext, QuestionRow
from app.gui.transcript.row_style import RowStyle
from app.gui.transcript.row_tree import CARD, GROUP, QUESTION
from app.gui.transcript.row_words import GUIDED
from app.gui.transcript.transcript_model import TranscriptModel

Context = RowContext | CardContext | GroupContext | QuestionContext

_FAILED_CHIPS: dict[str, str] = {
    MessageState.FAILED: "transcript.failed_chip",
    MessageState.STOPPED: "transcript.stopped",
}


class RowMaker:
    """Rows of a model; `height_of` knows how tall the widget of an open question is."""

    def __init__(self, model: TranscriptModel, height_of: HeightOf) -> None:
        self._model = model
        self._height_of = height_of

    def make(self, index: int, style: RowStyle, width: int) -> PaintedRow:
        """Return a row, laid out in a width."""
        model = self._model
        row_id, message, context = model.id(index), model.message(index), self.context(index, style)
        if isinstance(context, CardContext):
            return CardRow(row_id, message, style, context, width)
        if isinstance(context, GroupContext):
            return GroupRow(row_id, message, style, context, width)
        if isinstance(context, QuestionContext):
            return QuestionRow(row_id, message, style, context, width)
        return MessageRow(message, self._text(index, style), style, context, width)

    def renew(self, index: int, row: PaintedRow) -> None:
        """Bring a row that is held up to date with the model."""
        message, context = self._model.message(index), self.context(index, row.style)
        if isinstance(row, MessageRow) and isinstance(context, RowContext):
            if message.state != MessageState.STREAMING:
                row.finish(message, self._text(index, row.style), context)
            else:
                row.think(message, context)
                row.feed(self._text(index, row.style))
            return
        row.message = message
        if (
            (isinstance(row, CardRow) and isinstance(context, CardContext))
            or (isinstance(row, GroupRow) and isinstance(context, GroupContext))
            or (isinstance(row, QuestionRow) and isinstance(context, QuestionContext))
        ):
            row.set_context(context)  # type: ignore[arg-type]

    def context(self, index: int, style: RowStyle) -> Context:
        """Return what a row shows besides its message."""
        kind = self._model.entries[index].kind
        if kind == CARD:
            return self._card(index, style)
        if kind == GROUP:
            return self._group(index, style)
        if kind == QUESTION:
            return QuestionContext(self._height_of, self._model.frame(index, style.tokens))
        return self._model.context(index, style.tokens, style.texts)

    def _text(self, index: int, style: RowStyle) -> str:
        return shown_text(self._model.message(index), self._model.text(index), style.texts)

    def _card(self, index: int, style: RowStyle) -> CardContext:
        model, book = self._model, self._model.book
        entry, message = model.entries[index], model.message(index)
        call = message.tool_calls[entry.call]
        result = book.messages.get(entry.result_id)
        starts = book.calls_agent(message.turn_id, call)
        return CardContext(
            call=call,
            state=book.call_state(message, call, entry.result_id, runs=model.runs),
            seconds=result.seconds if result is not None else None,
            result=result.content if result is not None else "",
            depth=message.author.depth + 1 if starts else 0,
            unfolded=entry.id in model.unfolded,
            whole=entry.id in model.whole,
            frame=model.frame(index, style.tokens),
        )

    def _group(self, index: int, style: RowStyle) -> GroupContext:
        model, book, texts = self._model, self._model.book, style.texts
        message = model.message(index)
        turn_id = message.turn_id
        waiting = book.waits(turn_id)
        runs = model.runs and not waiting and book.goes_on(turn_id)
        folded = turn_id in model.folded
        tokens = book.tokens(turn_id)
        failure = "" if runs or waiting else book.failure(turn_id)
        doing = ""
        if runs and folded:
            called = book.last_call(turn_id)
            doing = visible(called)[:80] if called else texts("transcript.group.writing")
        return GroupContext(
            speaker=model.speaker(message.author, message.role, style.tokens, texts),
            of_step=_of_step(message),
            path=" › ".join([self._step(step) for step in self._path(message)]),
            steps=book.steps(turn_id),
            tokens=tokens_text(tokens) if tokens else "",
            folded=folded,
            runs=runs,
            waiting=waiting,
            failed=_FAILED_CHIPS.get(failure, ""),
            guided=any(each.why == GUIDED for each in book.said(turn_id)),
            doing=doing,
            elapsed_s=book.elapsed(turn_id) if runs and folded else 0,
            frame=model.frame(index, style.tokens),
        )

    def _path(self, message: Message) -> tuple[str, ...]:
        path = message.author.path
        return path if len(path) > 1 and not _of_step(message) else ()

    @staticmethod
    def _step(step: str) -> str:
        return " ".join(clean(step).split())[:40]


def shown_text(message: Message, text: str, texts: Texts) -> str:
    """Return what is shown of a message's text: of a step's, without the lines that say it is done."""
    if not _of_step(message):
        return text
    shown, artifacts = read_by_people(text, ended=message.state != MessageState.STREAMING)
    # A list begins on a line of its own.
    made = f"\n\n{artifacts}" if "\n" in artifacts else artifacts
    return f"{shown}\n\n{texts('step.artifacts', text=made)}" if artifacts else shown


def _of_step(message: Message) -> bool:
    """Say whether a message is of whoever does a workflow's step."""
    path = message.author.path
    return len(path) == 2 and path[0] == WORKFLOW
