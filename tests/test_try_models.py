"""packaging/try_models.py against a hub on loopback, which serves the built-in model's file under another id."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.providers.model_file import find_model
from tests.wire.hub import catalogue_entry, hub

ROOT = Path(__file__).parents[1]


def tried(catalogue: Path, source: str, *more: str) -> subprocess.CompletedProcess[str]:
    script = ROOT / "packaging" / "try_models.py"
    given = ["--catalogue", catalogue, "--from", source, "--report", catalogue.with_name("report.md"), *more]
    command = [sys.executable, str(script), *map(str, given)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, cwd=ROOT)


def test_a_model_that_cannot_be_had_stays_untried(tmp_path: Path) -> None:
    catalogue = tmp_path / "catalogue.json"
    with hub(b"another file") as served:
        too_large = catalogue_entry("huge", served, computer_gb=9_000)
        catalogue.write_text(json.dumps([catalogue_entry("tiny", served), too_large]))
        done = tried(catalogue, f"{served.address}/missing")
    assert done.returncode == 1, done.stderr
    assert "tiny: model_fetch_missing" in done.stdout and "huge: left out" in done.stdout
    assert not any("tried" in entry for entry in json.loads(catalogue.read_text()))


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.skipif(find_model() is None, reason="the built-in model is not there")
def test_a_model_that_debates_is_filled_in_as_tried(tmp_path: Path) -> None:
    catalogue = tmp_path / "catalogue.json"
    with hub(Path(str(find_model())).read_bytes()) as served:
        entry = catalogue_entry("other", served, languages=["en", "ko"], options={"n_predict": 30})
        catalogue.write_text(json.dumps([entry]))
        done = tried(catalogue, f"{served.address}/ok", "--topics", "1", "--rounds", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    [kept] = json.loads(catalogue.read_text())
    assert kept == entry | {"tried": datetime.now(UTC).date().isoformat()}
    assert "tokens/s" in done.stdout and "of 8 answers alike" in done.stdout
    report = (tmp_path / "report.md").read_text("utf-8")
    assert report.count("**Ada**: ") == report.count("**Ben**: ") == 2
