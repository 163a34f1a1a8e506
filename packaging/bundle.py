"""Builds the installable programs in build/dist: a folder, a .deb and a tar archive.

`dev.py build` runs it with the environment's Python and PyInstaller on its path; on macOS it makes Moot.app,
which `packaging/macos` continues with.
"""

import argparse
import importlib.metadata
import os
import platform
import re
import runpy
import shutil
import struct
import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "packaging"
DIST = ROOT / "build" / "dist"
WORK = ROOT / "build" / "bundle"
FOLDER = DIST / "moot"
LINUX = PACKAGING / "linux"
APP_ID = "moot"
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)
MOST_WITHOUT_MODEL = 450_000_000
MODEL_FILES = "*.gguf"

# The picture types of an .icns file with their sizes in pixels; all are PNG.
ICNS_TYPES = {b"icp4": 16, b"icp5": 32, b"icp6": 64, b"ic07": 128, b"ic08": 256, b"ic09": 512}

STARTED = time.monotonic()


def main() -> int:
    """Build what was asked for; return exit status 1 if a check or a program fails."""
    parser = argparse.ArgumentParser(prog="dev.py build", description=__doc__)
    parser.add_argument("--folder", action="store_true", help="only the folder, no .deb and no archive")
    arguments = parser.parse_args()
    try:
        check_recipes()
        make_icons(WORK / "icons")
        freeze()
        if sys.platform.startswith("linux") and not arguments.folder:
            tree = make_tree()
            make_deb(tree)
            make_archive()
    except subprocess.CalledProcessError as error:
        say(f"failed: {' '.join(map(str, error.cmd[:4]))} … exited with status {error.returncode}")
        return 1
    for path in sorted(DIST.iterdir()):
        say(f"{path.relative_to(ROOT)}: {size_of(path) / 1e6:.0f} MB")
    without = size_of(FOLDER) - sum(path.stat().st_size for path in FOLDER.rglob(MODEL_FILES))
    say(f"the folder without the model: {without / 1e6:.0f} MB of at most {MOST_WITHOUT_MODEL / 1e6:.0f}")
    return 0 if without <= MOST_WITHOUT_MODEL else 1


def check_recipes() -> None:
    """Check the desktop file and the AppStream data with the programs made for it, if they are installed."""
    checks: list[list[str | Path]] = [
        ["desktop-file-validate", LINUX / "moot.desktop"],
        # The id is the name of the desktop file and not of a domain, which Moot does not have.
        [
            "appstreamcli",
            "validate",
            "--no-net",
            "--override=cid-desktopapp-is-not-rdns=info",
            LINUX / "moot.metainfo.xml",
        ],
    ]
    for command in checks:
        if shutil.which(str(command[0])) is None:
            say(f"{command[0]} is not installed: not checked")
            continue
        run(command)


# Icons ---------------------------------------------------------------------------------------


def make_icons(icons: Path) -> None:
    """Draw the icon in every size for all three systems into a folder."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QIODevice
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication(sys.argv[:1])
    renderer = QSvgRenderer(str(ROOT / "resources" / "icons" / "moot.svg"))
    icons.mkdir(parents=True, exist_ok=True)
    pictures: dict[int, bytes] = {}
    for size in SIZES:
        image = QImage(size, size, QImage.Format.Format_ARGB32)
        image.fill(0)
        painter = QPainter(image)
        renderer.render(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        image.save(buffer, "PNG")
        pictures[size] = bytes(buffer.data().data())
        (icons / f"{size}.png").write_bytes(pictures[size])
    del application
    (icons / "moot.ico").write_bytes(ico([(size, pictures[size]) for size in SIZES if size <= 256]))
    (icons / "moot.icns").write_bytes(icns(pictures))


def ico(pictures: Sequence[tuple[int, bytes]]) -> bytes:
    """Return a Windows icon file of PNG pictures, each given with its size in pixels."""
    offset = 6 + 16 * len(pictures)
    head, body = struct.pack("<HHH", 0, 1, len(pictures)), b""
    for size, picture in pictures:
        # A size has one byte, so 256 is written as 0.
        sizes = (size % 256, size % 256)
        head += struct.pack("<BBBBHHII", *sizes, 0, 0, 1, 32, len(picture), offset + len(body))
        body += picture
    return head + body


def icns(pictures: dict[int, bytes]) -> bytes:
    """Return a macOS icon file of PNG pictures by their size in pixels."""
    body = b"".join(
        kind + struct.pack(">I", 8 + len(pictures[size])) + pictures[size]
        for kind, size in ICNS_TYPES.items()
    )
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


# The folder ----------------------------------------------------------------------------------


def freeze() -> None:
    """Make the folder build/dist/moot with PyInstaller, and add the licences of its contents."""
    say("collecting the program (a few minutes)")
    shutil.rmtree(DIST, ignore_errors=True)
    if sys.platform == "darwin":
        # Moot.app is sealed as it is made: they must be there before, and moot.spec takes them along.
        add_licences(WORK / "licences")
    places: list[str | Path] = ["--distpath", DIST, "--workpath", WORK / "work"]
    run(
        [
            sys.executable,
            "-m",
            "PyInstaller",
            "--noconfirm",
            "--log-level",
            "ERROR",
            *places,
            PACKAGING / "moot.spec",
        ]
    )
    if sys.platform.startswith("linux"):
        # Debug tables are most of their size.
        for pattern in ("libpython*", "xllamacpp/*.so"):
            for library in (FOLDER / "_internal").glob(pattern):
                run(["strip", "--strip-unneeded", library])
    if sys.platform != "darwin":
        add_licences(FOLDER / "licences")


def add_licences(target: Path) -> None:
    """Copy Moot's licence, the list of third-party software, and every package's licence texts."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(PACKAGING / "licences", target)
    shutil.copytree(ROOT / "resources" / "models" / "licences", target, dirs_exist_ok=True)
    shutil.copy2(ROOT / "LICENSE", target / "Moot.txt")
    shutil.copy2(PACKAGING / "THIRD_PARTY.md", target)
    python = Path(sysconfig.get_path("stdlib")) / "LICENSE.txt"
    if python.is_file():
        shutil.copy2(python, target / "Python.txt")
    for package in sorted(bundled_packages()):
        distribution = importlib.metadata.distribution(package)
        for file in distribution.files or ():
            if re.search(r"(^|/)(LICEN[CS]E|COPYING|NOTICE|AUTHORS)[^/]*$", str(file), re.IGNORECASE):
                copy = target / f"{package}-{distribution.version}" / file.name
                copy.parent.mkdir(exist_ok=True)
                shutil.copy2(str(distribution.locate_file(file)), copy)


def bundled_packages() -> set[str]:
    """Return the names of the packages that `moot` depends on, directly or not."""
    from packaging.requirements import Requirement

    found: set[str] = set()
    waiting = ["moot"]
    while waiting:
        for line in importlib.metadata.distribution(waiting.pop()).requires or ():
            needed = Requirement(line)
            name = re.sub(r"[-_.]+", "-", needed.name).lower()
            if name in found or (needed.marker and not needed.marker.evaluate({"extra": ""})):
                continue
            try:
                importlib.metadata.distribution(name)
            except importlib.metadata.PackageNotFoundError:
                continue
            found.add(name)
            waiting.append(name)
    return found


# Linux ---------------------------------------------------------------------------------------


def make_tree() -> Path:
    """Lay out the files of the .deb; return the folder that stands for the root."""
    tree = WORK / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    (tree / "usr/bin").mkdir(parents=True)
    shutil.copytree(FOLDER, tree / "usr/lib/moot", symlinks=True)
    (tree / "usr/bin/moot").symlink_to("../lib/moot/moot")
    add_desktop_files(tree / "usr/share")
    papers = tree / "usr/share/doc/moot"
    papers.mkdir(parents=True)
    (papers / "licences").symlink_to("../../../lib/moot/licences")
    (papers / "copyright").write_text(
        "Moot: MIT\n\n"
        + (ROOT / "LICENSE").read_text(encoding="utf-8")
        + "\nWhat others made, each with its licence text in /usr/lib/moot/licences:\n\n"
        + (PACKAGING / "THIRD_PARTY.md").read_text(encoding="utf-8"),
        encoding="utf-8",
    )
    return tree


def add_desktop_files(share: Path) -> None:
    """Copy the desktop file, the AppStream data and the icons to where desktops search."""
    applications, metainfo = share / "applications", share / "metainfo"
    for folder, file in ((applications, "moot.desktop"), (metainfo, "moot.metainfo.xml")):
        folder.mkdir(parents=True)
        shutil.copy2(LINUX / file, folder)
    hicolor = share / "icons" / "hicolor"
    for size in SIZES:
        folder = hicolor / f"{size}x{size}" / "apps"
        folder.mkdir(parents=True)
        shutil.copy2(WORK / "icons" / f"{size}.png", folder / f"{APP_ID}.png")
    scalable = hicolor / "scalable" / "apps"
    scalable.mkdir(parents=True)
    shutil.copy2(ROOT / "resources" / "icons" / "moot.svg", scalable / f"{APP_ID}.svg")


def make_deb(tree: Path) -> None:
    """Pack the tree as a Debian package."""
    if shutil.which("dpkg-deb") is None:
        say("dpkg-deb is not installed: no .deb")
        return
    machine = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    architecture = machine.stdout.strip()
    control = (
        (LINUX / "control")
        .read_text(encoding="utf-8")
        .format(
            version=VERSION,
            architecture=architecture,
            size=size_of(tree) // 1024,
            depends=", ".join(dependencies()),
        )
    )
    (tree / "DEBIAN").mkdir()
    (tree / "DEBIAN" / "control").write_text(control, encoding="utf-8")
    say("packing the .deb")
    options = ["--root-owner-group", "-Zzstd", "-z6"]
    run(["dpkg-deb", *options, "--build", tree, DIST / f"moot_{VERSION}_{architecture}.deb"], show=False)


def dependencies() -> list[str]:
    """Return the Debian packages required: the libraries that Qt loads, and font settings."""
    known = runpy.run_path(str(ROOT / "app" / "linux.py"))
    qt = [package for _, package, _ in (*known["_BASE"], *known["_SCREEN"])]
    return ["libc6 (>= 2.34)", "libstdc++6", "libgomp1", "fontconfig-config", *qt]


def make_archive() -> None:
    """Pack the folder and its desktop files as a tar archive for any Linux: unpack it and start `moot`."""
    say("packing the archive")
    name = f"moot-{VERSION}-linux-{platform.machine()}"
    share = WORK / "share"
    shutil.rmtree(share, ignore_errors=True)
    add_desktop_files(share)
    command: list[str | Path] = [
        "tar",
        "--create",
        "--use-compress-program=zstd -6 -T0",
        "--owner=0",
        "--group=0",
    ]
    command += [
        f"--file={DIST / name}.tar.zst",
        f"--transform=s,^moot,{name},",
        f"--transform=s,^share,{name}/share,",
    ]
    run([*command, "-C", DIST, "moot", "-C", WORK, "share"])


# Helpers -------------------------------------------------------------------------------------


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(file.lstat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def run(command: Sequence[str | Path], *, show: bool = True) -> None:
    """Run a program to its end. Raises CalledProcessError."""
    subprocess.run(list(map(str, command)), stdout=None if show else subprocess.DEVNULL, check=True)


def say(text: str) -> None:
    """Print a line with the seconds since the start."""
    print(f"build [{time.monotonic() - STARTED:3.0f} s] {text}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
