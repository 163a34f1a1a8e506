"""What is read in the words of a council's models: votes, confidences and last lines, and whose family they are of."""

import pytest

from app.core.council_parts import Position
from app.engine.council.record import first_sentence
from app.engine.council.requests import found_in
from app.engine.debate.families import family_of
from app.engine.debate.replies import OTHER, TrailerCleaner, confidence_of, read_choice, read_trailer

SHOWN = (("o3", "Postgres, one row per document"), ("o1", "SQLite"), ("o2", "Neither of them"))


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ('{"choice": "B", "confidence": 80}', "o1"),
        ('```json\n{"choice": "B",}\n```', "o1"),
        ("{'choice': 'c'}", "o2"),
        ("{“choice”: “A”}", "o3"),
        ('{"choice": "SQLite"}', "o1"),
        ('{"choice": "other", "text": "Files"}', OTHER),
        ('{"choice": "D"}', ""),
        ('{"choice": "B", "confi', "o1"),
        ("My vote: B.", "o1"),
        ("제 선택은 B입니다.", "o1"),
        ("답: (A)", "o3"),
        ("**C**", "o2"),
        ("B", "o1"),
        ("A", "o3"),
        ("SQLite, since one writer is enough.", "o1"),
        ("Either A or C", ""),
        ("Either B or C", ""),
        ("A difficult question", ""),
        ("I would not choose B.", ""),
        ("I do not vote for A; my choice is B", ""),
        ("B가 아니라고 봅니다", ""),
        ("option A, option B", ""),
        ("", ""),
    ],
)
def test_two_candidates_are_none(text: str, choice: str) -> None:
    assert read_choice(text, SHOWN) == choice


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("B를 선택해요. 확신은 70%예요.", "no"),
        ("A를 고르겠어요. 예를 들어 비용이 적어요.", "yes"),
        ("저는 ‘예’ 쪽이에요.", "yes"),
        ("비용이 적어서예요.", ""),
    ],
)
def test_a_short_option_is_chosen_by_its_text_only_where_that_stands_alone(text: str, choice: str) -> None:
    assert read_choice(text, (("yes", "예"), ("no", "아니요"))) == choice
    cities = (("seoul", "서울"), ("busan", "부산"))
    assert read_choice("저는 서울을 고르겠습니다.", cities) == "seoul"
    assert read_choice("B, as far as I know.", (("no", "No"), ("yes", "Yes"))) == "yes"


@pytest.mark.parametrize(
    ("value", "percent"),
    [
        (70, 70),
        ("70 %", 70),
        (0.7, 70),
        (1, 1),
        (100, 100),
        (101, None),
        (-1, None),
        (True, None),
        ("sure", None),
    ],
)
def test_a_confidence_is_a_percentage(value: object, percent: int | None) -> None:
    assert confidence_of(value) == percent


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("written", "shown", "found"),
    [
        ('Use it.\n\n@@ {"answer": "Use it", "confidence": 0.8}', "Use it.", Position(answer="Use it", confidence=80)),
        ('Mail me @@ home.\n@@{"answer": "x"}\n', "Mail me @@ home.", Position(answer="x")),
        ('`@@ {"answer":\n "x"}`\nAnd more.', "And more.", Position(answer="x")),
        ("Plain.", "Plain.", Position()),
        ("Broken.\n@@ {answer", "Broken.", Position()),
    ],
)  # fmt: skip
def test_the_last_line_is_not_shown(written: str, shown: str, found: Position, size: int) -> None:
    cleaner = TrailerCleaner.for_name("GPT")
    pieces = [cleaner.feed(written[at : at + size])[0] for at in range(0, len(written), size)]
    text = "".join([*pieces, cleaner.finish()[0]])
    assert text.strip() == shown
    assert read_trailer(cleaner.trailer) == found


@pytest.mark.parametrize(
    ("written", "first"),
    [
        ("## Yes\n\nBecause.", "Yes"),
        ("일요일은 사람들이 **시간이 있는** 날이에요. 또 있어요.", "일요일은 사람들이 시간이 있는 날이에요."),
        ("> See [the `report`](https://example.org/a) of 2 * 3. More.", "See the report of 2 * 3."),
        ("A ban helps, but *deliveries* go on. More.", "A ban helps, but deliveries go on."),
    ],
)
def test_an_answer_without_a_last_line_is_held_by_its_first_sentence(written: str, first: str) -> None:
    assert first_sentence(written) == first


def test_models_of_one_family_are_told_whatever_their_provider() -> None:
    assert family_of("anthropic/claude-opus-4-5") == family_of("claude-haiku") == "anthropic"
    assert family_of("openai/gpt-5.2") == family_of("o3-mini") != family_of("gemini-3-pro")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("queue drains", "queue\n  drains"),
        ("\u201cone\u201d file – no", '"one"  file — no'),
        ("raine", ""),
        ("eue drai", "eue\n  drai"),
        ("  is it.  ", "is it."),
        ("A", "A"),
        ("it..", ""),
        ("", ""),
        (" ", ""),
    ],
)
def test_words_are_found_whatever_their_spaces_quotes_and_dashes(words: str, found: str) -> None:
    assert found_in('  A queue\n  drains "one"  file — not two. That is it.\n', words) == found
