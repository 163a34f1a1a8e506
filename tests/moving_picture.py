"""Makes the moving picture of the README: `python -m tests.moving_picture [--out FILE]`.

A question is asked in the window, three models answer it at the local servers of `tests/wire`, and the steps of
the page are gone through up to the verdict with its minority. What is written is an animated PNG.
"""

import argparse
import asyncio
import json
import os
import struct
import sys
import tempfile
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"

from PySide6.QtCore import QBuffer, QIODevice, QRect
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.core.message import SPOKEN
from app.gui.controllers.debates import OFFERS_BLIND
from app.gui.desktop.event_loop import AppLoop
from app.gui.pages.council.decision_steps import STEPS, VERDICT
from tests.app_driver import Person, at_window, until
from tests.gui.test_council_page import HOLDS, QUESTION, SAYS, SURE, compared, judged
from tests.screenshots import MODELS
from tests.screenshots_verdict import letter_of
from tests.wire import Answer, WireServer, write_providers

SIZE = (1440, 900)
REPLIES = {
    "openai": "Forty laptops in the same minute is the case that counts, and there SQLite has one writer.",
    "anthropic": "A queue drains 40 batches in seconds. What breaks in the field is what nobody there can repair.",
    "gemini": "The queue answers the writes. It does not answer two people who want reports meanwhile.",
}
SIGNATURE = b"\x89PNG\r\n\x1a\n"
# Milliseconds for which a frame is shown: while it is typed or answered, to see what came, and to read it.
MOVING, SEEN, READ = 220, 900, 1_150
# Seconds between two words of an answer, and characters of all of them between two frames.
PACE, BETWEEN = 0.04, 120


class Film(NamedTuple):
    """Frames of the same size, each with the milliseconds for which it is shown."""

    frames: list[tuple[QImage, int]]

    def add(self, person: Person, milliseconds: int) -> None:
        """Add the window as it is; a frame like the last one prolongs that."""
        image = person.window.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
        if self.frames and self.frames[-1][0] == image:
            last, shown = self.frames.pop()
            self.frames.append((last, shown + milliseconds))
        else:
            self.frames.append((image, milliseconds))

    def animated_png(self) -> bytes:
        """Return the frames as an animated PNG that repeats, as the specification of PNG has it.

        Of each frame only the rectangle that differs from the one before is kept.
        """
        first = self.frames[0][0]
        numbers = count()
        parts = [SIGNATURE, chunk(b"IHDR", next(data for name, data in chunks(first) if name == b"IHDR"))]
        parts.append(chunk(b"acTL", struct.pack(">II", len(self.frames), 0)))
        before = None
        for image, milliseconds in self.frames:
            place = image.rect() if before is None else changed(before, image)
            where = (place.width(), place.height(), place.x(), place.y())
            control = struct.pack(">IIIIIHHBB", next(numbers), *where, milliseconds, 1_000, 0, 0)
            parts.append(chunk(b"fcTL", control))
            for name, data in chunks(image.copy(place)):
                if name == b"IDAT" and before is None:
                    parts.append(chunk(b"IDAT", data))
                elif name == b"IDAT":
                    parts.append(chunk(b"fdAT", struct.pack(">I", next(numbers)) + data))
            before = image
        return b"".join([*parts, chunk(b"IEND", b"")])


def chunk(name: bytes, data: bytes) -> bytes:
    """Return a chunk of a PNG file."""
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def chunks(image: QImage) -> Iterator[tuple[bytes, bytes]]:
    """Yield name and data of each chunk of an image as a PNG file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    # The quality of a PNG is how little it is compressed.
    image.save(buffer, "PNG", 0)  # type: ignore[call-overload]
    data, at = bytes(buffer.data().data()), len(SIGNATURE)
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += 12 + size


def changed(before: QImage, image: QImage) -> QRect:
    """Return the rectangle in which two images of the same size differ."""
    step, pixel = image.bytesPerLine(), image.depth() // 8
    was, now = bytes(before.constBits()), bytes(image.constBits())
    rows = [
        y for y in range(image.height()) if was[y * step : (y + 1) * step] != now[y * step : (y + 1) * step]
    ]
    left, right = image.width(), 0
    for y in rows:
        differ = [x for x in range(step) if was[y * step + x] != now[y * step + x]]
        left, right = min(left, differ[0] // pixel), max(right, differ[-1] // pixel)
    return QRect(left, rows[0], right - left + 1, rows[-1] - rows[0] + 1)


def script(server: WireServer) -> None:
    """Let a server answer, argue, vote and judge as one who holds what HOLDS says of it."""
    kind = server.kind

    def reply(request):  # type: ignore[no-untyped-def]
        text = request.messages[-1].text
        if "Compare their answers" in text:
            return compared(text)
        if "You judge a question" in text:
            return judged(text)
        if "Open, each with its letter" not in text and "secret ballot" not in text:
            held = json.dumps({"answer": HOLDS[kind], "confidence": SURE[kind]})
            return Answer(f"{SAYS[kind]}\n@@ {held}", pace=PACE)
        vote = json.dumps({"choice": letter_of(text, HOLDS[kind]), "confidence": SURE[kind], "moved_by": []})
        return vote if "secret ballot" in text else Answer(f"{REPLIES[kind]}\n@@ {vote}", pace=PACE)

    server.script(server.models[0], reply)


async def film(person: Person) -> Film:
    """Ask the question in the window and go through the steps of its page; return what was seen."""
    window, taken = person.window, Film([])
    page, engine = window.controller.council_page, window.controller.engine
    # The verdict itself, not what is offered before it is read.
    window.state.keep(OFFERS_BLIND, False)
    await person.click("segment_decide")
    await person.settle(0.3)
    taken.add(person, SEEN)
    box = person.find("composer")
    box.setFocus()
    words = QUESTION.split(" ")
    for at in range(0, len(words), 4):
        QTest.keyClicks(box, " ".join(words[at : at + 4]) + " ")
        await person.settle(0.05)
        taken.add(person, MOVING)
    taken.add(person, SEEN)
    await person.click("send_button")
    await until(lambda: page.session is not None and page.isVisible(), what="the page")
    live = await engine.open(page.session_id)
    said = -BETWEEN
    while page.session.status != "completed":
        now = sum(len(live.text_of(message.id)) for message in live.messages if message.part in SPOKEN)
        if now >= said + BETWEEN:
            taken.add(person, MOVING)
            said = now
        await asyncio.sleep(0.02)
    await until(lambda: person.sees(f"segment_{VERDICT}"), what="the steps")
    for step in STEPS[:-1]:
        await person.click(f"segment_{step}")
        await person.settle(0.4)
        taken.add(person, READ)
    taken.add(person, READ)
    return taken


async def take(data_dir: Path, out: Path) -> None:
    """Open a window, film it, and write the picture."""
    async with at_window(data_dir, size=SIZE) as person:
        taken = await film(person)
    out.write_bytes(taken.animated_png())
    seconds = sum(milliseconds for _, milliseconds in taken.frames) / 1_000
    print(
        f"{out}: {len(taken.frames)} frames, {seconds:.1f} s, {out.stat().st_size / 1e6:.1f} MB",
        file=sys.stderr,
    )


def main() -> int:
    """Make the picture; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("packaging/screenshots/decide.png"))
    arguments = parser.parse_args()
    application = QApplication(["moot-moving-picture"])
    application.setQuitOnLastWindowClosed(False)
    # A cursor that blinks would be a frame of its own each time.
    application.setCursorFlashTime(0)
    servers = [WireServer(kind, models=(model,)) for kind, model in MODELS.items()]
    with tempfile.TemporaryDirectory() as folder:
        for server in servers:
            script(server)
            server.start()
        os.environ.update(write_providers(Path(folder), servers))
        try:
            with asyncio.Runner(loop_factory=lambda: AppLoop(application)) as runner:
                runner.run(take(Path(folder), arguments.out))
        finally:
            for server in servers:
                server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
