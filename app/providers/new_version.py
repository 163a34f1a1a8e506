"""A newer version of Moot: one address is asked for it, once a day at most, and the answer is kept in a file.

A build names the address in a file beside its other resources; a checkout names none. The answer is JSON:
`{"version": "1.2.0", "date": "2026-12-01", "news": {"en": "…", "ko": "…"}, "link": "https://…"}`, with a link
to the host of the address. What is not exactly so counts as no answer; then the one before stays.
"""

import asyncio
import json
import re
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app import __version__
from app.children.host_client import child_answer
from app.children.private_files import replace_text
from app.children.processes import MODEL_FETCH
from app.core.ids import utc_now
from app.core.json_values import as_object, object_in
from app.core.provider import NewVersion
from app.core.servers import is_web_address
from app.core.texts import LANGUAGES, readable

ADDRESS_FILE = "version_address.txt"
_VERSION = re.compile(r"\d{1,4}\.\d{1,4}\.\d{1,4}", re.ASCII)
# What there is room for on the first page.
_MOST_TEXT, _MOST_LINES = 600, 8


class VersionFile:
    """The file with the day of the last look and the last answer; see `core.provider.NewVersions`.

    `address` is "" where the build names none that begins with https.
    """

    def __init__(self, file: Path, resources: Path) -> None:
        self._file, named = file, ""
        with suppress(OSError, ValueError):
            named = (resources / ADDRESS_FILE).read_text(encoding="utf-8").strip()
        self.address = named if named.startswith("https://") and is_web_address(named) else ""

    async def look(self) -> NewVersion | None:
        """Ask if the last look was on another day, of UTC; also one that lies ahead, by a wrong clock."""
        kept, today = await asyncio.to_thread(self._read), utc_now()[:10]
        if self.address and kept.get("day") != today:
            with suppress(OSError):
                # Kept first: also one that fails is the only one of its day.
                await self._write(kept | {"day": today})
                answer = await child_answer(MODEL_FETCH, {"ask": self.address})
                found = object_in(answer[1]) if answer else None
                if self._version_in(found) is not None:
                    await self._write({"day": today, "found": found})
        return (await asyncio.to_thread(self.last))[1]

    def last(self) -> tuple[str, NewVersion | None]:
        """Return the day of the last look, "" for none, and the newer version that is known since; blocks."""
        kept = self._read()
        found = self._version_in(kept.get("found"))
        is_newer = found is not None and _numbers(found.version) > _numbers(__version__)
        return str(kept.get("day", "")), found if is_newer else None

    def _read(self) -> dict[str, Any]:
        with suppress(OSError):
            return object_in(self._file.read_bytes()) or {}
        return {}

    async def _write(self, kept: dict[str, Any]) -> None:
        await asyncio.to_thread(replace_text, self._file, json.dumps(kept))

    def _version_in(self, found: object) -> NewVersion | None:
        """Return the version that an answer tells of, None where it is not as it should be."""
        answer, host = as_object(found), urlsplit(self.address).netloc
        given = [answer.get(name) for name in ("version", "date", "link")]
        given += [as_object(answer.get("news")).get(language) for language in LANGUAGES]
        texts = [text for text in given if isinstance(text, str) and 0 < len(text) <= _MOST_TEXT]
        if texts != given:
            return None
        version, day, link, *news = texts
        leads_home = host and link.startswith(f"https://{host}/") and is_web_address(link)
        is_short = all(len(text.splitlines()) <= _MOST_LINES for text in news)
        with suppress(ValueError):
            day = date.fromisoformat(day).isoformat()
            if _VERSION.fullmatch(version) and leads_home and is_short:
                told = dict(zip(LANGUAGES, map(readable, news), strict=True))
                return NewVersion(version=version, day=day, news=told, link=link)
        return None


def _numbers(version: str) -> list[int]:
    """Return the numbers of a version, none where it is no plain one."""
    return [int(number) for number in version.split(".")] if _VERSION.fullmatch(version) else []
