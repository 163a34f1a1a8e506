"""Reads the header of a GGUF file: what kind of model it holds, and how much memory it needs.

The file may come from anywhere, so counts and lengths are limited. The format is that of
https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, versions 2 and 3.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

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
# What a llama.cpp server takes besides the file and the attention cache, measured for small models and larger ones.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufHeader:
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
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            return _read(file, size)
        except (struct.error, UnicodeDecodeError, OverflowError, TypeError, ValueError) as error:
            raise GgufError(GgufProblem.DAMAGED, "header") from error


def _read(file: BinaryIO, size: int) -> GgufHeader:
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
    keys, read = (
        int(of_model("attention.key_length", length)),
        int(of_model("attention.value_length", length)),
    )
    cached = of_model("attention.head_count_kv", first)
    in_all = sum(map(int, cached)) if isinstance(cached, list) else int(cached) * blocks
    return GgufHeader(
        architecture=architecture,
        name=str(values.get("general.name", "")),
        context=context,
        cache_per_token=in_all * (keys + read) * _CACHE_BYTES,
        size=size,
    )


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
