"""Values that no version of Moot knows, as a file may bring them: they are shown as unknown."""

from dataclasses import replace

import pytest

from app.core.events import EventBus
from app.core.message import Message
from app.core.session import DebateSession, Session, WorkflowSession
from app.core.store import StoredSession
from app.engine.live_session import LiveSession
from app.storage.codec import read_session
from tests.builders import PROMPTS, export
from tests.many_kinds import sessions

NEW = "of_tomorrow"


def with_unknown(session: Session, messages: list[Message], field: str) -> tuple[Session, list[Message]]:
    if field == "status":
        return replace(session, status=NEW), messages
    if field == "answer":
        return session, [
            replace(one, prompt=replace(one.prompt, answer=NEW)) if one.prompt else one for one in messages
        ]
    if field == "step" and isinstance(session, WorkflowSession):
        steps = tuple(replace(one, state=NEW) for one in session.workflow.steps)
        return replace(session, workflow=replace(session.workflow, steps=steps)), messages
    return session, [replace(one, **{field: NEW}) for one in messages]


@pytest.mark.parametrize("language", ["en", "ko", "tlh"])
@pytest.mark.parametrize(
    ("kind", "field"),
    [
        *(
            (kind, field)
            for kind in ("chat", "group", "workflow")
            for field in ("status", "note", "state", "answer")
        ),
        ("workflow", "step"),
        *(("debate", field) for field in ("status", "note", "state")),
    ],
)
def test_an_unknown_value_is_exported_as_unknown(kind: str, field: str, language: str) -> None:
    [(session, messages)] = [pair for pair in sessions() if pair[0].kind == kind]
    if isinstance(session, DebateSession):
        session = replace(session, debate=replace(session.debate, language=language))
    else:
        session = replace(session, chat=replace(session.chat, language=language))
    session, messages = with_unknown(session, messages, field)
    live = LiveSession(StoredSession(session=session, messages=messages), EventBus())
    for name in ("md", "html"):
        text = export(live, name, PROMPTS)
        assert ("알 수 없음" if language == "ko" else "unknown") in text
        assert NEW not in text.replace(f'class="{NEW}"', "")


@pytest.mark.parametrize("kind", [["debate"], {"a": 1}, 5, None, True])
def test_a_kind_that_is_no_text_is_of_no_kind(kind: object) -> None:
    session, read_only = read_session("0" * 26, {"kind": kind, "title": "T"})
    assert (session.title, read_only) == ("T", True)
