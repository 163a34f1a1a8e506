"""An MCP server whose tools return pictures, audio, texts, links and structured content, made with the kit."""

import base64
import struct
import sys
import zlib
from typing import Any

from mcp.server import MCPServer
from mcp.types import (
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

server = MCPServer("files")


def field(width: int = 60, height: int = 40) -> str:
    """Return a red PNG in base 64, with a comment that is not part of the picture."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress((b"\0" + b"\xd0\x30\x30" * width) * height)
    body = chunk(b"IHDR", header) + chunk(b"tEXt", b"Comment\0taken at home by Ada")
    whole = b"\x89PNG\r\n\x1a\n" + body + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return base64.b64encode(whole).decode()


@server.tool()
def draw() -> list[Any]:
    """Draw a red field."""
    return [
        TextContent(type="text", text="A red field"),
        ImageContent(type="image", data=field(), mime_type="image/png"),
    ]


@server.tool()
def everything() -> CallToolResult:
    """Return one of each kind."""
    note = TextResourceContents(uri="files://notes/day%20one.txt", mime_type="text/plain", text="It rained.")
    data = BlobResourceContents(uri="files://data/a.bin", mime_type="application/x-data", blob="AAEC")
    sound = base64.b64encode(b"RIFF....WAVE").decode()
    return CallToolResult(
        content=[
            ImageContent(type="image", data=field(), mime_type="image/png"),
            AudioContent(type="audio", data=sound, mime_type="audio/wav"),
            EmbeddedResource(type="resource", resource=note),
            EmbeddedResource(type="resource", resource=data),
            ResourceLink(type="resource_link", name="report", uri="https://example.org/r", description="All"),
            ImageContent(type="image", data="AAAA", mime_type="image/png"),
        ],
        structured_content={"rain": True},
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
