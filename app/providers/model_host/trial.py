"""The Test button: lists a provider's models and gets one short answer."""

import asyncio
import dataclasses
from typing import Any

import httpx

from app.children.pipes import Pipes
from app.core import errors
from app.core.catalog import best_model
from app.providers.errors import Classified, classify, classify_status
from app.providers.model_host.answer import CallFailed, ask
from app.providers.model_host.deltas import DeltaBuffer
from app.providers.model_host.request import ModelCall
from app.providers.model_host.told_facts import told_facts

_MAX_TOKENS = 16
_NO_LIST = (404, 405, 501)
# What a proxy answers where it does not reach the server.
_UNREACHED = (502, 503, 504)


class _Nowhere(Pipes):
    """Discards the answer of a trial."""

    def __init__(self) -> None:
        super().__init__(-1, -1)

    def write(self, line: object) -> None:
        """Discard the line."""


async def try_provider(call: ModelCall) -> dict[str, Any]:
    """Return the fields of `TestResult`. Raises CallFailed when there is no model to ask."""
    told = await list_models(call)
    models, model = list(told), call.model
    if models and model not in models and (not model or model in call.row.models):
        # The user did not choose this model, so any that the server has will do.
        model = best_model(call.row.models, models)
    if not model:
        raise CallFailed(
            Classified(kind=errors.FailureKind.MODEL_NOT_FOUND, detail="the server names no model")
        )
    started = asyncio.get_running_loop().time()
    trial = dataclasses.replace(
        call,
        model=model,
        messages=[{"role": "user", "content": "Say: ready."}],
        max_tokens=_MAX_TOKENS,
    )
    try:
        await ask(trial, DeltaBuffer(_Nowhere(), call.call_id, ""))
    except CallFailed as error:
        failure, detail = error.failure.kind, error.failure.detail
        return {"ok": False, "models": told, "model": model, "failure": failure, "detail": detail}
    seconds = asyncio.get_running_loop().time() - started
    return {"ok": True, "models": told, "model": model, "seconds": seconds}


async def reaches(base_url: str, seconds: float) -> bool:
    """Return whether a server answers at an address, through the user's proxy where there is one; whatever it answers."""
    try:
        async with httpx.AsyncClient(timeout=seconds) as client, client.stream("GET", base_url) as response:
            return response.status_code not in _UNREACHED
    except httpx.ReadTimeout:
        # Something has taken the request.
        return True
    except httpx.HTTPError:
        return False


async def list_models(call: ModelCall) -> dict[str, dict[str, Any]]:
    """Return the names of a provider's models, each with the fields of `ModelFacts` that the list has.

    None if it has no list of them. Raises CallFailed.
    """
    if call.row.own_names:
        return {}
    if call.server is not None:
        return {call.model: {}}
    path, headers = "/models", {"authorization": f"Bearer {call.key or 'no-key'}"}
    if call.kind == "anthropic":
        path, headers = "/v1/models?limit=1000", {"x-api-key": call.key, "anthropic-version": "2023-06-01"}
    elif call.kind == "gemini":
        path, headers = "/models?pageSize=1000", {"x-goog-api-key": call.key}
    limits = httpx.Timeout(call.limits.first_token, connect=call.limits.connect)
    try:
        async with httpx.AsyncClient(timeout=limits, follow_redirects=True) as client:
            response = await client.get(call.base_url + path, headers=headers)
    except httpx.HTTPError as error:
        raise CallFailed(classify(error, call.secrets)) from error
    if response.status_code in _NO_LIST:
        return {}
    if response.is_error:
        raise CallFailed(classify_status(response.status_code, response.text, response.headers, call.secrets))
    try:
        return _listed(response.json())
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        failure = classify_status(502, response.text, {}, call.secrets)
        raise CallFailed(dataclasses.replace(failure, kind=errors.FailureKind.BAD_RESPONSE)) from error


def _listed(body: Any) -> dict[str, dict[str, Any]]:
    """Return the models of a list, be it in an object or bare; an entry without a name is left out."""
    rows = body if isinstance(body, list) else body["data"] if "data" in body else body["models"]
    named = ((row.get("id") or row.get("name"), row) for row in rows if isinstance(row, dict))
    return {str(name).removeprefix("models/"): told_facts(row) for name, row in named if name}
