"""Checks that each library that Moot's packages need on macOS or Windows is the system's own or shipped.

usage: check_libraries.py macos|windows [FOLDER]; exit status 1 if one is missing or for other computers
FOLDER is a program that is laid out. Without it, uv unpacks the wheels of requirements.lock for that system
in build/libraries. Only tables of imports are read, with macholib and pefile, so any system can check others.
"""

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dev import environment_with, find_uv

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "libraries"
# The computers that the builds are for, in uv's words, and the Python that is in them.
WHEELS = {"macos": ("aarch64-apple-darwin", "3.11"), "windows": ("x86_64-pc-windows-msvc", "3.14")}
# The lock has one package without wheels; only the tests need it, and it has no libraries.
NO_WHEEL = "forbiddenfruit=="

# How many names of libraries are printed for a place.
MOST_NAMES = 12
# What no build ships: tools of Qt, its parts for QML, databases and PDF, and parts of pywin32.
UNUSED = re.compile(
    r"PySide6/(Qt/)?(qml|plugins/(designer|qmltooling|sqldrivers))/"
    r"|PySide6/(Qt/)?plugins/(imageformats/(lib)?qpdf|platforminputcontexts/(lib)?qtvirtualkeyboard)"
    r"|PySide6/[^/]+\.(app|exe)|pythonwin/|win32comext/axdebug/"
)

MAC_SYSTEM = ("/usr/lib/", "/System/Library/")
MACH_O = {b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"}
ARM64, X64 = 0x0100000C, 0x8664
# The libraries of Windows 10 and newer that something in the wheels asks for.
WINDOWS_SYSTEM = re.compile(
    r"(api|ext)-ms-win-.*|winspool\.drv"
    r"|(aclui|activeds|advapi32|authz|bcrypt|bcryptprimitives|combase|comctl32|comdlg32|credui|crypt32"
    r"|d2d1|d3d11|d3d12|d3d9|d3dcompiler_47|dnsapi|dsound|dwmapi|dwrite|dxgi|gdi32|icuuc|imagehlp|imm32"
    r"|iphlpapi|kernel32|ktmw32|loadperf|lz32|mpr|msimg32|mswsock|ncrypt|netapi32|ntdll|ntdsapi|odbc32"
    r"|ole32|oleacc|oleaut32|pdh|powrprof|propsys|psapi|query|rasapi32|rpcrt4|secur32|setupapi|sfc"
    r"|shell32|shlwapi|ucrtbase|uiautomationcore|urlmon|user32|userenv|uxtheme|version|wevtapi|winhttp"
    r"|wininet|winmm|ws2_32|wtsapi32)\.dll"
)
WINDOWS_PYTHON = re.compile(r"python3\d*\.dll|vcruntime140(_1)?\.dll")
# Packages whose libraries find those in other folders too, because they name these when they are imported.
WINDOWS_FOLDERS = {
    "PySide6": ("PySide6", "shiboken6"),
    "shiboken6": ("PySide6", "shiboken6"),
    "win32": ("pywin32_system32",),
    "win32comext": ("pywin32_system32",),
}


@dataclass(frozen=True, slots=True)
class Library:
    """What a library, an extension module or a program says of itself."""

    # Its path below the folder that is checked.
    path: Path
    # The names of the libraries that it needs.
    needs: tuple[str, ...]
    # The folders in which a Mac looks for them.
    places: tuple[str, ...] = ()
    # Why it can't be loaded on the computers that the builds are for; empty if it can.
    fault: str = ""


def main(arguments: Sequence[str]) -> int:
    """Check one system; return 1 if something is missing."""
    system, *rest = arguments or [""]
    if system not in WHEELS or len(rest) > 1:
        print(__doc__)
        return 2
    folder = Path(rest[0]) if rest else unpacked(system)
    read, find = (read_mac, find_on_mac) if system == "macos" else (read_windows, find_on_windows)
    libraries = list(read(folder))
    faults = [f"{library.path}: {library.fault}" for library in libraries if library.fault]
    missing: dict[str, list[Path]] = defaultdict(list)
    found: dict[str, set[str]] = defaultdict(set)
    for library in libraries:
        for name in library.needs:
            if place := find(folder, library, name):
                found[place].add(name)
            else:
                missing[name].append(library.path)
    for place, names in sorted(found.items()):
        shown = ", ".join(sorted(names)) if len(names) <= MOST_NAMES else f"{len(names)} libraries"
        print(f"{system}: {place}: {shown}")
    faults += [
        f"nobody ships {name}, which {len(paths)} need, such as {paths[0]}" for name, paths in missing.items()
    ]
    for fault in sorted(faults):
        print(f"{system}: fault: {fault}")
    print(f"{system}: {len(libraries)} libraries and programs read, {len(faults)} faults")
    # Where nothing was read, the folder was the wrong one.
    return 1 if faults or not libraries else 0


def unpacked(system: str) -> Path:
    """Unpack the wheels that the lock names for a system, checked by their hashes; return the folder."""
    uv = find_uv()
    if uv is None:
        raise SystemExit("check_libraries.py needs uv: packaging/dev.py setup downloads it")
    WORK.mkdir(parents=True, exist_ok=True)
    lock, folder = WORK / f"{system}.lock", WORK / system
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text(encoding="utf-8"))
    lock.write_text("\n".join(entry for entry in entries if not entry.startswith(NO_WHEEL)), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    platform, python = WHEELS[system]
    command = [uv, "pip", "install", "-q", "--python", sys.executable, "--target", str(folder)]
    command += ["--python-platform", platform, "--python-version", python]
    command += ["--no-deps", "--no-build", "--require-hashes", "-r", str(lock)]
    subprocess.run(command, env=environment_with({}), check=True)
    return folder


def files_of(folder: Path) -> Iterator[tuple[Path, str]]:
    """Return the files that a build may ship, each with its path below the folder."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and not path.is_symlink() and not UNUSED.search(name):
            yield path, name


# macOS ---------------------------------------------------------------------------------------


def read_mac(folder: Path) -> Iterator[Library]:
    """Read what is for a Mac, as it is for Apple's processors."""
    from macholib import mach_o
    from macholib.MachO import MachO

    spec = (ROOT / "packaging" / "moot.spec").read_text(encoding="utf-8")
    oldest = re.findall(r'"LSMinimumSystemVersion": "(\d+)\.(\d+)"', spec)[0]
    for path, name in files_of(folder):
        with path.open("rb") as file:
            if file.read(4) not in MACH_O:
                continue
        needs, places, fault = [], [], "not for Apple's processors"
        for header in MachO(str(path)).headers:
            if header.header.cputype != ARM64:
                continue
            fault = ""
            for load, command, data in header.commands:
                if load.cmd in (mach_o.LC_LOAD_DYLIB, mach_o.LC_REEXPORT_DYLIB):
                    needs.append(data.rstrip(b"\0").decode())
                elif load.cmd == mach_o.LC_RPATH:
                    places.append(data.rstrip(b"\0").decode())
                elif load.cmd == mach_o.LC_BUILD_VERSION:
                    version = (command.minos >> 16, command.minos >> 8 & 255)
                    if version > tuple(map(int, oldest)):
                        fault = f"for macOS {version[0]}.{version[1]}, but Moot.app for {'.'.join(oldest)}"
        yield Library(Path(name), tuple(needs), tuple(places), fault)


def find_on_mac(folder: Path, library: Library, name: str) -> str:
    """Return in words where a Mac finds a library that another one needs, or an empty text."""
    if name.startswith(MAC_SYSTEM):
        return "of the system"
    tries = [f"{place}/{name.removeprefix('@rpath/')}" for place in library.places]
    for text in tries if name.startswith("@rpath/") else [name]:
        place = (folder / library.path).parent / text.removeprefix("@loader_path").lstrip("/")
        if text.startswith("@loader_path") and place.is_file():
            return f"of {place.resolve().relative_to(folder.resolve()).parts[0]}"
    return ""


# Windows -------------------------------------------------------------------------------------


def read_windows(folder: Path) -> Iterator[Library]:
    """Read what is for Windows."""
    import pefile

    kinds = ("IMPORT", "DELAY_IMPORT")
    tables = [pefile.DIRECTORY_ENTRY[f"IMAGE_DIRECTORY_ENTRY_{kind}"] for kind in kinds]
    for path, name in files_of(folder):
        if path.suffix.lower() not in (".dll", ".exe", ".pyd"):
            continue
        with pefile.PE(str(path), fast_load=True) as file:
            file.parse_data_directories(tables)
            entries = [entry for kind in kinds for entry in getattr(file, f"DIRECTORY_ENTRY_{kind}", ())]
            needs = {entry.dll.decode().lower() for entry in entries}
            fault = "" if file.FILE_HEADER.Machine == X64 else "not for 64-bit processors of Intel and AMD"
        yield Library(Path(name), tuple(sorted(needs)), fault=fault)


def find_on_windows(folder: Path, library: Library, name: str) -> str:
    """Return in words where Windows finds a library that another one needs, or an empty text.

    A process finds what lies beside its program, as `python3.dll` does, and beside the library that asks.
    """
    if WINDOWS_SYSTEM.fullmatch(name):
        return "of the system"
    site, beside, words = beside_python(folder)
    if name in beside:
        return words
    own = folder / library.path
    if name in names_in(own.parent):
        return "of the same folder"
    package = own.relative_to(site).parts[0] if own.is_relative_to(site) else ""
    others = (*WINDOWS_FOLDERS.get(package, ()), f"{package}.libs") if package else ()
    other = next((other for other in others if name in names_in(site / other)), "")
    if not other and python_of(folder) is None and WINDOWS_PYTHON.fullmatch(name):
        return "of Python"
    return other and f"of {other}"


@cache
def python_of(folder: Path) -> Path | None:
    """Return the folder of the Python that is laid out; None where there are only wheels."""
    return next((path.parent for path in folder.rglob("python3??.dll")), None)


@cache
def beside_python(folder: Path) -> tuple[Path, frozenset[str], str]:
    """Return where the packages are, and what lies beside Python, with words for that.

    Of wheels alone it is what `windows/build.sh` puts there: the libraries of Visual C++ from shiboken6.
    """
    if python := python_of(folder):
        return python / "Lib" / "site-packages", names_in(python), "beside Python"
    names = (name for name in names_in(folder / "shiboken6") if re.search(r"140.*\.dll$", name))
    return folder, frozenset(names), "of shiboken6, which is put beside Python"


@cache
def names_in(folder: Path) -> frozenset[str]:
    """Return the names of the files in a folder, in small letters as Windows compares them."""
    return frozenset(path.name.lower() for path in folder.iterdir()) if folder.is_dir() else frozenset()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
