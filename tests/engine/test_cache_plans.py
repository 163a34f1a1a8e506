"""How long a provider shall keep a request: as long as the speaker's next one is likely to take."""

import pytest

from app.engine.request import cache_plan, life_of
from tests.builders import people, said

AT = "2026-11-01T10:{}:00.000+00:00"


@pytest.mark.parametrize(
    ("before", "now", "life"),
    [
        ("", AT.format("00"), "5m"),
        (AT.format("00"), AT.format("03"), "5m"),
        (AT.format("00"), AT.format("04"), "1h"),
        (AT.format("00"), "2026-11-01T11:00:00.000Z", "1h"),
        (AT.format("00"), "2026-11-01T11:01:00.000Z", ""),
        ("yesterday", AT.format("00"), "5m"),
        ("2026-11-01T10:00:00", AT.format("00"), "5m"),
    ],
)
def test_the_time_between_the_last_two_starts_decides(before: str, now: str, life: str) -> None:
    assert life_of(before, now) == life


def test_each_speaker_of_a_session_has_a_key_of_its_own() -> None:
    ann, bo = people(2)
    messages = [
        said(ann, "One.", created_at=AT.format("00")),
        said(bo, "Two.", created_at=AT.format("20")),
        said(bo, "Three.", created_at=AT.format("21")),
    ]
    plans = [
        cache_plan("s", one.id, messages, [said for said in reversed(messages) if said.author.id == one.id])
        for one in (ann, bo)
    ]
    assert [plan.life for plan in plans] == ["1h", "5m"]
    assert len({plan.key for plan in plans} | {cache_plan("t", ann.id, messages, []).key}) == 3
