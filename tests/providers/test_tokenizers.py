"""LiteLLM's files to count tokens with are read as they are: nothing is fetched, deleted or written."""

import hashlib
import importlib.util
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.message import Usage
from app.providers.endpoints import ModelLimits
from tests.providers.asking import ask, request_to
from tests.providers.conftest import Book
from tests.repeats import slow_after
from tests.wire import Answer, WireServer

LITELLM = Path(importlib.util.find_spec("litellm").origin or "").parent  # type: ignore[union-attr]
SAID = "세 사람이 모이면 의결할 수 있어요. Three of five make a quorum."
DONE_BY = {
    "missing": lambda _: None,
    "windows": lambda data: data.replace(b"\n", b"\r\n"),
    "truncated": lambda data: data[: len(data) // 2],
    "another": lambda data: data.replace(b" 100\n", b" 99\n"),
}
KNOWN_HASHES = {
    # cl100k_base and o200k_base, as tiktoken has them.
    "9b5ad71b2ce5302211f9c61530b329a4922fc6a4": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "fb374d419588a4632f3f557e76b4b70aebbca790": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


def copy_of_litellm(folder: Path, how: str) -> Path:
    """Return the folder of the tokenizers of a copy of LiteLLM, made of links but for these."""
    core = folder / "litellm" / "litellm_core_utils"
    tokenizers = core / "tokenizers"
    tokenizers.mkdir(parents=True)
    for source, made, own in (
        (LITELLM, core.parent, core),
        (LITELLM / core.name, core, tokenizers),
        (LITELLM / core.name / "tokenizers", tokenizers, None),
    ):
        for path in source.iterdir():
            name = made / path.name
            if name == own or path.name == "__pycache__":
                continue
            if path.name not in KNOWN_HASHES:
                name.symlink_to(path)
            elif (data := DONE_BY[how](path.read_bytes())) is not None:
                name.write_bytes(data)
    return tokenizers


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """Yield the address of a proxy that refuses everything, and what it was asked."""
    asked: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse() -> None:
            while True:
                try:
                    connected, _ = listening.accept()
                except OSError:
                    return
                with connected:
                    asked.append(connected.recv(1_000))
                    connected.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

        thread = threading.Thread(target=refuse, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}", asked
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


async def used(server: WireServer, log_dir: Path) -> Usage:
    """Return what a new model host says an answer took whose server does not say it."""
    server.script(server.model, [Answer(SAID, usage=False)])
    models = Book({"openai": server}).models(log_dir, ModelLimits(total=60))
    try:
        heard = await ask(models, request_to(server))
    finally:
        await models.close()
    assert heard.error is None and heard.text == SAID
    assert heard.finished is not None and heard.finished.usage.estimated
    return heard.finished.usage


def seen_in(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


@pytest.mark.own_host
@pytest.mark.parametrize("how", slow_after(1, [(how,) for how in DONE_BY]))
async def test_the_tokenizers_are_read_as_they_are(
    how: str,
    tmp_path: Path,
    server: WireServer,
    proxy: tuple[str, list[bytes]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    address, asked = proxy
    tokenizers = copy_of_litellm(tmp_path / "site", how)
    before = seen_in(tokenizers)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("HTTPS_PROXY", address)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "elsewhere"))
    found = await used(server, tmp_path)
    assert (seen_in(tokenizers), asked) == (before, [])
    assert not (tmp_path / "elsewhere").exists()
    if how == "windows":
        monkeypatch.delenv("PYTHONPATH")
        usual = await used(server, tmp_path)
        assert (found.input_tokens, found.output_tokens) == (usual.input_tokens, usual.output_tokens)
        assert 15 <= found.output_tokens <= len(SAID)
    else:
        # Nobody has counted: whoever asked makes an estimate.
        assert (found.input_tokens, found.output_tokens) == (0, 0)


def test_the_files_are_those_that_tiktoken_knows() -> None:
    tokenizers = LITELLM / "litellm_core_utils" / "tokenizers"
    for name, known in KNOWN_HASHES.items():
        data = (tokenizers / name).read_bytes()
        assert hashlib.sha256(data.replace(b"\r\n", b"\n")).hexdigest() == known
