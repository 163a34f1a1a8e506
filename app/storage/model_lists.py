"""The lists of models that were fetched from the providers, `models.json`; used by the documents.

A cache of what others said: what cannot be read of it is left out and fetched again.
"""

import dataclasses
from pathlib import Path

from app.core.provider import ModelList
from app.core.store import Problem
from app.storage.document_file import VERSION, replace_document, validated
from app.storage.file_system import FileSystem
from app.storage.json_file import JsonFile, read_json_file


def read_model_lists(path: Path) -> tuple[ModelList, ...]:
    """Return the lists of a file, none where it cannot be read."""
    found = read_json_file(path)
    entries = found.value.get("lists") if isinstance(found, JsonFile) else None
    if not isinstance(found, JsonFile) or not isinstance(entries, list):
        return ()
    unused: list[Problem] = []
    lists = (
        validated(ModelList, found, ("lists", place), entry, unused) for place, entry in enumerate(entries)
    )
    return tuple(one for one in lists if one is not None)


def save_model_lists(disk: FileSystem, path: Path, lists: tuple[ModelList, ...]) -> None:
    """Put the lists in place of the file. Raises StorageError."""
    document = {"version": VERSION, "lists": [dataclasses.asdict(one) for one in lists]}
    replace_document(disk, path, document)
