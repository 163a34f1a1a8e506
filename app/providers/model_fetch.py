"""Child program: downloads one file, goes on where an earlier download stopped, and checks its size
and SHA-256; or reads one small answer.

A job (`urls`, `size`, `sha256`, `target`) and the answers are lines of JSON: `{done, total, rate, left}` in
bytes and seconds, then `{finished}` or `{failed, detail}`. The end of standard input pauses it; `target.part`
stays. A job `{ask}` is answered by `{bytes}` and what its address gives: no bytes where that failed.
"""

import errno
import hashlib
import http.client
import json
import os
import shutil
import ssl
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum
from io import FileIO
from pathlib import Path
from typing import Any

from app.children.private_files import replace_file
from app.children.processes import end_with_parent

_BLOCK_BYTES = 256 * 1024
_SPARE_BYTES = 512 * 1024 * 1024
_TIMEOUT_SECONDS = 30.0
_TELL_SECONDS = 0.25
# In a row, at the last mirror; the others are left before that.
_MOST_FAILURES = 6
_NEXT_MIRROR_AFTER = 3
_LONGEST_WAIT = 300.0
_OK, _UNSATISFIABLE = 200, 416
_HEADERS = {"User-Agent": "Moot", "Accept-Encoding": "identity"}
_ANSWER_BYTES = 64_000
_ANSWER_SECONDS = 10.0


class FetchProblem(StrEnum):
    """Why a download failed; each has a text `error.model_fetch_<problem>`."""

    NO_SPACE = "no_space"
    DISK = "disk"
    GATED = "gated"
    MISSING = "missing"
    WRONG_SIZE = "wrong_size"
    WRONG_HASH = "wrong_hash"
    BUSY = "busy"
    NETWORK = "network"
    REDIRECTS = "redirects"


# 401 is said of models that need an account, and of those that do not exist as well. A redirect that is still
# an error after the opener has followed the others is a loop.
_REFUSALS = {
    **dict.fromkeys((401, 403), FetchProblem.GATED),
    **dict.fromkeys((404, 410), FetchProblem.MISSING),
    **dict.fromkeys((301, 302, 303, 307, 308), FetchProblem.REDIRECTS),
    429: FetchProblem.BUSY,
}


class FetchFailed(Exception):
    """A download failed."""

    def __init__(self, problem: FetchProblem, detail: str = "") -> None:
        super().__init__(problem, detail)
        self.problem = problem
        self.detail = detail


class _Again(FetchFailed):
    """An attempt failed, and another may succeed; `wait` is in seconds where the server said so."""

    def __init__(self, problem: FetchProblem, detail: str, wait: float = 0.0) -> None:
        super().__init__(problem, detail)
        self.wait = wait


class FileFetch:
    """The download of one file; `tell` gets what is to be told to the parent."""

    def __init__(self, job: Mapping[str, Any], tell: Callable[[Mapping[str, Any]], None]) -> None:
        self._urls, self._size, self._sha256 = list(job["urls"]), int(job["size"]), str(job["sha256"])
        self._target = Path(job["target"])
        self._part = self._target.with_name(self._target.name + ".part")
        self._spare = int(job.get("spare", _SPARE_BYTES))
        self._tell = tell
        self._done = 0
        self._hash = hashlib.sha256()
        self._told_at, self._told_done, self._rate = time.monotonic(), 0, 0.0
        self._opener = _opener(urllib.request.HTTPRedirectHandler())

    def run(self) -> None:
        """Download what is missing. Raises FetchFailed."""
        try:
            self._restore()
            if shutil.disk_usage(self._part.parent).free < self._size - self._done + self._spare:
                raise FetchFailed(FetchProblem.NO_SPACE)
            self._download()
            if self._hash.hexdigest() != self._sha256:
                self._part.unlink()
                raise FetchFailed(FetchProblem.WRONG_HASH)
            replace_file(self._part, self._target)
        except OSError as error:
            raise _disk_error(error) from error

    def _restore(self) -> None:
        """Take up what an earlier download has left; a data folder that was moved is not made again."""
        self._part.parent.mkdir(exist_ok=True, mode=0o700)
        with self._part.open("ab") as file:
            if file.tell() > self._size:
                file.truncate(0)
        self._part.chmod(0o600)
        with self._part.open("rb") as file:
            while block := file.read(_BLOCK_BYTES):
                self._hash.update(block)
                self._done += len(block)
        self._told_done = self._done

    def _download(self) -> None:
        # Each attempt begins with an address of a mirror: what it leads to is valid for minutes
        # (https://huggingface.co/docs/hub).
        mirrors, failures = list(self._urls), 0
        while self._done < self._size:
            before = self._done
            try:
                self._attempt(mirrors[0])
            except _Again as error:
                failures = 1 if self._done > before else failures + 1
                # Asking again does not help there; another address may have what this one does not give away.
                refused = error.problem in (FetchProblem.GATED, FetchProblem.MISSING, FetchProblem.REDIRECTS)
                last = len(mirrors) == 1
                if refused or failures >= (_MOST_FAILURES if last else _NEXT_MIRROR_AFTER):
                    if last:
                        raise
                    mirrors.pop(0)
                    failures = 0
                else:
                    time.sleep(min(_LONGEST_WAIT, error.wait or 0.5 * 2**failures))

    def _attempt(self, url: str) -> None:
        """Download from one address until the end or a failure.
        Raises _Again, FetchFailed, OSError of the disk.
        """
        headers = _HEADERS | ({"Range": f"bytes={self._done}-"} if self._done else {})
        # The opener speaks http and https alone.
        request = urllib.request.Request(url, headers=headers)  # noqa: S310
        with self._part.open("ab", buffering=0) as file:
            try:
                with self._opener.open(request, timeout=_TIMEOUT_SECONDS) as answer:
                    self._check(answer)
                    if answer.status == _OK and self._done:
                        self._begin_again(file)
                    self._take(answer, file)
            except urllib.error.HTTPError as error:
                if error.code == _UNSATISFIABLE:
                    self._begin_again(file)
                raise _refusal(error) from error
            except (http.client.HTTPException, OSError) as error:
                raise _Again(FetchProblem.NETWORK, str(getattr(error, "reason", error))) from error
            os.fsync(file.fileno())

    def _check(self, answer: http.client.HTTPResponse) -> None:
        """Raise FetchFailed where an answer is of another size than the file."""
        said = answer.headers.get("Content-Range", "").rpartition("/")[2]
        if answer.status == _OK:
            said = answer.headers.get("Content-Length", "")
        # The number may have more digits than Python reads.
        if said.isdecimal() and (said.lstrip("0") or "0") != str(self._size):
            raise FetchFailed(FetchProblem.WRONG_SIZE, said)

    def _take(self, answer: http.client.HTTPResponse, file: FileIO) -> None:
        while self._done < self._size:
            block = answer.read1(_BLOCK_BYTES)
            if not block:
                raise _Again(FetchProblem.NETWORK, "the connection was closed early")
            if self._done + len(block) > self._size:
                raise FetchFailed(FetchProblem.WRONG_SIZE)
            try:
                file.write(block)
            except OSError as error:
                raise _disk_error(error) from error
            self._hash.update(block)
            self._done += len(block)
            self._tell_progress()

    def _begin_again(self, file: FileIO) -> None:
        """Drop what was downloaded: the server sends the file from its beginning."""
        file.truncate(0)
        self._done, self._told_done, self._hash = 0, 0, hashlib.sha256()

    def _tell_progress(self) -> None:
        now = time.monotonic()
        passed = now - self._told_at
        if passed < _TELL_SECONDS:
            return
        new = (self._done - self._told_done) / passed
        self._rate = 0.8 * self._rate + 0.2 * new if self._rate else new
        self._told_at, self._told_done = now, self._done
        left = (self._size - self._done) / self._rate if self._rate else 0.0
        self._tell({"done": self._done, "total": self._size, "rate": self._rate, "left": left})


def _refusal(error: urllib.error.HTTPError) -> _Again:
    problem, wait = _REFUSALS.get(error.code, FetchProblem.NETWORK), error.headers.get("Retry-After", "")
    return _Again(problem, f"HTTP {error.code}", float(wait) if wait.isdecimal() else 0.0)


def _disk_error(error: OSError) -> FetchFailed:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return FetchFailed(FetchProblem.NO_SPACE if full else FetchProblem.DISK, error.strerror or str(error))


def _opener(*more: urllib.request.BaseHandler) -> urllib.request.OpenerDirector:
    """Return what opens http and https addresses, with the user's proxy and certificates;
    it keeps no cookies, and follows redirects only with a handler for them.
    """
    import certifi

    context = ssl.create_default_context()
    if "SSL_CERT_FILE" not in os.environ:
        # Pythons that bring their own OpenSSL may not find the system's certificates.
        context.load_verify_locations(certifi.where())
    web, opener = urllib.request, urllib.request.OpenerDirector()
    for kind in (web.ProxyHandler, web.HTTPHandler, web.HTTPDefaultErrorHandler, web.HTTPErrorProcessor):
        opener.add_handler(kind())
    for handler in (web.HTTPSHandler(context=context), *more):
        opener.add_handler(handler)
    return opener


def _answer_of(url: str) -> bytes:
    """Return what an address answers, nothing for more than 64 kB, a redirect or a failure; after 10 s
    the process ends.
    """
    # The timeout of a connection begins again with each byte.
    clock = threading.Timer(_ANSWER_SECONDS, os._exit, (0,))
    clock.daemon = True
    clock.start()
    with suppress(http.client.HTTPException, OSError, ValueError):
        # The opener speaks http and https alone.
        request = urllib.request.Request(url, headers=_HEADERS)  # noqa: S310
        with _opener().open(request, timeout=_ANSWER_SECONDS) as answer:
            data: bytes = answer.read(_ANSWER_BYTES + 1)
            return data if len(data) <= _ANSWER_BYTES else b""
    return b""


def _end_when_paused() -> None:
    sys.stdin.read()
    os._exit(0)


def main() -> int:
    """Serve one job."""
    end_with_parent()
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_when_paused, daemon=True).start()

    def tell(line: Mapping[str, Any]) -> None:
        with suppress(OSError):
            sys.stdout.write(json.dumps(line) + "\n")
            sys.stdout.flush()

    if "ask" in job:
        data = _answer_of(job["ask"])
        tell({"bytes": len(data)})
        sys.stdout.buffer.write(data)
        return 0
    try:
        FileFetch(job, tell).run()
        tell({"finished": True})
    except FetchFailed as error:
        tell({"failed": error.problem, "detail": error.detail})
    return 0


if __name__ == "__main__":
    sys.exit(main())
