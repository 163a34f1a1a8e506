"""The guards of conftest.py catch what they are there for, and let honest work pass."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).resolve().parents[1]

INNER = '''
"""Run by test_guards.py in a process of its own; every test_bad_… must be failed by a guard."""
import asyncio, logging, socket, subprocess, sys, threading, time, warnings
import pytest
from PySide6.QtCore import QTimer, qWarning
from PySide6.QtWidgets import QWidget
from app.storage.paths import resources_dir

kept = []

async def test_bad_task():
    asyncio.create_task(asyncio.sleep(60))

async def test_bad_task_of_the_window(qtbot):
    kept.append(asyncio.create_task(asyncio.sleep(60)))

def test_bad_thread():
    threading.Thread(target=time.sleep, args=(4,)).start()

def test_bad_child_process():
    kept.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(5)"]))

def test_bad_timer(qtbot):
    kept.append(QTimer())
    kept[-1].start(60_000)

def test_bad_window(qtbot):
    kept.append(QWidget())
    kept[-1].show()

def test_bad_log():
    logging.getLogger("moot").warning("something is odd")

def test_bad_qt_message(qtbot):
    qWarning("something is odd")

def test_bad_network():
    socket.create_connection(("192.0.2.1", 80), timeout=1)

async def test_bad_network_of_asyncio():
    await asyncio.wait_for(asyncio.open_connection("192.0.2.1", 80), 1)

async def test_bad_blocked_loop():
    resources_dir()

def test_bad_warning():
    warnings.warn("old", DeprecationWarning)

@pytest.mark.xfail
def test_bad_surprise():
    pass

async def test_good(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    window.show()
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
    await process.wait()
    assert await asyncio.to_thread(resources_dir)
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await reader.read() == b""
    writer.close()
    server.close()
    await server.wait_closed()

def test_good_home(home, data_dir):
    from pathlib import Path
    assert Path.home() == home
    assert not data_dir.exists()
'''


@pytest.mark.slow
def test_each_guard_catches_its_fault(tmp_path):
    folder = tmp_path / "storage"  # the guard of the loop is on in a folder of this name
    folder.mkdir()
    (folder / "test_inner.py").write_text(INNER.lstrip(), encoding="utf-8")
    report = tmp_path / "report.xml"
    command = [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "tests.conftest", "-q"]
    command += ["-p", "no:cacheprovider", f"--junitxml={report}", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert report.is_file(), done.stdout + done.stderr
    failed: dict[str, str] = {}
    for case in ET.parse(report).iter("testcase"):
        failed.setdefault(case.attrib["name"], "")
        for fault in (*case.findall("failure"), *case.findall("error")):
            failed[case.attrib["name"]] += f"{fault.attrib.get('message')} {fault.text}"
    expected = {
        "test_bad_task": "left behind by the test: task",
        "test_bad_task_of_the_window": "left behind by the test: task",
        "test_bad_thread": "left behind by the test: thread",
        "test_bad_child_process": "left behind by the test: child process",
        "test_bad_timer": "left behind by the test: timer",
        "test_bad_window": "left behind by the test: window",
        "test_bad_log": "something is odd",
        "test_bad_qt_message": "something is odd",
        "test_bad_network": "192.0.2.1",
        "test_bad_network_of_asyncio": "192.0.2.1",
        "test_bad_blocked_loop": "BlockingError",
        "test_bad_warning": "DeprecationWarning",
        "test_bad_surprise": "XPASS(strict)",
        "test_good": "",
        "test_good_home": "",
    }
    assert {
        name: expected[name] in text and bool(text) == bool(expected[name]) for name, text in failed.items()
    } == dict.fromkeys(expected, True), done.stdout
