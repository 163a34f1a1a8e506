"""Damages files the way other programs, disks and people with bad intentions do, each time from a seed."""

import copy
import io
import json
import random
import zipfile
from typing import Any

from app.storage.lines import decode_line, encode_line

WORDS = (
    "",
    "status of tomorrow",
    "running",
    "../../x",
    "\ud800",
    "\x1b[2J\u202e",
    "가" * 300,
    "{x}",
    "%s",
    "0",
    "None",
)
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1.5, 10**30, float("nan"), float("inf"), [], {}, [[]], {"a": {"b": [1]}}, *WORDS,
)  # fmt: skip
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)


# What programs choose by: an unknown value of these is what breaks them.
CHOOSING = frozenset(
    (
        "status",
        "note",
        "state",
        "answer",
        "kind",
        "type",
        "role",
        "mode",
        "language",
        "why",
        "reason",
        "id",
        "stance",
        "part",
        "choice",
        "order",
    )
)


def mutated_value(value: Any, chance: random.Random) -> Any:
    """Return a copy of a JSON value in which up to four places are another value, gone, doubled or moved."""
    root = [copy.deepcopy(value)]
    choosing = [(holder, key) for holder, key in _places(root) if key in CHOOSING]
    if choosing and chance.random() < 0.6:
        name = chance.choice(sorted({key for _, key in choosing}))
        places = [(holder, key) for holder, key in choosing if key == name]
        # The first ones are those of the session itself.
        holder, key = chance.choice(places[: chance.choice((1, 2, len(places)))])
        holder[key] = copy.deepcopy(chance.choice(WORDS if chance.random() < 0.6 else VALUES))
        return root[0]
    for _ in range(chance.randrange(1, 5)):
        holder, key = chance.choice(_places(root))
        match chance.randrange(5):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1 if isinstance(holder, list):
                holder.insert(key, copy.deepcopy(holder[key]))
            case 2:
                other, place = chance.choice(_places(root))
                holder[key] = copy.deepcopy(other[place])
            case 3 if isinstance(holder[key], str):
                holder[key] = chance.choice(WORDS)
            case _:
                holder[key] = copy.deepcopy(chance.choice(VALUES))
        if not root:
            root = [None]
    return root[0]


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Return every place in a JSON value, the outer ones first."""
    found: list[tuple[Any, Any]] = []
    level = [value]
    while level:
        here = [
            (one, key) for one in level for key in (one.keys() if isinstance(one, dict) else range(len(one)))
        ]
        found += here
        level = [one[key] for one, key in here if isinstance(one[key], dict | list)]
    return found


def mutated_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return bytes of which some are changed, gone, doubled, or cut off at the end."""
    found = bytearray(data)
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(max(1, len(found)))
        match chance.randrange(5):
            case 0 | 1:
                found[place : place + 1] = bytes([chance.randrange(256)])
            case 2:
                found[place : place + chance.randrange(1, 40)] = b""
            case 3:
                found[place:place] = found[place : place + chance.randrange(1, 40)]
            case _:
                del found[max(1, len(found) - chance.randrange(1, 60)) :]
    return bytes(found)


def mutated_export(value: Any, chance: random.Random) -> bytes:
    """Return an export as a file: changed as JSON, or as bytes."""
    if chance.random() < 0.8:
        value = mutated_value(value, chance)
        return json.dumps(value, ensure_ascii=chance.random() < 0.5).encode(errors="surrogatepass")
    return mutated_bytes(json.dumps(value).encode(), chance)


def mutated_log(data: bytes, chance: random.Random) -> bytes:
    """Return a session's log in which lines with right checksums say something else."""
    lines = [line for row in data.splitlines() if (line := decode_line(row)) is not None]
    changed = chance.randrange(len(lines))
    written = []
    for place, line in enumerate(lines):
        ops = mutated_value(line.ops, chance) if place == changed else line.ops
        written.append(encode_line(line.number, ops))
    return b"".join(written)


def mutated_zip(files: dict[str, bytes], chance: random.Random) -> bytes:
    """Return these files as a zip of any method with a damaged file in it, a damaged field, or damaged bytes."""
    files = dict(files)
    kind = chance.randrange(5)
    if kind in (0, 4):
        name = chance.choice(sorted(files))
        is_log = name.endswith(".jsonl") and chance.random() < 0.8
        files[name] = (mutated_log if is_log else mutated_bytes)(files[name], chance)
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", chance.choice(METHODS)) as file:
        for name, content in files.items():
            file.writestr(name, content)
    whole = bytearray(data.getvalue())
    if kind == 1:
        _change_field(whole, chance)
    elif kind == 2:
        _change_packed(whole, chance)
    elif kind == 3:
        return mutated_bytes(bytes(whole), chance)
    return bytes(whole)


def _change_field(whole: bytearray, chance: random.Random) -> None:
    """Change what an entry says of itself: flags, method, checksum, sizes, places."""
    start, length = chance.choice(((b"PK\x03\x04", 30), (b"PK\x01\x02", 46)))
    at = -1
    for _ in range(chance.randrange(1, 4)):
        at = whole.find(start, at + 1) if whole.find(start, at + 1) >= 0 else whole.find(start)
    whole[at + chance.randrange(4, length)] = chance.randrange(256)


def _change_packed(whole: bytearray, chance: random.Random) -> None:
    """Change bytes of what is packed: the unpacker itself meets them."""
    central = whole.find(b"PK\x01\x02")
    for _ in range(chance.randrange(1, 6)):
        whole[chance.randrange(30, max(31, central))] = chance.randrange(256)
