"""Writes a `providers.json` that points at wire servers, and names the variables of their keys."""

import json
from collections.abc import Iterable
from pathlib import Path

from app.core.catalog import provider_kind
from tests.wire.server import WireServer


def write_providers(data_dir: Path, servers: Iterable[WireServer]) -> dict[str, str]:
    """Write `data_dir/providers.json`; return the environment variables that hold the keys."""
    servers = list(servers)
    rows = [
        {
            "id": server.provider_id,
            "kind": server.kind,
            "base_url": server.address,
            "models": list(server.models),
            "enabled": True,
        }
        for server in servers
    ]
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / "providers.json").write_text(
        json.dumps({"version": 1, "providers": rows}, indent=2), encoding="utf-8"
    )
    return {key_variable(server): server.key for server in servers}


def key_variable(server: WireServer) -> str:
    """Return the environment variable the server's key is looked up in."""
    row = provider_kind(server.kind)
    usual = row.variable if row is not None and server.provider_id == server.kind else ""
    return usual or f"MOOT_KEY_{server.provider_id.upper().replace('-', '_')}"
