"""The viewer of servers' pages is installed from a package index, whole or not at all."""

import sys

import pytest

from app.children.processes import PackageError
from app.tools import page_viewer
from tests.tools.package_index import FILES, made_wheel, package_index


@pytest.fixture
def index(tmp_path, monkeypatch):
    with package_index(tmp_path, monkeypatch) as index:
        yield index


@pytest.mark.slow
def test_it_is_installed_beside_qt_with_its_permissions(index):
    index.seconds = 0.6
    steps = []
    assert page_viewer.can_install()
    page_viewer.install(lambda done, total: steps.append((done, total)))
    assert steps
    assert all(0 <= done <= total == page_viewer.VIEWER_BYTES for done, total in steps)
    for name, content in FILES.items():
        if name.endswith("RECORD"):  # The installer writes it.
            continue
        wanted = b"of Qt" if name.endswith(".pyi") else content
        assert (index.qt.parent / name).read_bytes() == wanted
    assert (index.qt / "Qt/libexec/QtWebEngineProcess").stat().st_mode & 0o777 == 0o755
    assert (index.qt / "QtWebEngineCore.abi3.so").stat().st_mode & 0o777 == 0o644
    assert not [name for name in index.left() if "moot" in name]
    assert not page_viewer.can_install()


@pytest.mark.parametrize("steps", [0, 3, 9, 12])
def test_stopped_at_any_point_nothing_is_left(index, steps):
    before, told = index.left(), []

    def stop(done, total):
        told.append(done)
        if len(told) > steps:
            raise PackageError("stopped")

    with pytest.raises(PackageError, match="stopped"):
        page_viewer.install(stop)
    assert index.left() == before
    assert page_viewer.can_install()


def test_a_built_program_does_not_offer_it(index, monkeypatch):
    assert page_viewer.can_install()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    assert not page_viewer.can_install()


@pytest.mark.slow
def test_another_content_is_refused_and_the_index_is_quoted(index):
    before = index.left()
    index.wheel = made_wheel(b"of somebody else")
    with pytest.raises(PackageError, match=r"HASHES|Hash mismatch"):
        page_viewer.install(lambda _done, _all: None)
    assert index.left() == before


def test_where_there_is_no_room_nothing_is_downloaded(index, monkeypatch):
    monkeypatch.setattr(page_viewer, "UNPACKED_BYTES", 1 << 60)
    with pytest.raises(PackageError, match="free space"):
        page_viewer.install(lambda _done, _all: None)


def test_a_build_and_a_folder_of_somebody_else_offer_nothing(index, monkeypatch):
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert not page_viewer.can_install()
    monkeypatch.undo()
    monkeypatch.setattr(page_viewer, "LOCK", index.qt / "no.lock")
    assert not page_viewer.can_install()
