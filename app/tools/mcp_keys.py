"""The names that MCP servers and their tools get outside of MCP: for models, and for files."""

import re
from hashlib import sha256

_LONGEST = 64
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")


def tool_key(server: str, tool: str) -> str:
    """Return `<server>__<tool>` as providers take it (^[a-zA-Z0-9_-]{1,64}$).

    Where that is not the names' exact words, a piece of their hash keeps two of them apart.
    """
    key = f"{_FOREIGN.sub('_', server)}__{_FOREIGN.sub('_', tool)}"
    if key == f"{server}__{tool}" and len(key) <= _LONGEST and key.count("__") == 1:
        return key
    mark = sha256(f"{server}\0{tool}".encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{key[: _LONGEST - 9]}_{mark}"


def file_name(server: str) -> str:
    """Return a name for a file of a server that every file system takes."""
    name = _FOREIGN.sub("_", server)[:40]
    mark = sha256(server.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return name if name == server else f"{name}-{mark}"
