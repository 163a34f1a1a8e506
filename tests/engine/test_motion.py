"""A question becomes the motion it asks about, or stays as it was."""

import pytest

from app.engine.debate.perspective import motion_of


@pytest.mark.parametrize(
    ("topic", "motion"),
    [
        (
            "Should cities ban private cars from their centres?",
            "Cities should ban private cars from their centres.",
        ),
        ("Should museums be free  for everyone?", "Museums should be free for everyone."),
        ("should we rewrite the parser?", "We should rewrite the parser."),
        ("Should the government tax sugar?", "The government should tax sugar."),
        ("Is remote work better than office work?", "Remote work is better than office work."),
        ("Are exams fair?", "Exams are fair."),
    ],
)
def test_a_yes_or_no_question_becomes_a_statement(topic, motion):
    assert motion_of(topic) == motion


@pytest.mark.parametrize(
    "topic",
    [
        "Should children under 14 have smartphones?",
        "Tabs or spaces?",
        "Should we stay? Or should we go?",
        "Cities should ban cars.",
        "원격 근무, 늘려야 할까?",
        "",
    ],
)
def test_what_it_cannot_turn_stays_as_it_is(topic):
    assert motion_of(topic) == topic
