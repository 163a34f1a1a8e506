"""What users download: it is signed where it can be, started before it is given away, and lacks no library."""

import base64
import importlib.util
import os
import plistlib
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from app.cli.commands import doctor

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "packaging"
SPEC = (PACKAGING / "moot.spec").read_text(encoding="utf-8")
SIGN_WINDOWS = PACKAGING / "windows" / "sign.sh"
WORKFLOW = (ROOT / ".github" / "workflows" / "desktop.yml").read_text(encoding="utf-8")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


def load_script(name: str):
    spec = importlib.util.spec_from_file_location(f"moot_{name}", PACKAGING / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bundle():
    return load_script("bundle")


@pytest.fixture
def libraries(monkeypatch):
    # It imports its neighbour dev.py, as a program does.
    monkeypatch.syspath_prepend(PACKAGING)
    return load_script("check_libraries")


def run_to_end(command, **how) -> str:
    """Run a program; return what it printed."""
    done = subprocess.run(command, check=False, capture_output=True, encoding="utf-8", **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_app_of_macos_has_its_licences_before_it_is_sealed(bundle, tmp_path, monkeypatch):
    for name in ("WORK", "DIST", "FOLDER"):
        monkeypatch.setattr(bundle, name, tmp_path / name)
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(bundle, "add_licences", lambda target: target.mkdir(parents=True))
    seen = []
    monkeypatch.setattr(
        bundle, "run", lambda _command: seen.append((tmp_path / "WORK" / "licences").is_dir())
    )
    bundle.freeze()
    assert seen == [True] and not (tmp_path / "FOLDER").exists()
    assert 'datas.append((str(ROOT / "build" / "bundle" / "licences"), "licences"))' in SPEC


def test_a_frozen_build_has_what_the_doctor_looks_for():
    start = SPEC.index("for package in (")
    named = re.findall(r'"([\w-]+)"', SPEC[start : SPEC.index("copy_metadata(package)", start)])
    assert {name.replace("-", "_") for name in named} >= set(doctor._PACKAGES)


# What is put before the programs of macOS writes down how each was called, and does what release.sh goes on with.
STAND_IN = """\
#!/usr/bin/env bash
name=${0##*/}
echo "$name $*" >>"$LOG"
case "$name $1" in
    "uname "*) echo Darwin ;;
    "uuidgen "*) echo 0-0 ;;
    "security find-identity") echo '  1) 0123ABCD "Developer ID Application: Somebody (TEAM)"' ;;
    "security list-keychains") [ "$4" = -s ] || echo '    "/Users/me/login keychain.keychain-db"' ;;
    "ditto "*) cp -R "$1" "$2" ;;
    "hdiutil create") [ "$(grep -c "^hdiutil" "$LOG")" -gt 2 ] && touch "${!#}" ;;
esac
"""
SECRETS = {
    "MOOT_CERTIFICATE": base64.b64encode(b"the certificate").decode(),
    "MOOT_CERTIFICATE_PASSWORD": "hunter2",
    "MOOT_NOTARY_KEY": "-----BEGIN PRIVATE KEY-----",
    "MOOT_NOTARY_KEY_ID": "KEYID",
    "MOOT_NOTARY_ISSUER": "ISSUER",
}


@pytest.fixture
def release(tmp_path):
    """Run release.sh on an app of few files; return what it printed and what it called."""
    programs, app = tmp_path / "bin", tmp_path / "build" / "dist" / "Moot.app" / "Contents"
    programs.mkdir()
    for name in ("codesign", "ditto", "hdiutil", "security", "sleep", "uname", "uuidgen", "xcrun"):
        (programs / name).write_text(STAND_IN)
        (programs / name).chmod(0o755)
    shutil.copytree(PACKAGING / "macos", tmp_path / "packaging" / "macos")
    for name in ("MacOS/moot", "Frameworks/lib one.dylib", "Frameworks/Qt.framework/Versions/A/Qt"):
        (app / name).parent.mkdir(parents=True, exist_ok=True)
        (app / name).write_bytes(b"\xcf\xfa\xed\xfe of a library")
    (app / "Resources").mkdir()
    (app / "Resources" / "words.json").write_text("{}")
    (app / "Info.plist").write_bytes(plistlib.dumps({"CFBundleShortVersionString": "1.2.3"}))
    (tmp_path / "tmp").mkdir()

    def run(**secrets: str) -> tuple[str, list[str]]:
        environ = {"PATH": f"{programs}:{os.environ['PATH']}", "LOG": str(tmp_path / "log")}
        environ |= {"TMPDIR": str(tmp_path / "tmp"), **secrets}
        said = run_to_end(["bash", tmp_path / "packaging" / "macos" / "release.sh"], env=environ)
        assert (tmp_path / "build" / "dist" / "Moot-1.2.3.dmg").is_file()
        # What was secret is gone.
        assert not list((tmp_path / "tmp").iterdir())
        return said, (tmp_path / "log").read_text().splitlines()

    return run


@needs_bash
def test_without_a_certificate_the_image_of_macos_is_made_unsigned(release):
    said, called = release()
    assert [line for line in said.splitlines() if "unsigned" in line] == [
        f"unsigned, since MOOT_CERTIFICATE is not set: {name}; macOS will refuse to open it at first"
        for name in ("Moot.app", "Moot-1.2.3.dmg")
    ]
    assert [line for line in called if line.startswith(("codesign", "security", "xcrun"))] == [
        "codesign --verify --deep --strict build/dist/Moot.app"
    ]
    # While macOS is busy with what was written, it is tried again.
    assert len([line for line in called if line.startswith("hdiutil create")]) == 3


@needs_bash
def test_with_a_certificate_the_app_of_macos_is_signed_from_the_inside_out(release):
    said, called = release(**SECRETS)
    signed = [line for line in called if line.startswith("codesign") and "--sign 0123ABCD" in line]
    assert [line.rpartition("Moot")[2] for line in signed[2:]] == [".app", "-1.2.3.dmg"]
    assert {re.sub(r".*(lib one|Qt)[.\w]*$", r"\1", line) for line in signed[:2]} == {"lib one", "Qt"}
    assert ["entitlements.plist" in line for line in signed] == [False, False, True, False]
    assert ["--options runtime" in line for line in signed] == [True, True, True, False]
    last = [line.split()[:2] for line in called if line.startswith(("xcrun", "security delete"))]
    assert last == [
        *(["security", "delete-keychain"], ["xcrun", "notarytool"]),
        *(["xcrun", "stapler"], ["security", "delete-keychain"]),
    ]
    assert "list-keychains -d user -s" in "\n".join(called) and "/Users/me/login keychain" in "\n".join(
        called
    )
    assert not [secret for secret in SECRETS.values() if secret in said]


def windows_program() -> bytes:
    """Return the smallest program of Windows: its headers, and 512 bytes of one section."""
    head = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64)
    coff = struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, 240, 0x22)
    sizes = struct.pack("<HBBIIIII", 0x20B, 14, 0, 512, 0, 0, 0x1000, 0x1000)
    place = struct.pack(
        "<QIIHHHHHHIIIIHH", 0x140000000, 0x1000, 512, 6, 0, 0, 0, 6, 0, 0, 0x2000, 512, 0, 3, 0
    )
    optional = sizes + place + struct.pack("<QQQQII", *(1 << 20, 4096) * 2, 0, 16) + bytes(128)
    section = struct.pack("<8sIIIIIIHHI", b".text", 512, 0x1000, 512, 512, 0, 0, 0, 0, 0x60000020)
    return (head + b"PE\0\0" + coff + optional + section).ljust(512, b"\0") + b"\xc3" * 512


@needs_bash
def test_without_a_certificate_a_program_of_windows_stays_unsigned(tmp_path):
    program = tmp_path / "Moot.exe"
    program.write_bytes(windows_program())
    said = run_to_end([SIGN_WINDOWS, program], env={"PATH": os.environ["PATH"]})
    assert "unsigned" in said and "Moot.exe" in said
    assert program.read_bytes() == windows_program()


@pytest.mark.skipif(
    not (shutil.which("osslsigncode") and shutil.which("openssl")), reason="needs osslsigncode"
)
def test_with_a_certificate_a_program_of_windows_is_signed(tmp_path):
    key = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=Somebody"
    usage = ["-addext", "extendedKeyUsage=codeSigning"]
    run_to_end([*key.split(), *usage], cwd=tmp_path)
    packed = "openssl pkcs12 -export -inkey key.pem -in cert.pem -out cert.p12 -passout pass:hunter2"
    run_to_end(packed.split(), cwd=tmp_path)
    files = [tmp_path / name for name in ("Moot.exe", "무트 설치.exe")]
    for file in files:
        file.write_bytes(windows_program())
        file.chmod(0o755)
    secret = base64.b64encode((tmp_path / "cert.p12").read_bytes()).decode()
    (tmp_path / "tmp").mkdir()
    environ = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "tmp"), "MOOT_TIMESTAMP": ""}
    environ |= {"MOOT_CERTIFICATE": secret, "MOOT_CERTIFICATE_PASSWORD": "hunter2"}
    said = run_to_end([SIGN_WINDOWS, *files], env=environ)
    assert "hunter2" not in said and secret not in said
    assert not list((tmp_path / "tmp").iterdir())
    for file in files:
        assert file.stat().st_mode & 0o777 == 0o755
        verify = ["osslsigncode", "verify", "-CAfile", "cert.pem", "-in", file]
        assert "Somebody" in run_to_end(verify, cwd=tmp_path)


def test_the_workflow_starts_what_it_makes_before_it_gives_it_away():
    workflow = yaml.safe_load(WORKFLOW)
    assert workflow["permissions"] == {}
    for name, job in workflow["jobs"].items():
        assert job["permissions"] == {"contents": "read"}
        assert not job["runs-on"].endswith("-latest")
        steps = [step.get("run", "") + step.get("uses", "") for step in job["steps"]]
        tried = [number for number, step in enumerate(steps) if "try_build.py" in step]
        given = [number for number, step in enumerate(steps) if "upload-artifact" in step]
        # The installer of Windows is made on Linux, and tried by a job of Windows.
        assert bool(tried) is (name != "windows-installer") and bool(given) is (name != "windows")
        assert not (tried and given) or max(tried) < min(given)
        for step in job["steps"]:
            if "upload-artifact" in step.get("uses", ""):
                # A folder would lose its links and its rights to run.
                paths = step["with"]["path"].split()
                assert all(path.endswith((".deb", ".tar.zst", ".exe", ".zip", ".dmg")) for path in paths)
    assert workflow["jobs"]["windows"]["needs"] == "windows-installer"


def test_the_workflow_runs_no_action_that_could_be_exchanged():
    pinned = re.findall(r"uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$", WORKFLOW, re.MULTILINE)
    assert len(pinned) == WORKFLOW.count("uses:") > 0


def test_what_tries_a_build_reads_the_same_where_the_system_has_another_encoding(tmp_path):
    program = tmp_path / "moot"
    program.write_text("#!/bin/sh\nprintf 'Completed \\302\\267 1 round\\n'\n")
    program.chmod(0o755)
    code = "import pathlib, try_build; print(ascii(try_build.moot(pathlib.Path('moot').absolute(), pathlib.Path())))"
    environ = {"PYTHONPATH": str(PACKAGING), "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PATH": os.defpath}
    said = run_to_end([sys.executable, "-X", "utf8=0", "-c", code], cwd=tmp_path, env=environ)
    assert said == r"'Completed \xb7 1 round\n'" + "\n"


def library(libraries, path: str, *places: str):
    return libraries.Library(Path(path), (), places)


def test_a_library_of_windows_is_found_where_windows_looks(libraries, tmp_path):
    for name in (
        "shiboken6/VCOMP140.dll",
        "shiboken6/shiboken6.dll",
        "PySide6/Qt6Core.dll",
        "numpy.libs/blas.dll",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def found(path: str, name: str) -> str:
        return libraries.find_on_windows(tmp_path, library(libraries, path), name)

    assert (
        found("xllamacpp/x.pyd", "kernel32.dll")
        == found("xllamacpp/x.pyd", "api-ms-win-crt-1.dll")
        == "of the system"
    )
    assert found("xllamacpp/x.pyd", "vcomp140.dll") == "of shiboken6, which is put beside Python"
    assert found("xllamacpp/x.pyd", "python314.dll") == "of Python"
    assert found("PySide6/QtCore.pyd", "qt6core.dll") == "of the same folder"
    assert found("PySide6/QtCore.pyd", "shiboken6.dll") == "of shiboken6"
    assert found("numpy/core/x.pyd", "blas.dll") == "of numpy.libs"
    assert found("xllamacpp/x.pyd", "blas.dll") == found("xllamacpp/x.pyd", "qt6core.dll") == ""


def test_in_a_layout_of_windows_libraries_must_lie_beside_python(libraries, tmp_path):
    site = tmp_path / "python" / "Lib" / "site-packages"
    (site / "shiboken6").mkdir(parents=True)
    (site / "shiboken6" / "VCOMP140.dll").touch()
    (tmp_path / "python" / "python314.dll").touch()
    asked = library(libraries, "python/Lib/site-packages/xllamacpp/x.pyd")
    assert libraries.find_on_windows(tmp_path, asked, "python314.dll") == "beside Python"
    assert libraries.find_on_windows(tmp_path, asked, "vcomp140.dll") == ""
    (tmp_path / "python" / "vcomp140.dll").touch()
    for remembered in (libraries.names_in, libraries.beside_python, libraries.python_of):
        remembered.cache_clear()
    assert libraries.find_on_windows(tmp_path, asked, "vcomp140.dll") == "beside Python"


def test_a_library_of_macos_is_found_where_a_mac_looks(libraries, tmp_path):
    core = tmp_path / "PySide6" / "Qt" / "lib" / "QtCore.framework" / "Versions" / "A" / "QtCore"
    core.parent.mkdir(parents=True)
    core.touch()

    def found(name: str, *places: str) -> str:
        return libraries.find_on_mac(tmp_path, library(libraries, "PySide6/QtGui.abi3.so", *places), name)

    name = "@rpath/QtCore.framework/Versions/A/QtCore"
    assert found("/usr/lib/libSystem.B.dylib") == "of the system"
    assert found(name, "@loader_path/nowhere", "@loader_path/Qt/lib") == "of PySide6"
    assert found(name.replace("@rpath", "@loader_path/Qt/lib")) == "of PySide6"
    assert found(name) == found(name, "/opt/Qt/lib") == found("/opt/homebrew/lib/libpq.5.dylib") == ""


def test_what_reads_the_libraries_is_what_makes_the_builds():
    lines = (ROOT / ".ci" / "full").read_text(encoding="utf-8")
    lock = (PACKAGING / "bundle.lock").read_text(encoding="utf-8")
    for pinned in re.findall(r"(?:macholib|pefile)==[\d.]+", lines):
        assert pinned in lock
    assert {"macholib", "pefile"} <= set(re.findall(r"(\w+)==", lines))
