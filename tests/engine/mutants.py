"""Seeded faults: a module's source with one piece replaced, for as long as a test wants it."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def mutant(module_name: str, old: str, new: str) -> Iterator[None]:
    """Run with `old` replaced by `new` in a module of `app`, wherever its names were imported."""
    module = importlib.import_module(module_name)
    assert module.__file__ is not None
    with open(module.__file__, encoding="utf-8") as file:
        source = file.read()
    assert source.count(old) >= 1, f"{module_name} no longer holds {old!r}"
    affected = [one for name, one in sys.modules.items() if name.startswith(("app.", "tests."))]
    before = [(one, dict(vars(one))) for one in affected]
    originals = dict(vars(module))
    exec(compile(source.replace(old, new), module.__file__, "exec"), vars(module))
    replaced = {
        id(value): vars(module)[name]
        for name, value in originals.items()
        if not name.startswith("_") and callable(value) and vars(module)[name] is not value
    }
    for other in affected:
        if other is not module:
            for name, value in list(vars(other).items()):
                if id(value) in replaced:
                    setattr(other, name, replaced[id(value)])
    try:
        yield
    finally:
        for one, names in before:
            vars(one).clear()
            vars(one).update(names)
