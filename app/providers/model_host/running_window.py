"""How many tokens a server of the user's own reads at once: Ollama, LM Studio and llama.cpp say it in ways of their own."""

import re
from typing import Any
from urllib.parse import urlsplit

import httpx

from app.core.json_values import as_object, objects_in
from app.core.model_facts import LOCAL_WINDOW

_SECONDS = 1.0
_MOST = 100_000_000
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)


async def running_window(kind: str, base_url: str, key: str, model: str) -> tuple[int, bool]:
    """Return the window of a model, 0 where the server does not say it, and whether it is that of the running model.

    What a model was made for is more than what it runs with, so that it counts only where it is little.
    """
    parts = urlsplit(base_url)
    headers = {"authorization": f"Bearer {key or 'no-key'}"}
    async with httpx.AsyncClient(
        base_url=f"{parts.scheme}://{parts.netloc}", timeout=_SECONDS, headers=headers
    ) as client:
        if kind == "ollama":
            return await _of_ollama(client, model)
        found = await _of_lm_studio(client, model) if kind != "vllm" else (0, False)
        return found if found[0] else await _of_llama_cpp(client, model)


async def _of_ollama(client: httpx.AsyncClient, model: str) -> tuple[int, bool]:
    running = await _asked(client, "GET", "/api/ps")
    for row in objects_in(running.get("models")):
        if {model, f"{model}:latest"} & {row.get("name"), row.get("model")}:
            return _number(row.get("context_length")), True
    shown = await _asked(client, "POST", "/api/show", {"model": model})
    if match := _NUM_CTX.search(str(shown.get("parameters") or "")):
        return _number(int(match[1])), True
    info = shown.get("model_info")
    named = info.items() if isinstance(info, dict) else ()
    return _least(next((value for name, value in named if name.endswith(".context_length")), 0))


async def _of_lm_studio(client: httpx.AsyncClient, model: str) -> tuple[int, bool]:
    listed = await _asked(client, "GET", "/api/v0/models")
    row = next((one for one in objects_in(listed.get("data")) if one.get("id") == model), {})
    loaded = _number(row.get("loaded_context_length"))
    return (loaded, True) if loaded else _least(row.get("max_context_length"))


async def _of_llama_cpp(client: httpx.AsyncClient, model: str) -> tuple[int, bool]:
    # A server of several models would load one to answer.
    props = await _asked(client, "GET", "/props", params={"model": model, "autoload": "false"})
    window = _number(as_object(props.get("default_generation_settings")).get("n_ctx"))
    return window, bool(window)


def _least(made_for: object) -> tuple[int, bool]:
    window = _number(made_for)
    return (window if window < LOCAL_WINDOW else 0), False


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _MOST else 0


async def _asked(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    body: dict[str, str] | None = None,
    params: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Return the object that a server answers with; an empty one where it answers otherwise."""
    try:
        response = await client.request(method, path, json=body, params=params)
        found = response.json() if response.status_code == 200 else {}
    except (httpx.HTTPError, ValueError, RecursionError):
        return {}
    return as_object(found)
