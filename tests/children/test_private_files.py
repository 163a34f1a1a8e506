"""A file is replaced although another program reads it for a moment, as on Windows nothing else is possible."""

import os
import sys
import threading
from pathlib import Path

import pytest

from app.children.private_files import append_log, replace_file, replace_text


class SharingRules:
    """Windows' rules for open files: nothing takes the name of a file that somebody reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: set[str] = set()
        self.refused = 0
        self._replace = os.replace
        monkeypatch.setattr(os, "replace", self.replace)
        monkeypatch.setattr(sys, "platform", "win32")

    def replace(self, source: str | Path, target: str | Path, **folders: int | None) -> None:
        if str(target) in self.read:
            self.refused += 1
            raise PermissionError(13, "Access is denied", str(source), 5, str(target))
        self._replace(source, target, **folders)

    def read_for(self, path: Path, seconds: float) -> threading.Timer:
        """Read a file from now on for so long."""
        self.read.add(str(path))
        closing = threading.Timer(seconds, self.read.discard, [str(path)])
        closing.start()
        return closing


@pytest.fixture
def rules(monkeypatch: pytest.MonkeyPatch) -> SharingRules:
    return SharingRules(monkeypatch)


def test_what_is_read_for_a_moment_is_replaced_after_it(tmp_path: Path, rules: SharingRules) -> None:
    path = tmp_path / "control"
    replace_text(path, "old")
    closing = rules.read_for(path, 0.1)
    replace_text(path, "new")
    closing.join()
    assert path.read_text() == "new" and rules.refused and not path.with_name("control.new").exists()


def test_a_log_begins_again_although_its_predecessor_is_read(tmp_path: Path, rules: SharingRules) -> None:
    log = tmp_path / "moot.log"
    append_log(log, ["first"], 1)
    append_log(log, ["second"], 1)
    closing = rules.read_for(tmp_path / "moot.log.1", 0.1)
    append_log(log, ["third"], 1)
    closing.join()
    assert "second" in (tmp_path / "moot.log.1").read_text() and "third" in log.read_text()


def test_what_stays_open_is_an_error_within_a_second(tmp_path: Path, rules: SharingRules) -> None:
    path = tmp_path / "control"
    replace_text(path, "old")
    rules.read.add(str(path))
    with pytest.raises(PermissionError):
        replace_text(path, "new")
    assert (path.read_text(), rules.refused) == ("old", 5)


def test_elsewhere_a_refusal_is_told_at_once(
    tmp_path: Path, rules: SharingRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    rules.read.add(str(tmp_path / "b"))
    (tmp_path / "a").touch()
    with pytest.raises(PermissionError):
        replace_file(tmp_path / "a", tmp_path / "b")
    assert rules.refused == 1
