"""Chooses the packages that Moot needs on Windows, and lays them out; build.sh runs it.

usage: packages.py lock                 print the part of requirements.lock for Windows, with its hashes
       packages.py lay_out WHEELS MOOT  unpack the wheels into MOOT's python folder, without the unused

Packages that are modules alone go into one archive, because thousands of small files are slow to install and
to start from; all others go into Lib/site-packages. What of them is unused is said in unused.txt.
"""

import email
import re
import sys
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from packaging.markers import Marker
from packaging.requirements import Requirement

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOCK = dict(re.findall(r"^(\w+)=(.+)$", (HERE / "python.lock").read_text(encoding="utf-8"), re.MULTILINE))
MINOR = ".".join(LOCK["PYTHON"].split(".")[:2])
WINDOWS = {
    "implementation_name": "cpython",
    "os_name": "nt",
    "platform_machine": "AMD64",
    "platform_python_implementation": "CPython",
    "platform_release": "10",
    "platform_system": "Windows",
    "python_full_version": LOCK["PYTHON"],
    "python_version": MINOR,
    "sys_platform": "win32",
    "extra": "",
}
# Pure Python without a wheel, and only the tests need it.
NO_WHEEL = ("forbiddenfruit",)
# What Moot needs besides its dependencies; its lock is extra.lock.
EXTRA = ("pip",)
# They read their own files through their module's loader, so they also work from the archive.
WITH_FILES = ("pip", "pytz", "tzdata")
ARCHIVE = "packages.zip"


def main(arguments: Sequence[str]) -> None:
    """Do what the command line asks for."""
    if arguments[0] == "lock":
        print("\n".join(windows_lock((ROOT / "requirements.lock").read_text(encoding="utf-8"))))
    else:
        lay_out(*map(Path, arguments[1:]))


def windows_lock(text: str) -> Iterator[str]:
    """Yield the entries of a lock file that are for this Python on Windows, without their markers."""
    for entry in re.split(r"\n(?=\S)", text.strip()):
        head, _, hashes = entry.partition(" \\\n")
        requirement, _, marker = head.partition(" ; ")
        if requirement.partition("==")[0] not in NO_WHEEL and (
            not marker or Marker(marker).evaluate(WINDOWS)
        ):
            yield f"{requirement} \\\n{hashes}"


def lay_out(wheels: Path, moot: Path) -> None:
    """Unpack what Moot depends on. Says what was left out, and fails where a pattern fits nothing."""
    found = {canonical(path.name.partition("-")[0]): path for path in wheels.glob("*.whl")}
    patterns, fitting = unused_patterns(), set()
    site, kept, left_out = moot / "python" / "Lib" / "site-packages", 0, 0
    with zipfile.ZipFile(moot / "python" / ARCHIVE, "w") as archive:
        for name in sorted(needed(found)):
            with zipfile.ZipFile(found[name]) as wheel:
                files = {}
                for entry in wheel.infolist():
                    path = place(entry.filename)
                    fits = [
                        pattern for pattern in patterns if path and fnmatchcase(path, pattern.lstrip("!"))
                    ]
                    fitting.update(fits)
                    if path and is_kept(fits):
                        files[path] = wheel.read(entry)
                    else:
                        left_out += entry.file_size
                kept += sum(map(len, files.values()))
                together = name in WITH_FILES or is_modules_alone(files)
                for path, data in files.items():
                    # The metadata are looked up often, and licences are for people.
                    if together and ".dist-info/" not in path:
                        archive.writestr(path, data)
                    else:
                        target = site / path
                        target.parent.mkdir(parents=True, exist_ok=True)
                        target.write_bytes(data)
    print(f"{kept / 1e6:.0f} MB of packages, {left_out / 1e6:.0f} MB left out")
    if missed := [pattern for pattern in patterns if pattern not in fitting]:
        raise SystemExit(f"unused.txt: nothing fits {', '.join(missed)}")


def unused_patterns() -> list[str]:
    """Return the patterns of unused.txt."""
    lines = (HERE / "unused.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def is_kept(fits: Sequence[str]) -> bool:
    """Return whether a path is shipped, by the patterns that fit it, in the order of the file."""
    return not fits or fits[-1].startswith("!")


def is_modules_alone(paths: Iterator[str] | dict[str, bytes]) -> bool:
    """Return whether a package with these files works from an archive: it has nothing but modules."""
    return all(path.endswith(".py") or ".dist-info/" in path for path in paths)


def place(path: str) -> str:
    """Return where a file of a wheel belongs in site-packages, "" for folders and programs of the package."""
    if ".data/" in path:
        kind, _, path = path.partition(".data/")[2].partition("/")
        if kind not in ("purelib", "platlib"):
            return ""
    return "" if path.endswith("/") else path


def needed(found: dict[str, Path]) -> set[str]:
    """Return the names of the packages that Moot depends on, directly or not; `found` are their wheels."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    waiting = [(Requirement(line), "") for line in (*project["dependencies"], *EXTRA)]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({**WINDOWS, "extra": extra}):
            continue
        name = canonical(requirement.name)
        for wanted in {"", *requirement.extras} - {known for package, known in seen if package == name}:
            seen.add((name, wanted))
            waiting += [(Requirement(line), wanted) for line in requirements(found[name])]
    return {name for name, _ in seen}


def requirements(wheel: Path) -> list[str]:
    """Return what the package in a wheel needs."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if re.fullmatch(r"[^/]+\.dist-info/METADATA", name))
        return email.message_from_bytes(archive.read(name)).get_all("Requires-Dist") or []


def canonical(name: str) -> str:
    """Return a package's name as it is compared."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    main(sys.argv[1:])
