"""A question becomes the motion it asks about only where its subject is certain, else it stays as it was."""

from dataclasses import replace

import pytest

from app.core.council import Option
from app.core.council_parts import Differences, Position
from app.core.message import CouncilPart, Message
from app.engine.council.record import Record
from app.engine.council.requests import Requests, numbered, read_vote, view_of
from app.engine.debate.modes import asks_about_motion, motion_of, side_of
from tests.builders import PROMPTS, said
from tests.engine.test_council import a_council, asked

TURNED = {
    "Should cities ban private cars from their centres?": "Cities should ban private cars from their centres.",
    "Should museums be free  for everyone?": "Museums should be free for everyone.",
    "should we rewrite the parser?": "We should rewrite the parser.",
    "Should the government tax sugar?": "The government should tax sugar.",
    "Should nuclear power replace coal?": "Nuclear power should replace coal.",
    "Should the state pension be raised?": "The state pension should be raised.",
    "Should all new cars be electric?": "All new cars should be electric.",
    "Is remote work better than office work?": "Remote work is better than office work.",
    "Are exams fair?": "Exams are fair.",
    "원자력이 석탄을 대체해야 할까?": "원자력이 석탄을 대체해야 한다.",
    "정부는 설탕에 세금을 매겨야 하는가?": "정부는 설탕에 세금을 매겨야 한다.",
    "박물관은 모두에게 무료여야 할까요?": "박물관은 모두에게 무료여야 한다.",
    "우리는 파서를 다시 써야 하나?": "우리는 파서를 다시 써야 한다.",
    "새로 나오는 차는 모두  전기차여야 합니까?": "새로 나오는 차는 모두 전기차여야 한다.",
    "회사가 주 4일제를 도입해야 하나요?": "회사가 주 4일제를 도입해야 한다.",
    "올해 Postgres로 옮겨야 할까?": "올해 Postgres로 옮겨야 한다.",
    "원격 근무를 늘려야 할까요?": "원격 근무를 늘려야 한다.",
    "재택근무는 효율적인가?": "재택근무는 효율적이다.",
    "원자력은 경제적일까?": "원자력은 경제적이다.",
}
AS_THEY_ARE = (
    "Should children under 14 have smartphones?",
    "Tabs or spaces?",
    "Should we stay? Or should we go?",
    "Should we use Postgres or SQLite on the server?",
    "Should the car ban end?",
    "Should sales tax rise?",
    "Should the state pension rise?",
    "Should people who want to be actors leave school?",
    "Is a world with less meat better?",
    "Is there a right to be wrong?",
    "Cities should ban cars.",
    "원격 근무, 늘려야 할까?",
    "어떤 데이터베이스가 서버에 맞을까?",
    "누가 비용을 내야 할까?",
    "서버는 언제 다시 켜야 하나?",
    "회사는 사무실을 늘려야 할까, 아니면 줄여야 할까?",
    "Postgres와 SQLite 중에 무엇이 나을까?",
    "우리는 왜 테스트를 써야 할까?",
    "40대의 노트북이 며칠 만에 연결되면 어떻게 해야 할까?",
    "세금은 얼마나 올려야 할까?",
    "탕수육은 부어야 할까? 찍어야 할까?",
    "Postgres나 SQLite로 옮겨야 할까?",
    "무엇을 먼저 고쳐야 할까?",
    "원격 근무는 늘려야 한다.",
    "예산안이 통과될까?",
    "",
)


@pytest.mark.parametrize(("topic", "motion"), TURNED.items())
def test_a_yes_or_no_question_becomes_a_statement(topic, motion):
    assert motion_of(topic) == motion


@pytest.mark.parametrize("topic", AS_THEY_ARE)
def test_a_question_whose_subject_is_in_doubt_stays_as_it_is(topic):
    assert motion_of(topic) == topic


@pytest.mark.parametrize(
    ("answer", "side"),
    [
        ("Yes", "yes"),
        ("yes, all of them", "yes"),
        ("No. It costs too much", "no"),
        ("네, 대체해야 합니다", "yes"),
        ("반대", "no"),
        ("Yes, but only in cities", ""),
        ("No, unless it rains", ""),
        ("예, 다만 조건이 있습니다", ""),
        ("It depends on the price", ""),
        ("Nobody knows", ""),
        ("No one knows", ""),
        ("Yes and no, by region", ""),
        ("Yes it should", "yes"),
        ("Yesterday's answer", ""),
        ("예산이 부족합니다", ""),
        ("", ""),
    ],
)
def test_an_answer_to_a_motion_has_a_side_where_it_says_so_without_a_condition(
    answer: str, side: str
) -> None:
    assert side_of(answer)[0] == side


def test_only_a_question_with_a_certain_motion_is_for_or_against() -> None:
    assert asks_about_motion("Should cities  ban cars?") and asks_about_motion(
        "원자력이 석탄을 대체해야 할까?"
    )
    assert not asks_about_motion("Postgres or SQLite?") and not asks_about_motion("Which car\nis best?")


def test_answers_to_a_motion_stand_under_yes_and_no() -> None:
    debate = replace(a_council(), topic="Should cities ban cars?")
    held = ("Yes, all of them", "yes", "No, never")
    answers = [
        replace(said(who, "I say so.", id=who.id), part=CouncilPart.ANSWER, data=Position(answer=text))
        for who, text in zip(debate.participants, held, strict=True)
    ]
    messages = [asked(debate.topic), *answers]
    options = Record(debate, messages).options()
    assert [(one.text, len(one.backers), one.origin) for one in options] == [
        ("Yes", 2, "motion"),
        ("No", 1, "motion"),
    ]
    order = numbered(Record(debate, messages))
    assert "for or against" in str(Requests(Record(debate, messages), PROMPTS).differences(order).messages)
    plain = Record(debate, [asked("Postgres or SQLite?"), *answers])
    assert len(plain.options()) == 3
    assert "for or against" not in str(Requests(plain, PROMPTS).differences(order).messages)


@pytest.mark.parametrize("what_if", ["What if trams are free?", "Which cities, if trams are free?"])
def test_a_what_if_round_on_a_motion_keeps_yes_and_no(what_if: str) -> None:
    debate = replace(a_council(), topic="Should cities ban cars?")

    def answered(turn: str, *held: str) -> list[Message]:
        return [
            replace(
                said(who, text, id=f"{turn}{who.id}"), part=CouncilPart.ANSWER, data=Position(answer=text)
            )
            for who, text in zip(debate.participants, held, strict=True)
        ]

    first = [asked(debate.topic), *answered("a", "Yes, all of them", "yes", "No, never")]
    after = answered("b", "Yes, and soon", "No, trams will do", "no")
    record = Record(debate, [*first, asked(what_if, follows=True, concludes=True), *after])
    assert [(one.text, len(one.backers)) for one in record.options()] == [("Yes", 1), ("No", 2)]
    assert "for or against" in str(Requests(record, PROMPTS).differences(numbered(record)).messages)
    # A ballot in the words of the first vote is one in the second.
    view = view_of(record, debate.participants[0].id, 1, ballot=True)
    chosen = [read_vote(f'{{"choice": "{word}"}}', view, "m").choice for word in ("Yes", "No")]
    assert chosen == [one.id for one in record.options()]
    # Another question, which goes on from nothing, is another matter.
    anew = Record(debate, [*first, asked(what_if), *after])
    assert len(anew.options()) == 3


def test_an_answer_from_outside_that_takes_part_brings_its_option_once() -> None:
    debate = a_council(4)
    *people, outsider = debate.participants
    answers = [replace(said(who, "Postgres.", id=who.id), part=CouncilPart.ANSWER) for who in people]
    options = (Option(id="o1", text="Postgres", backers=tuple(one.id for one in people)),)
    compared = said(people[0], "", 0, part=CouncilPart.DIFFERENCES, data=Differences(options=options))
    brought = Position(choice="x1", new="DuckDB")
    check = said(outsider, "DuckDB.", 0, id="check", part=CouncilPart.CHECK, data=brought)
    joined = replace(check, id="joined", part=CouncilPart.ANSWER, data=replace(brought, joined=True))
    listed = Record(debate, [asked(debate.topic), *answers, compared, check, joined]).options()
    assert [one.text for one in listed] == ["Postgres", "DuckDB"]
