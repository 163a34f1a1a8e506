"""Compiles the modules of a laid-out Moot: compile.py MOOT, run by build.sh with the Python that is shipped.

Those of packages take the place of their sources, also in archives, which halves the number of files; Moot's
own stand beside theirs. Nothing is compared with a source when they are loaded: copying changes its time.
"""

import compileall
import sys
import zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from importlib.util import source_hash
from pathlib import Path
from py_compile import PycInvalidationMode


def main(moot: Path) -> None:
    """Compile everything; ends with status 1 where a module of Moot itself can't be compiled."""
    for path in sorted((moot / "python").glob("*.zip")):
        compile_archive(path)
    site = moot / "python" / "Lib" / "site-packages"
    for path in sorted(site.rglob("*.py")):
        if (code := compiled(path.read_bytes(), path.relative_to(site).as_posix())) is not None:
            path.with_suffix(".pyc").write_bytes(code)
            path.unlink()
    how = PycInvalidationMode.UNCHECKED_HASH
    if not compileall.compile_dir(moot / "app", quiet=1, stripdir=moot, invalidation_mode=how):
        raise SystemExit(1)


def compile_archive(path: Path) -> None:
    """Put compiled modules in the place of an archive's sources; it is not compressed, to be read fast."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            code = compiled(data, name) if name.endswith(".py") else None
            archive.writestr(name if code is None else f"{name}c", data if code is None else code)


def compiled(source: bytes, name: str) -> bytes | None:
    """Return a module's bytes for a .pyc file, None where it is no module of this Python but a template."""
    try:
        code = compile(source, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return None
    return bytes(_code_to_hash_pyc(code, source_hash(source), checked=False))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
