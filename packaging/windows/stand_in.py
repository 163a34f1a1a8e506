"""Makes a stand-in for python.org's embeddable Python, for trials where only packages can be fetched.

usage: stand_in.py TARGET.zip WORK. Python's libraries come from the wheel of panda3d, which ships them for
its own builds, the standard library from Pyodide; both are named in python.lock. The files and their places
are those of python.org's archive, but the modules are sources. Needs npm and MinGW's compiler.
"""

import hashlib
import io
import re
import ssl
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
LOCK = dict(re.findall(r"^(\w+)=(.+)$", (HERE / "python.lock").read_text(encoding="utf-8"), re.MULTILINE))
NAME = "python" + "".join(LOCK["PYTHON"].split(".")[:2])
LIBRARIES = re.compile(r"(libffi|libcrypto|libssl|sqlite3|python3|vcruntime140).*\.dll", re.IGNORECASE)
UNUSED_LIBRARIES = re.compile(r"_test|_tkinter|.*\.cp314t|_msi")
# What Pyodide has put in place of CPython's own modules, or added to them.
NOT_PYTHONS_OWN = re.compile(r"_ssl\.py|ssl\.py|_?pyodide/|_sysconfigdata|site-packages/")


def main(target: Path, work: Path) -> None:
    """Write the archive; what is downloaded stays in `work`."""
    # Under its own name only once it is whole: build.sh takes a file that is there.
    unfinished = work / "unfinished.zip"
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        found = libraries(fetch_wheel(work))
        for name, data in found.items():
            archive.writestr(name, data)
        archive.writestr("python3.dll", stable_library(work, found[f"{NAME}.dll"]))
        archive.writestr(f"{NAME}.zip", modules(fetch_npm(work)))
        archive.writestr(f"{NAME}._pth", f"{NAME}.zip\n.\n")
    unfinished.replace(target)


def fetch_wheel(work: Path) -> Path:
    """Download the wheel of panda3d for this Python on Windows; return its path."""
    lock = work / "libraries.lock"
    lock.write_text(
        f"{LOCK['STAND_IN_LIBRARIES']} --hash=sha256:{LOCK['STAND_IN_LIBRARIES_SHA256']}\n", "utf-8"
    )
    version = ".".join(LOCK["PYTHON"].split(".")[:2])
    target = ["--platform", "win_amd64", "--implementation", "cp", "--python-version", version]
    pip = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
    ]
    subprocess.run([*pip, *target, "-r", lock, "-d", work], check=True)
    name, number = LOCK["STAND_IN_LIBRARIES"].split("==")
    return next(work.glob(f"{name}-{number}-*.whl"))


def libraries(wheel: Path) -> dict[str, bytes]:
    """Return the libraries and extension modules by their names in the archive."""
    found = {}
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.namelist():
            path = PurePosixPath(entry)
            used = path.suffix == ".pyd" or LIBRARIES.fullmatch(path.name)
            if path.parts[0] == "deploy_libs" and used and not UNUSED_LIBRARIES.match(path.name):
                name = path.name.lower() if path.suffix == ".dll" else path.name
                found[name] = archive.read(entry)
    return found


def stable_library(work: Path, python: bytes) -> bytes:
    """Return python3.dll, which hands each call to the library of this version."""
    (work / f"{NAME}.dll").write_bytes(python)
    said = subprocess.run(
        ["x86_64-w64-mingw32-objdump", "-p", work / f"{NAME}.dll"], capture_output=True, text=True, check=True
    ).stdout
    names = sorted(
        set(re.findall(r"^\s+\[ *\d+\].*?\b(_?Py\w+)$", said.partition("Name Pointer")[2], re.MULTILINE))
    )
    definition = work / "python3.def"
    lines = ["LIBRARY python3.dll", "EXPORTS", *(f"{name} = {NAME}.{name}" for name in names)]
    definition.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (work / "empty.c").write_text("int unused;\n", encoding="utf-8")
    made = work / "python3.dll"
    compiler = ["x86_64-w64-mingw32-gcc", "-shared", "-nostdlib", "-Wl,-e0", "-o", made]
    subprocess.run([*compiler, work / "empty.c", definition], check=True)
    return made.read_bytes()


def fetch_npm(work: Path) -> bytes:
    """Download Pyodide; return its standard library, an archive of sources."""
    name, number = LOCK["STAND_IN_MODULES"].split("@")
    package = work / f"{name}-{number}.tgz"
    if not package.is_file():
        subprocess.run(["npm", "pack", "--silent", f"{name}@{number}"], cwd=work, check=True)
    if hashlib.sha256(package.read_bytes()).hexdigest() != LOCK["STAND_IN_MODULES_SHA256"]:
        raise SystemExit(f"{package.name} does not have the expected SHA-256")
    with tarfile.open(package) as archive:
        found = archive.extractfile("package/python_stdlib.zip")
        assert found is not None
        return found.read()


def modules(sources: bytes) -> bytes:
    """Return the archive of the standard library."""
    kept = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(sources)) as given, zipfile.ZipFile(kept, "w") as archive:
        for entry in given.infolist():
            if entry.filename.endswith(".py") and not NOT_PYTHONS_OWN.match(entry.filename):
                archive.writestr(entry.filename, given.read(entry))
        # That of the Python that runs this, but for a function that was removed in 3.12.
        own = Path(ssl.__file__).read_text(encoding="utf-8")
        archive.writestr("ssl.py", own.replace(", RAND_pseudo_bytes", ""))
    return kept.getvalue()


if __name__ == "__main__":
    main(*(Path(word).resolve() for word in sys.argv[1:]))
