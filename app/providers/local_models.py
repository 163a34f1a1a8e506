"""Implements `core.local_models.LocalModelFiles`: the catalogue, downloads, and GGUF files of the user's own.

Each model has a folder `models/<id>` in the data directory. `model.json` is written once its file is complete; a
download that is under way or paused has a file `….part` there.
"""

import asyncio
import hashlib
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from app.children.jobs import answer_lines, child_process
from app.children.private_files import make_private_folder
from app.children.processes import MODEL_FETCH
from app.core.errors import BadInput, MootError, StorageError
from app.core.json_values import object_in
from app.core.local_models import FetchProgress, LocalModel
from app.core.text import clean_text
from app.providers.embedded_server import ServerSpec, memory_budget
from app.providers.gguf import GgufError, read_header
from app.providers.metered_connection import is_metered

_RECORD = "model.json"
_NOT_OF_AN_ID = re.compile(r"[^a-z0-9.]+")
_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_IDLE_SECONDS = 300
_NO_THINKING = {"chat_template_kwargs": {"enable_thinking": False}}


class ModelFolder:
    """The models in a folder, and those of a catalogue that could be downloaded to it.

    `licences` has the texts of licences by name.
    """

    def __init__(self, folder: Path, catalogue: Path | None, licences: Path | None = None) -> None:
        self._folder = folder
        self._licences = licences
        self._catalogue_file = catalogue

    def models(self) -> tuple[LocalModel, ...]:
        """Return the models of the catalogue, then those added from files."""
        installed = {model.id: model for model in map(self._installed, self._records()) if model is not None}
        known = [
            installed.pop(one.id) if one.id in installed else self._partly(one) for one in self._catalogue
        ]
        return (*known, *installed.values())

    def total_memory(self) -> int:
        """Return the memory of this computer in bytes."""
        import psutil

        return int(psutil.virtual_memory().total)

    def free_memory(self) -> int:
        """Return how many bytes models may take now."""
        return memory_budget()

    async def is_metered(self) -> bool:
        """Return whether the connection to the internet is metered; False where that is not known."""
        return await is_metered()

    def spec(self, model_id: str) -> ServerSpec | None:
        """Return how an installed model is run, None if it is not there."""
        record = self._record(model_id)
        model = self._installed(record)
        if model is None:
            return None
        return ServerSpec(
            model=model.id,
            file=model.path,
            n_ctx=model.n_ctx,
            slots=model.slots,
            memory=model.memory,
            idle_seconds=_IDLE_SECONDS,
            trial=bool(record.get("trial")),
            anyway=model.anyway,
        )

    def options(self, model_id: str) -> dict[str, object]:
        """Return what an installed model is asked with: its sampling settings, and no thinking where that can be switched."""
        model = self._installed(self._record(model_id))
        if model is None:
            return {}
        return {**model.options, **(_NO_THINKING if model.thinking else {})}

    async def fetch(
        self, model: LocalModel, source: str, on_progress: Callable[[FetchProgress], None]
    ) -> None:
        """Download a model's file; see `LocalModelFiles`."""
        target = self._folder / model.id / model.file
        job = {
            "urls": model.addresses(source),
            "size": model.size,
            "sha256": model.sha256,
            "target": str(target),
        }
        await asyncio.to_thread(make_private_folder, target.parent)
        result: Mapping[str, Any] = {}
        async with child_process(MODEL_FETCH, job) as process:
            async for line in answer_lines(process):
                if "done" in line:
                    on_progress(FetchProgress(**line))
                else:
                    result = line
        if "finished" not in result:
            problem, detail = result.get("failed", "ended"), clean_text(str(result.get("detail", "")))
            raise MootError(f"model_fetch_{problem}", name=model.name, detail=detail)
        await asyncio.to_thread(self._keep_papers, model)
        await asyncio.to_thread(self._keep, replace(model, path=str(target), done=model.size), trial=False)

    async def add(self, path: Path) -> LocalModel:
        """Check a GGUF file and keep it as a model on trial. Raises BadInput."""
        return await asyncio.to_thread(self._add, path)

    def _add(self, path: Path) -> LocalModel:
        path = path.expanduser().absolute()
        try:
            header = read_header(path)
        except OSError as error:
            raise BadInput("attachment_unreadable", name=path.name, detail=error.strerror or "") from error
        except GgufError as error:
            raise BadInput(f"gguf_{error.problem}", name=path.name, detail=error.detail) from error
        n_ctx = min(header.context, LocalModel(id="", size=0).n_ctx)
        model = LocalModel(
            id=self._free_id(path.stem),
            size=header.size,
            path=str(path),
            done=header.size,
            name=clean_text(header.name or path.stem)[:80],
            family=clean_text(header.architecture)[:40],
            n_ctx=n_ctx,
            memory=header.memory(n_ctx),
        )
        self._keep(model, trial=True)
        return model

    async def accept(self, model_id: str) -> None:
        """Keep a model that was on trial."""
        model = self._installed(await asyncio.to_thread(self._record, model_id))
        assert model is not None
        await asyncio.to_thread(self._keep, model, trial=False)

    async def allow(self, model_id: str) -> None:
        """Let an installed model be loaded also where it needs more memory than is free."""
        model = self._installed(await asyncio.to_thread(self._record, model_id))
        if model is not None:
            await asyncio.to_thread(self._keep, replace(model, anyway=True), trial=False)

    async def remove(self, model_id: str) -> None:
        """Delete a model's folder. Raises StorageError."""
        folder = self._folder / model_id
        try:
            await asyncio.to_thread(shutil.rmtree, folder)
        except FileNotFoundError:
            pass
        except OSError as error:
            detail = error.strerror or str(error)
            raise StorageError("model_not_removed", path=folder, detail=detail) from error

    async def check(self, model: LocalModel) -> None:
        """Compare a model's file with its size and its SHA-256. Raises BadInput."""
        if not await asyncio.to_thread(_is_whole, model):
            raise BadInput("model_damaged", name=model.name or model.id, path=model.path)

    @cached_property
    def _catalogue(self) -> tuple[LocalModel, ...]:
        if self._catalogue_file is None:
            return ()
        return tuple(map(_read, json.loads(self._catalogue_file.read_text(encoding="utf-8"))))

    def _records(self) -> list[dict[str, Any]]:
        """Return the records of all models but those on trial: such a trial has not ended."""
        try:
            folders = sorted(path for path in self._folder.iterdir() if path.is_dir())
        except OSError:
            return []
        records = [self._record(folder.name) for folder in folders]
        return [record for record in records if record and not record.get("trial")]

    def _record(self, model_id: str) -> dict[str, Any]:
        """Return what is kept of a model, {} where that is missing or cannot be read."""
        if not _ID.fullmatch(model_id):
            return {}
        try:
            record = object_in((self._folder / model_id / _RECORD).read_bytes()) or {}
        except OSError:
            return {}
        return record if record.get("id") == model_id else {}

    def _installed(self, record: Mapping[str, Any]) -> LocalModel | None:
        """Return the model of a record, None where its file is missing or of another size."""
        try:
            model = _read({name: value for name, value in record.items() if name != "trial"})
            there = Path(model.path).stat().st_size == model.size
        except (OSError, TypeError, ValueError):
            return None
        return model if there else None

    def _partly(self, model: LocalModel) -> LocalModel:
        """Return a model of the catalogue with what was downloaded of it."""
        part = self._folder / model.id / f"{model.file}.part"
        try:
            return replace(model, done=min(part.stat().st_size, model.size))
        except OSError:
            return model

    def _keep_papers(self, model: LocalModel) -> None:
        """Put the licence, or where it stands, and the origin beside a downloaded file. Raises OSError."""
        folder = self._folder / model.id
        text = f"{model.licence}\n{model.licence_page}\n"
        if self._licences is not None and (whole := self._licences / f"{model.licence}.txt").is_file():
            text = whole.read_text(encoding="utf-8")
        origin = f"{model.name}, by {model.maker}\n{model.file} of {model.repo}, revision {model.revision}\n"
        terms = f"Licence: {model.licence} ({model.licence_page})\nThe file is as it was published.\n"
        (folder / "LICENCE.txt").write_text(text, encoding="utf-8")
        (folder / "NOTICE.txt").write_text(origin + terms, encoding="utf-8")

    def _keep(self, model: LocalModel, *, trial: bool) -> None:
        folder = self._folder / model.id
        make_private_folder(folder)
        scratch = folder / f"{_RECORD}.new"
        scratch.write_text(json.dumps({**asdict(model), "trial": trial}, indent=1), encoding="utf-8")
        scratch.replace(folder / _RECORD)

    def _free_id(self, name: str) -> str:
        stem = _NOT_OF_AN_ID.sub("-", name.lower()).strip("-.")[:40] or "model"
        taken = {model.id for model in self.models()}
        number = 1
        while (free := stem if number == 1 else f"{stem}-{number}") in taken:
            number += 1
        return free


def _read(fields: Mapping[str, Any]) -> LocalModel:
    """Return the model that a JSON object describes. Raises TypeError, ValueError."""
    return LocalModel(**{**fields, "languages": tuple(fields.get("languages", ()))})


def _is_whole(model: LocalModel) -> bool:
    try:
        with Path(model.path).open("rb") as file:
            if not model.sha256:
                read_header(Path(model.path))
                return file.seek(0, 2) == model.size
            return hashlib.file_digest(file, "sha256").hexdigest() == model.sha256
    except (OSError, GgufError):
        return False
