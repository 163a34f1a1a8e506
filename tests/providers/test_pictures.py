"""Pictures that models return: over Gemini's protocol and OpenRouter's, sent back once, and never loaded by address."""

import base64
import json
import os
from contextlib import aclosing
from typing import Any

import pytest

from app.core.errors import ProviderError
from app.core.files import cleaned
from app.core.provider import Finished, PicturePiece
from app.providers.remote import RemoteModels
from tests.pictures import chunk, data_url, images_reply, png
from tests.providers.asking import request_to
from tests.providers.conftest import Book
from tests.wire import Raw, WireServer
from tests.wire.protocols import sse

pytestmark = pytest.mark.asyncio(loop_scope="module")

MODEL = "gemini-9-flash-image"
BASE64 = base64.b64encode(cleaned(png())[1]).decode()


def gemini(*parts: dict[str, Any]) -> Raw:
    content = {"role": "model", "parts": list(parts)}
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 1290, "totalTokenCount": 1293}
    return Raw(sse({"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": usage}))


def inline(data: bytes) -> dict[str, Any]:
    return {"inlineData": {"mimeType": "image/png", "data": base64.b64encode(data).decode()}}


async def hear(
    models: RemoteModels, server: WireServer, *replies: Raw, **changes: Any
) -> tuple[str, list[str], Any]:
    """Return the text, the pictures in base 64, and how it ended."""
    server.script(server.model, list(replies))
    text, pictures, end = "", {}, None
    try:
        async with aclosing(
            models.stream(request_to(server, temperature=None, max_tokens=None, **changes))
        ) as deltas:
            async for delta in deltas:
                if isinstance(delta, PicturePiece):
                    pictures[delta.index] = pictures.get(delta.index, delta.media_type + ",") + delta.data
                elif isinstance(delta, Finished):
                    end = delta
                else:
                    text += getattr(delta, "text", "")
    except ProviderError as error:
        end = error
    return text, list(pictures.values()), end


@pytest.fixture
def server(request: pytest.FixtureRequest, book: Book) -> Any:
    kind = request.param
    model = f"google/{MODEL}" if kind == "openrouter" else MODEL
    with WireServer(kind, provider_id=f"pictures-{kind}", models=(model,)) as made:
        book.add(made.provider_id, kind, made.address, made.key)
        yield made


@pytest.mark.parametrize("server", ["gemini"], indirect=True)
async def test_geminis_pictures_come_with_the_text_and_go_back_signed(
    models: RemoteModels, server: WireServer
) -> None:
    signed = inline(png()) | {"thoughtSignature": "c2lnbmVk"}
    text, pictures, end = await hear(models, server, gemini({"text": "A red field."}, signed))
    assert (text, pictures) == ("A red field.", [f"image/png,{BASE64}"]), end
    assert end.reason == "stop" and end.state == {"thought_signatures": ["c2lnbmVk"]}
    assert end.usage.output_tokens == 1290
    body = server.requests[-1].body
    assert body["generationConfig"]["responseModalities"] == ["TEXT", "IMAGE"]
    assert "tools" not in body
    images = [{"type": "image_url", "image_url": {"url": f"data:image/png;base64,{BASE64}"}}]
    said = {"role": "assistant", "content": "", "images": images, **end.state}
    server._protocol._issued.add("c2lnbmVk")  # type: ignore[attr-defined]
    history = ({"role": "user", "content": "Draw."}, said, {"role": "user", "content": "Bluer."})
    _, again, end = await hear(models, server, gemini(inline(png())), messages=history)
    assert len(again) == 1, end
    [sent] = [one for one in server.requests[-1].body["contents"] if one["role"] == "model"]
    [part] = sent["parts"]
    assert part["thoughtSignature"] == "c2lnbmVk"
    assert (part.get("inlineData") or part["inline_data"])["data"] == BASE64


@pytest.mark.parametrize("server", ["openrouter"], indirect=True)
async def test_a_picture_alone_is_an_answer(models: RemoteModels, server: WireServer) -> None:
    text, pictures, end = await hear(models, server, images_reply(data_url(png()), data_url(png(9, 9))))
    assert (text, len(pictures), getattr(end, "reason", end)) == ("", 2, "stop")
    assert len(server.requests) == 1
    assert server.requests[0].body["modalities"] == ["text", "image"]


@pytest.mark.parametrize("server", ["openrouter"], indirect=True)
async def test_what_cannot_be_kept_is_told_and_the_text_stays(
    models: RemoteModels, server: WireServer
) -> None:
    with WireServer("openai") as elsewhere:
        urls = [f"{elsewhere.address}/cat.png", data_url(b"GIF89a"), data_url(png(told=(30_000, 30_000)))]
        text, pictures, end = await hear(models, server, images_reply(*urls, data_url(png()), text="Three."))
        assert elsewhere.requests == [] and elsewhere.listings == 0
    assert (text, len(pictures)) == ("Three.", 1)
    assert end.lost_pictures == ("address", "broken", "too_large")
    text, pictures, end = await hear(models, server, images_reply(data_url(b"GIF89a")))
    assert (text, pictures, end.kind) == ("", [], "picture")
    assert json.dumps(server.requests[-1].body).count("modalities") == 1


@pytest.mark.parametrize("server", ["gemini"], indirect=True)
async def test_a_large_picture_comes_whole(models: RemoteModels, server: WireServer) -> None:
    noise = chunk(b"IDAT", os.urandom(9_000_000)) + chunk(b"IEND", b"")
    _, [picture], _ = await hear(
        models, server, gemini(inline(png().removesuffix(chunk(b"IEND", b"")) + noise))
    )
    assert len(base64.b64decode(picture.partition(",")[2])) > 9_000_000
