"""Downloads each model of the catalogue and lets it debate, on a machine with a network; then fills
in `tried`.

A model is tried once its file has the right hash and it has debated every topic with itself, in English and
in Korean where it speaks that; build/tried-models.md then has what was said, for a person to read. Exit
status 1 where a model failed.
"""

import argparse
import asyncio
import contextlib
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import psutil

from app.core.catalog import EMBEDDED_MODEL, LOCAL
from app.core.council import NO_JUDGE, Participant
from app.core.errors import BadInput, MootError
from app.core.message import MessageState
from app.core.provider import LocalModel
from app.engine.debate.setup import DebateSetup
from app.engine.voting import QUESTIONS
from app.storage.paths import resources_dir
from app.wiring import Moot, open_moot

CATALOGUE = resources_dir() / "models" / "catalogue.json"
REPORT = Path(__file__).resolve().parents[1] / "build" / "tried-models.md"
TOPICS = {
    "en": (
        "Should museums be free for everybody?",
        "Should schools give homework?",
        "Should nuclear power replace coal?",
        "Should cities ban private cars from their centres?",
        "Should people work from home?",
        "Should the library open on Sundays?",
    ),
    "ko": (
        "박물관은 모두에게 무료여야 할까?",
        "학교에서 숙제를 내야 할까?",
        "원자력 발전이 석탄 발전을 대신해야 할까?",
        "도심에 자가용 진입을 막아야 할까?",
        "재택근무를 늘려야 할까?",
        "도서관은 일요일에도 문을 열어야 할까?",
    ),
}
MB = 1_000_000


@dataclass(kw_only=True)
class Trial:
    """What came of a model: `memory` in bytes and `rate` in tokens a second, reading included;
    `failure` is "" for none.
    """

    model: LocalModel
    memory: int = 0
    rate: float = 0.0
    stable: int = -1
    failure: str = ""
    skipped: bool = False


def main() -> int:
    """Try what was asked; return 0 where nothing failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--catalogue", type=Path, default=CATALOGUE)
    parser.add_argument("--only", metavar="ID", default="")
    parser.add_argument("--from", dest="source", metavar="ADDRESS", default="", help="a mirror of the hub")
    parser.add_argument("--data", type=Path, help="keep the models in this data directory")
    parser.add_argument("--topics", type=int, default=6, help="how many topics in each language")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--report", type=Path, default=REPORT)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="moot-models-") as folder:
        trials = asyncio.run(_try_all(wanted, wanted.data or Path(folder)))
    fill_in(wanted.catalogue, [one.model.id for one in trials if not (one.failure or one.skipped)])
    return 1 if any(one.failure for one in trials) else 0


def fill_in(catalogue: Path, tried: list[str]) -> None:
    """Write today's date into the catalogue as `tried` of these models."""
    today = datetime.now(UTC).date().isoformat()
    entries = [
        {**entry, "tried": today} if entry["id"] in tried else entry
        for entry in json.loads(catalogue.read_text(encoding="utf-8"))
    ]
    catalogue.write_text(json.dumps(entries, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


async def _try_all(wanted: argparse.Namespace, folder: Path) -> list[Trial]:
    moot = await open_moot(folder, catalogue=wanted.catalogue)
    trials = []
    try:
        if wanted.source:
            await moot.engine.change_settings(lambda before: replace(before, model_source=wanted.source))
        wanted.report.parent.mkdir(parents=True, exist_ok=True)
        with wanted.report.open("w", encoding="utf-8") as report:
            for model in await asyncio.to_thread(moot.engine.local_models.all):
                if not model.repo or model.id == EMBEDDED_MODEL or wanted.only not in ("", model.id):
                    continue
                trial = Trial(model=model)
                trials.append(trial)
                await _try(moot, trial, wanted, report)
                line = _line(trial)
                print(line, flush=True)
                report.write(f"{line}\n\n")
                report.flush()
                if wanted.data is None:
                    await moot.engine.local_models.remove(model.id)
    finally:
        await moot.close()
    return trials


async def _try(moot: Moot, trial: Trial, wanted: argparse.Namespace, report: TextIO) -> None:
    engine, model = moot.engine, trial.model
    try:
        await engine.local_models.fetch(model.id)
        async with _measured(trial):
            for language, topics in TOPICS.items():
                if language in model.languages:
                    for topic in topics[: wanted.topics]:
                        report.write(f"## {model.id}, {language}: {topic}\n\n")
                        await _debate(moot, trial, topic, wanted.rounds, report)
            trial.stable = await engine.debates.check_voting(LOCAL, model.id)
    except BadInput as error:
        trial.skipped = error.code == "model_too_large"
        trial.failure = "" if trial.skipped else str(error)
    except MootError as error:
        trial.failure = str(error)


async def _debate(moot: Moot, trial: Trial, topic: str, rounds: int, report: TextIO) -> None:
    """Let a model debate with itself and write down what was said, and whether a statement failed."""
    seats = tuple(
        Participant(id=name.lower(), name=name, provider=LOCAL, model=trial.model.id)
        for name in ("Ada", "Ben")
    )
    setup = DebateSetup(topic=topic, participants=seats, rounds=rounds, judge=NO_JUDGE)
    began = time.monotonic()
    session_id = await moot.engine.debates.start(setup)
    await moot.engine.wait(session_id)
    seconds = time.monotonic() - began
    said = [one for one in moot.engine.tail(session_id, 1_000) if one.author.id in ("ada", "ben")]
    for one in said:
        report.write(f"* **{one.author.name}**: {' '.join(one.content.split())}\n")
    report.write("\n")
    tokens = sum(one.usage.output_tokens for one in said if one.usage is not None)
    trial.rate = tokens / seconds if not trial.rate else (trial.rate + tokens / seconds) / 2
    done = [one for one in said if one.state == MessageState.DONE and one.content.strip()]
    if len(done) < 2 * rounds:
        errors = {one.error.kind for one in said if one.error is not None}
        trial.failure = f"{len(done)} of {2 * rounds} statements on {topic}: {', '.join(errors)}"


@contextlib.asynccontextmanager
async def _measured(trial: Trial) -> AsyncIterator[None]:
    """Note the most memory that the model's server takes meanwhile."""

    async def look() -> None:
        while True:
            for child in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    words = " ".join(child.cmdline())
                    if "embedded_server" in words and f'"{trial.model.id}"' in words:
                        trial.memory = max(trial.memory, child.memory_info().rss)
            await asyncio.sleep(0.5)

    looking = asyncio.create_task(look())
    try:
        yield
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)


def _line(trial: Trial) -> str:
    model = trial.model
    if trial.skipped or trial.failure:
        return f"{model.id}: {trial.failure or 'left out: this computer is too small'}"
    return (
        f"{model.id}: {trial.memory // MB} MB of memory ({model.memory // MB} MB expected), "
        f"{trial.rate:.1f} tokens/s, {trial.stable} of {len(QUESTIONS)} answers alike in both orders"
    )


if __name__ == "__main__":
    sys.exit(main())
