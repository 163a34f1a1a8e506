"""Models on this computer: the built-in one, downloads, files of the user's, servers such as Ollama.

Implements `core.local_models.LocalModelFiles`. Each model has a folder `models/<id>` in the data directory.
`model.json` is written once its file is complete; a download that is under way or paused has a file `….part`
there.
"""

import asyncio
import contextlib
import hashlib
import importlib.util
import ipaddress
import json
import re
import shutil
import struct
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

import msgspec

from app.children.host_client import answer_lines, child_process
from app.children.private_files import make_private_folder, replace_text
from app.children.processes import MODEL_FETCH
from app.core.catalog import EMBEDDED_MODEL, EMBEDDED_WINDOW, LocalServer, chat_models
from app.core.definitions import Effort
from app.core.errors import BadInput, MootError, StorageError
from app.core.files import regular_size
from app.core.frozen import Frozen
from app.core.json_values import object_in, objects_in
from app.core.provider import FetchProgress, FoundServer, LocalModel, ModelFacts, TakesTemperature
from app.core.texts import clean_text
from app.providers.embedded_server import ServerSpec, memory_budget

_EMBEDDED_MEMORY = 400_000_000
_PLAIN = ModelFacts(efforts=(), default_effort=Effort.NONE, temperature=TakesTemperature.YES)
EMBEDDED_FACTS = replace(_PLAIN, window=EMBEDDED_WINDOW, tools=False, images=False, pdf=False)


def embedded_spec(model_file: Path) -> ServerSpec:
    """Return how the built-in model is run."""
    file, memory = str(model_file), _EMBEDDED_MEMORY
    return ServerSpec(model=EMBEDDED_MODEL, file=file, n_ctx=EMBEDDED_WINDOW, slots=4, memory=memory)


@cache
def has_llama() -> bool:
    """Return whether the library that runs the built-in model is installed; cached, as it is asked often."""
    return importlib.util.find_spec("xllamacpp") is not None


_ANSWER_S = 2.0
_NAME, _PATH = "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager"
# Yes, and "probably", of https://networkmanager.dev/docs/api/latest/nm-dbus-types.html#NMMetered.
_METERED = (1, 3)


async def _ask() -> int:
    """Return NetworkManager's word for it, 0 where it has none. Raises OSError."""
    from jeepney import DBusAddress, MessageType, Properties  # type: ignore[import-untyped]
    from jeepney.io.asyncio import open_dbus_router  # type: ignore[import-untyped]

    async with open_dbus_router("SYSTEM") as router:
        call = Properties(DBusAddress(_PATH, bus_name=_NAME, interface=_NAME)).get("Metered")
        answer = await router.send_and_get_reply(call)
    return int(answer.body[0][1]) if answer.header.message_type is MessageType.method_return else 0


_MAGIC = b"GGUF"
_MOST_ENTRIES = 100_000
_MOST_STRING = 16_000_000
_MOST_ITEMS = 2_000_000
_MOST_DEPTH = 2
_MOST_BLOCKS = 512
_LEAST_CONTEXT = 512
_NUMBERS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
_STRING, _ARRAY = 8, 9
# Architectures that do not write text.
_NOT_FOR_CHAT = ("bert", "clip", "mmproj", "whisper", "t5encoder", "wavtokenizer")
_CACHE_BYTES = 2  # One number of the attention cache, at 16 bits.
# What a llama.cpp server takes besides the file and the attention cache, measured for small models and larger
# ones.
_SMALL_FILE = 700_000_000
_SMALL_OVERHEAD, _OVERHEAD = 110_000_000, 350_000_000


class GgufProblem(StrEnum):
    """Why a file cannot be used as a model; each has a text `error.gguf_<problem>`."""

    NOT_GGUF = "not_gguf"
    DAMAGED = "damaged"
    NOT_FOR_CHAT = "not_for_chat"
    SPLIT = "split"
    NO_TEMPLATE = "no_template"


class GgufError(Exception):
    """A file cannot be used as a model; `problem` is a GgufProblem."""

    def __init__(self, problem: GgufProblem, detail: str = "") -> None:
        super().__init__(problem, detail)
        self.problem = problem
        self.detail = detail


class GgufHeader(Frozen):
    """What a model file says about itself. `cache_per_token` is in bytes, `size` that of the file."""

    architecture: str
    name: str
    context: int
    cache_per_token: int
    size: int

    def memory(self, n_ctx: int) -> int:
        """Return the estimated memory in bytes of a server that runs the model with this context."""
        overhead = _SMALL_OVERHEAD if self.size < _SMALL_FILE else _OVERHEAD
        return self.size + n_ctx * self.cache_per_token + overhead


def read_header(path: Path) -> GgufHeader:
    """Read a model file's header. Raises GgufError, OSError."""
    size = regular_size(path)
    with path.open("rb") as file:
        try:
            return _read_header(file, size)
        except (struct.error, UnicodeDecodeError, OverflowError, TypeError, ValueError) as error:
            raise GgufError(GgufProblem.DAMAGED, "header") from error


def _read_header(file: BinaryIO, size: int) -> GgufHeader:
    if file.read(4) != _MAGIC:
        raise GgufError(GgufProblem.NOT_GGUF)
    (version,) = _unpack(file, "I")
    if version not in (2, 3):
        raise GgufError(GgufProblem.NOT_GGUF, f"version {version}")
    tensors, entries = _unpack(file, "QQ")
    if not 0 < tensors < _MOST_ENTRIES or entries >= _MOST_ENTRIES:
        raise GgufError(GgufProblem.DAMAGED, f"{tensors} tensors, {entries} entries")
    values: dict[str, Any] = {}
    for _ in range(entries):
        key = _string(file)
        (kind,) = _unpack(file, "I")
        values[key] = _value(file, kind)
    last = 0
    for _ in range(tensors):
        _string(file)
        (dimensions,) = _unpack(file, "I")
        if dimensions > 8:
            raise GgufError(GgufProblem.DAMAGED, f"{dimensions} dimensions")
        *_, offset = _unpack(file, f"{dimensions}QIQ")
        last = max(last, offset)
    if file.tell() + last >= size:
        raise GgufError(GgufProblem.DAMAGED, "the file is too short")
    return _header(values, size)


def _header(values: Mapping[str, Any], size: int) -> GgufHeader:
    architecture = str(values.get("general.architecture", ""))
    if not architecture:
        raise GgufError(GgufProblem.DAMAGED, "general.architecture")
    if any(word in architecture for word in _NOT_FOR_CHAT):
        raise GgufError(GgufProblem.NOT_FOR_CHAT, architecture)
    if int(values.get("split.count", 1)) > 1:
        raise GgufError(GgufProblem.SPLIT)
    if not values.get("tokenizer.chat_template"):
        raise GgufError(GgufProblem.NO_TEMPLATE)

    def of_model(name: str, default: int = 0) -> Any:
        return values.get(f"{architecture}.{name}", default)

    blocks, context = int(of_model("block_count")), int(of_model("context_length"))
    if not 1 <= blocks <= _MOST_BLOCKS:
        raise GgufError(GgufProblem.DAMAGED, f"{blocks} blocks")
    if context < _LEAST_CONTEXT:
        raise GgufError(GgufProblem.DAMAGED, f"a context of {context} tokens")
    heads = of_model("attention.head_count", 1)
    first = int(max(heads) if isinstance(heads, list) else heads) or 1
    length = int(of_model("embedding_length")) // first
    key_and_value = sum(int(of_model(f"attention.{part}_length", length)) for part in ("key", "value"))
    cached = of_model("attention.head_count_kv", first)
    in_all = sum(map(int, cached)) if isinstance(cached, list) else int(cached) * blocks
    name, cache = str(values.get("general.name", "")), in_all * key_and_value * _CACHE_BYTES
    return GgufHeader(architecture=architecture, name=name, context=context, cache_per_token=cache, size=size)


def _unpack(file: BinaryIO, form: str) -> tuple[Any, ...]:
    form = "<" + form
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _string(file: BinaryIO) -> str:
    (length,) = _unpack(file, "Q")
    if length > _MOST_STRING:
        raise GgufError(GgufProblem.DAMAGED, f"a text of {length} bytes")
    data = file.read(length)
    if len(data) < length:
        raise GgufError(GgufProblem.DAMAGED, "the file is too short")
    return data.decode("utf-8", "replace")


def _value(file: BinaryIO, kind: int, depth: int = 0) -> Any:
    """Return a value; of a long list only its length is of use here, but it must be read to get behind it."""
    if kind == _STRING:
        return _string(file)
    if kind == _ARRAY and depth < _MOST_DEPTH:
        of, count = _unpack(file, "IQ")
        if count > _MOST_ITEMS:
            raise GgufError(GgufProblem.DAMAGED, f"a list of {count} items")
        if of in _NUMBERS:
            return list(_unpack(file, f"{count}{_NUMBERS[of]}"))
        return [_value(file, of, depth + 1) for _ in range(count)]
    if kind not in _NUMBERS:
        raise GgufError(GgufProblem.DAMAGED, f"a value of kind {kind}")
    return _unpack(file, _NUMBERS[kind])[0]


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
        self.folder = folder
        self._licences = licences
        self._catalogue_file = catalogue

    def models(self) -> tuple[LocalModel, ...]:
        """Return the models of the catalogue, then those added from files."""
        installed = {model.id: model for model in map(self._installed, self._records()) if model is not None}
        known = [installed.pop(item.id, self._partly(item)) for item in self._catalogue]
        return (*known, *installed.values())

    def total_memory(self) -> int:
        """Return the memory of this computer in bytes."""
        import psutil

        return int(psutil.virtual_memory().total)

    def free_memory(self) -> int:
        """Return how many bytes models may take now."""
        return memory_budget()

    async def is_metered(self) -> bool:
        """Return whether every megabyte may cost something; False where nobody knows."""
        if not sys.platform.startswith("linux"):
            return False
        with contextlib.suppress(ImportError, OSError, KeyError, ValueError, TimeoutError):
            async with asyncio.timeout(_ANSWER_S):
                return await _ask() in _METERED
        return False

    def spec(self, model_id: str) -> ServerSpec | None:
        """Return how an installed model is run, None if it is not there."""
        record = self._record(model_id)
        model = self._installed(record)
        if model is None:
            return None
        same = {name: getattr(model, name) for name in ("n_ctx", "slots", "memory", "anyway")}
        trial = bool(record.get("trial"))
        return ServerSpec(model=model.id, file=model.path, idle_seconds=_IDLE_SECONDS, trial=trial, **same)

    def options(self, model_id: str) -> dict[str, object]:
        """Return what an installed model is asked with: its sampling settings, and no thinking where
        that can be switched.
        """
        model = self._installed(self._record(model_id))
        return {**model.options, **(_NO_THINKING if model.thinking else {})} if model else {}

    async def fetch(
        self, model: LocalModel, source: str, on_progress: Callable[[FetchProgress], None]
    ) -> None:
        """Download a model's file; see `LocalModelFiles`."""
        target = self.folder / model.id / model.file
        job = {"urls": model.addresses(source), "size": model.size, "sha256": model.sha256}
        job["target"] = str(target)
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
        name, family = clean_text(header.name or path.stem)[:80], clean_text(header.architecture)[:40]
        model = LocalModel(
            id=self._free_id(path.stem),
            name=name,
            family=family,
            size=header.size,
            path=str(path),
            done=header.size,
            n_ctx=n_ctx,
            memory=header.memory(n_ctx),
        )
        self._keep(model, trial=True)
        return model

    async def accept(self, model_id: str) -> None:
        """Keep a model that was on trial."""
        await asyncio.to_thread(self._keep_on, model_id)

    async def allow(self, model_id: str) -> None:
        """Let an installed model be loaded also where it needs more memory than is free."""
        await asyncio.to_thread(self._keep_on, model_id, anyway=True)

    async def remove(self, model_id: str) -> None:
        """Delete a model's folder. Raises StorageError."""
        folder = self.folder / model_id
        try:
            with contextlib.suppress(FileNotFoundError):
                await asyncio.to_thread(shutil.rmtree, folder)
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
        return msgspec.json.decode(self._catalogue_file.read_bytes(), type=tuple[LocalModel, ...])

    def _records(self) -> list[dict[str, Any]]:
        """Return the records of all models but those on trial: such a trial has not ended."""
        try:
            folders = sorted(path for path in self.folder.iterdir() if path.is_dir())
        except OSError:
            return []
        records = [self._record(folder.name) for folder in folders]
        return [record for record in records if record and not record.get("trial")]

    def _record(self, model_id: str) -> dict[str, Any]:
        """Return what is kept of a model, {} where that is missing or cannot be read."""
        if not _ID.fullmatch(model_id):
            return {}
        try:
            record = object_in((self.folder / model_id / _RECORD).read_bytes()) or {}
        except OSError:
            return {}
        return record if record.get("id") == model_id else {}

    def _installed(self, record: Mapping[str, Any]) -> LocalModel | None:
        """Return the model of a record, None where its file is missing or of another size."""
        try:
            model = msgspec.convert(record, LocalModel)
            there = Path(model.path).stat().st_size == model.size
        except (OSError, ValueError):
            return None
        return model if there else None

    def _partly(self, model: LocalModel) -> LocalModel:
        """Return a model of the catalogue with what was downloaded of it."""
        part = self.folder / model.id / f"{model.file}.part"
        try:
            return replace(model, done=min(part.stat().st_size, model.size))
        except OSError:
            return model

    def _keep_papers(self, model: LocalModel) -> None:
        """Put the licence, or where it stands, and the origin beside a downloaded file. Raises OSError."""
        folder = self.folder / model.id
        text = f"{model.licence}\n{model.licence_page}\n"
        if self._licences is not None and (whole := self._licences / f"{model.licence}.txt").is_file():
            text = whole.read_text(encoding="utf-8")
        origin = f"{model.name}, by {model.maker}\n{model.file} of {model.repo}, revision {model.revision}\n"
        terms = f"Licence: {model.licence} ({model.licence_page})\nThe file is as it was published.\n"
        (folder / "LICENCE.txt").write_text(text, encoding="utf-8")
        (folder / "NOTICE.txt").write_text(origin + terms, encoding="utf-8")

    def _keep(self, model: LocalModel, *, trial: bool) -> None:
        folder = self.folder / model.id
        make_private_folder(folder)
        replace_text(folder / _RECORD, json.dumps({**asdict(model), "trial": trial}, indent=1))

    def _keep_on(self, model_id: str, **changes: Any) -> None:
        """Keep an installed model that is on trial no more, or is changed."""
        if (model := self._installed(self._record(model_id))) is not None:
            self._keep(replace(model, **changes), trial=False)

    def _free_id(self, name: str) -> str:
        stem = _NOT_OF_AN_ID.sub("-", name.lower()).strip("-.")[:40] or "model"
        taken = {model.id for model in self.models()}
        number = 1
        while (free := stem if number == 1 else f"{stem}-{number}") in taken:
            number += 1
        return free


def _is_whole(model: LocalModel) -> bool:
    try:
        with Path(model.path).open("rb") as file:
            if not model.sha256:
                read_header(Path(model.path))
                return file.seek(0, 2) == model.size
            return hashlib.file_digest(file, "sha256").hexdigest() == model.sha256
    except (OSError, GgufError):
        return False


MODELS = "/v1/models"
UNNAMED = LocalServer(name="", kind="openai-compatible", address="", path="", sign="")
_MOST_BYTES = 1_000_000
_MOST_MODELS = 20_000
_LONGEST_NAME = 200
_REFUSED = (401, 403)


async def find_servers(rows: Sequence[LocalServer], seconds: float) -> tuple[FoundServer, ...]:
    """Return the servers that answer within this many seconds."""
    found = await asyncio.gather(*(_look(row, rows, seconds) for row in rows))
    return tuple(server for server in found if server is not None)


def clean_name(name: object) -> str:
    """Return a model's name without characters that cannot be shown, "" for anything that is no name."""
    text = clean_text(name).strip() if isinstance(name, str) else ""
    return text if text.isprintable() and len(text) <= _LONGEST_NAME else ""


def clean_names(names: Iterable[object]) -> tuple[str, ...]:
    """Return the usable names of a list, each once; the first 20,000 of a longer list."""
    return tuple(dict.fromkeys(filter(None, map(clean_name, names))))[:_MOST_MODELS]


async def _look(row: LocalServer, rows: Sequence[LocalServer], seconds: float) -> FoundServer | None:
    try:
        async with asyncio.timeout(seconds):
            return await _recognise(row, rows)
    except (OSError, TimeoutError, ValueError, asyncio.IncompleteReadError):
        return None


async def _recognise(row: LocalServer, rows: Sequence[LocalServer]) -> FoundServer | None:
    """Return the server at a row's address: the row's, another known one in its place, or one without a
    name.
    """
    status, listing = await _get(row.address, MODELS)
    models = _names(listing) if status == 200 else None
    listed = listing if models is not None else ""
    shown = listed if row.path == MODELS else (await _get(row.address, row.path))[1]
    if re.search(row.sign, shown):
        known: LocalServer | None = row
    else:
        known = next((item for item in rows if item.path == MODELS and re.search(item.sign, listed)), None)
    if status in _REFUSED and known is row and row.path != MODELS:
        return FoundServer(name=row.name, kind=row.kind, address=row.address, models=(), needs_key=True)
    if not models:
        return None
    known = known or UNNAMED
    return FoundServer(name=known.name, kind=known.kind, address=row.address, models=models)


def _names(listing: str) -> tuple[str, ...] | None:
    """Return the chat models of an OpenAI-compatible list, None if the text is no such list."""
    body = object_in(listing) or {}
    if body.get("object") != "list" or not isinstance(body.get("data"), list):
        return None
    return chat_models(clean_names(row.get("id") for row in objects_in(body["data"])))


async def _get(address: str, path: str) -> tuple[int, str]:
    """Return the status and body of a GET. Raises OSError, and ValueError if the answer is not HTTP."""
    parts = urlsplit(address)
    host, port = parts.hostname or "", parts.port or 80
    if not ipaddress.ip_address(host).is_loopback:
        raise ValueError(f"not on this computer: {host}")
    reader, writer = await asyncio.open_connection(host, port, limit=_MOST_BYTES)
    try:
        # With HTTP/1.0 the body ends when the connection closes.
        writer.write(f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\nAccept: */*\r\n\r\n".encode())
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        body = await _body(reader, head)
    except asyncio.LimitOverrunError as error:
        raise ValueError("an answer without an end") from error
    finally:
        writer.close()
    status = re.match(r"HTTP/1\.[01] (\d{3})\b", head)
    if status is None:
        raise ValueError("not HTTP")
    return int(status[1]), body.decode("utf-8", "replace")


async def _body(reader: asyncio.StreamReader, head: str) -> bytes:
    """Read as many bytes as were announced, or until the end. Raises ValueError for a body that is too
    long.
    """
    length = re.search(r"^content-length:\s*(\d{1,12})\s*$", head, re.IGNORECASE | re.MULTILINE)
    wanted, body = int(length[1]) if length else _MOST_BYTES + 1, b""
    while len(body) < min(wanted, _MOST_BYTES + 1) and (piece := await reader.read(65_536)):
        body += piece
    if len(body) > _MOST_BYTES:
        raise ValueError("too long")
    return body
