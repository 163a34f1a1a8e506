"""What the terminal says of a disk that refuses to write."""

from app.cli.printing.lines import error_line, load_texts, lost_line
from app.cli.printing.sessions import aside_text
from app.core.errors import BadInput, StorageError
from app.core.events import Notice

TEXTS = load_texts("en")


def test_a_process_that_ends_says_that_what_is_not_saved_is_lost() -> None:
    full = StorageError("disk_full", path="a.jsonl", detail="")
    assert "retried" not in error_line(full, TEXTS), "a start or a check that fails keeps nothing"
    notice = aside_text(Notice(session_id="", level="warning", code=full.code, details=full.details), TEXTS)
    assert "retried" in notice
    for session, then in (("", "run the command again"), ("s-1", "`moot resume s-1`")):
        line = lost_line(full, TEXTS, session)
        assert "disk is full: a.jsonl" in line and "lost" in line and then in line and "retried" not in line
    assert lost_line(BadInput("bad_spec", spec="x"), TEXTS) == error_line(
        BadInput("bad_spec", spec="x"), TEXTS
    )
