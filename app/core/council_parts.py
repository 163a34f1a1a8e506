"""What the messages of a council hold beside their text: a class for each part, and their form in JSON.

In JSON a field is left out where it has its default, but for those that are made with `kept_beside`.
"""

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from app.core.council import Option, Point
from app.core.frozen import Frozen
from app.core.message import CouncilPart, PartData


def kept_beside(other: str, default: Any = (), name: str = "") -> Any:
    """Return a field that is also written where it is empty, if the field `other` is not;
    JSON has it under `name`.
    """
    return field(default=default, metadata={"beside": other, "name": name})


class Question(PartData):
    """What a question says of itself."""

    # Whether it goes on from what was asked before; else what was asked is asked afresh.
    follows: bool = False
    # The ids of those whom it is for alone, empty where it is for all.
    to: tuple[str, ...] = ()
    # Whether all vote after the answers to it, and a judge reads them: a what-if round.
    concludes: bool = False

    @property
    def is_new(self) -> bool:
        """Whether the answers to it are compared and debated by themselves."""
        return self.concludes or not self.to


class FileQuote(Frozen):
    """A quote, looked up in the files of the question."""

    # The words in quotation marks.
    text: str = ""
    # Whether it is in the files, a QuoteState.
    found: str = ""
    # The name of the file it is in, "" for none.
    file: str = kept_beside("text", "")
    # The page it is on, 0 in a file without pages.
    page: int = kept_beside("text", 0)


class Quoting(PartData):
    """What every statement may hold; a merged answer holds nothing else."""

    # What it quotes, as that was looked up when it ended.
    quotes: tuple[FileQuote, ...] = ()
    # The line with what was to be read by Moot, as it was written; None for a text without.
    trailer: str | None = None


class Position(Quoting):
    """What an author holds by an answer, a turn, a ballot or an objection."""

    # The short answer.
    answer: str = ""
    # The ids of the options as they were shown, in that order.
    shown: tuple[str, ...] = ()
    # The text of an option that it brings.
    new: str = ""
    # The id of the option that it chooses, "" for a blank.
    choice: str = ""
    # How sure it is, in percent.
    confidence: int | None = None
    # The ids of the statements that moved it.
    moved_by: tuple[str, ...] = kept_beside("shown")
    # Whether it is the answer of a model from outside that takes part since then.
    joined: bool = False


class Dissent(Quoting):
    """What a dissenter says."""

    # What would show that it is right.
    right_if: str = ""


class Quote(Frozen):
    """Words of an answer, letter for letter."""

    # The id of the answer, and its words.
    message: str = ""
    text: str = ""


class ComparedPoint(Frozen):
    """What the answers differ on, or all say."""

    # In a sentence.
    text: str = ""
    # Their words for it.
    quotes: tuple[Quote, ...] = kept_beside("text")
    # The participant who alone speaks of it, "" for several.
    only: str = kept_beside("text", "")


class Differences(PartData):
    """What a comparison of the answers came to."""

    # The ids of the answers that were compared, as they were numbered.
    order: tuple[str, ...] = ()
    # What can be held by them.
    options: tuple[Option, ...] = ()
    # What they differ on, and what all of them say.
    differ: tuple[ComparedPoint, ...] = kept_beside("options")
    agreed: tuple[ComparedPoint, ...] = kept_beside("options")


class EditedOptions(PartData):
    """The options as the user wrote them."""

    # All of them, in their order; their backers are those of the options that became them.
    options: tuple[Option, ...] = ()
    # Which option each one became that was there before; "" for one that was deleted.
    became: dict[str, str] = field(default_factory=dict)


class ArguedOption(PartData):
    """What the user wants argued again."""

    # The id of the option.
    option: str = ""


class ChosenAnswer(PartData):
    """Which answer the user goes by."""

    # The id of the answer, "" where the user took the choice back.
    message: str | None = None


class BestCase(Frozen):
    """The best case for an option, as a judge puts it."""

    # The id of the option, and the case for it.
    option: str = ""
    text: str = ""
    # The ids of the statements that it rests on.
    cites: tuple[str, ...] = kept_beside("text")


class JudgedPoint(Point):
    """What all agree on, or what is open, as a judge puts it."""

    # In a sentence, and the ids of the statements that it cites.
    text: str = ""
    cites: tuple[str, ...] = kept_beside("text")


class Claim(Frozen):
    """What an answer rests on."""

    # In a sentence.
    text: str = ""
    # The ids of those who hold it, and of those who deny it.
    holds: tuple[str, ...] = kept_beside("text", name="for")
    denies: tuple[str, ...] = kept_beside("text", name="against")
    # The ids of the statements that speak of it.
    cites: tuple[str, ...] = kept_beside("text")
    # What would tell whether it is so.
    settled_by: str = ""


class JudgeQuestion(Claim):
    """A claim that a judge puts as a question, which who holds it answers with yes."""

    # Who answers with yes, and who with no.
    holds: tuple[str, ...] = kept_beside("text", name="yes")
    denies: tuple[str, ...] = kept_beside("text", name="no")


class JudgeReading(PartData):
    """What a judge made of the debate in one order; where that could not be read, who it is
    and the order alone.
    """

    # "provider/model".
    judge: str = ""
    # The order in which it read the debate, 1 or 2.
    order: int = 0
    # How often the same debate had been judged before.
    asked: int = 0
    # The id of the option that it chooses, or NEITHER; "" where that could not be read.
    choice: str = ""
    # How sure it is, in percent.
    confidence: int | None = None
    # The ids of the options as they were shown, in that order.
    shown: tuple[str, ...] = ()
    # The best case for each option.
    cases: tuple[BestCase, ...] = kept_beside("shown")
    # What all agree on, and what is open.
    agreed: tuple[JudgedPoint, ...] = kept_beside("shown")
    open: tuple[JudgedPoint, ...] = kept_beside("shown")
    # The questions on which it thinks that the answer turns, and the claims that it found.
    questions: tuple[JudgeQuestion, ...] = kept_beside("shown", name="cruxes")
    claims: tuple[Claim, ...] = kept_beside("shown")
    # The ids of the statements that give out something as a fact and do not support it.
    unsupported: tuple[str, ...] = kept_beside("shown")
    # Whether the answer turns on what one wants, so that no evidence would settle it.
    values: bool = False


class JudgedMove(Frozen):
    """What a judge says of a change of position that cites what was said."""

    # The participant, and the round after which it voted for something else than before.
    participant: str = ""
    round: int = 0
    # Whether a statement that it cites argues for what it votes for now.
    argues: bool = False


class JudgedMoves(PartData):
    """What a judge says of the changes of position of a debate."""

    moves: tuple[JudgedMove, ...] = ()


class Rewritten(PartData):
    """What an answer is that was written anew for the blind pick."""

    # Whether it is what all came to; else it is the answer of one model alone.
    of_panel: bool = False


# The class of a message's data by its part; what a message of another part holds is kept as it is stored.
PART_DATA: Mapping[str, type[PartData]] = {
    **dict.fromkeys((CouncilPart.ANSWER, CouncilPart.TURN, CouncilPart.BALLOT), Position),
    **dict.fromkeys((CouncilPart.SOLO, CouncilPart.CHECK), Position),
    CouncilPart.QUESTION: Question,
    CouncilPart.DIFFERENCES: Differences,
    CouncilPart.OPTIONS: EditedOptions,
    CouncilPart.ARGUE: ArguedOption,
    CouncilPart.CHOICE: ChosenAnswer,
    CouncilPart.MERGE: Quoting,
    CouncilPart.READING: JudgeReading,
    CouncilPart.MOVES: JudgedMoves,
    CouncilPart.DISSENT: Dissent,
    CouncilPart.REWRITE: Rewritten,
}
