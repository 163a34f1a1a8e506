"""Starts the model host: `python -m app.providers.model_host`, or `--model-host` of a frozen build."""

import os
import sys
from pathlib import Path

from app.children.host_client import CERTIFICATES
from app.children.processes import HostServer, Pipes, end_with_parent, own_environment, run_host

# How LiteLLM is told to ask nobody for what it comes with; it reads this while it is imported.
_LOCAL = ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS", "BLOG_POSTS")
LITELLM_VARIABLES = {f"LITELLM_LOCAL_{name}": "True" for name in _LOCAL}
LITELLM_VARIABLES |= {"LITELLM_MODE": "PRODUCTION", "LITELLM_LOG": "CRITICAL"}


def main() -> int:
    """Serve until standard input closes."""
    end_with_parent()
    return run_host(_make_host)


def _make_host(pipes: Pipes) -> HostServer:
    _prepare_environment()
    # Imported here, because LiteLLM reads the environment while it is imported.
    from app.providers.model_host.host import ModelHost

    return ModelHost(pipes)


def _prepare_environment() -> None:
    # LiteLLM reads dozens of variables; no key, address or setting that was not chosen in Moot may count.
    for name in set(os.environ) - set(own_environment()):
        del os.environ[name]
    # LiteLLM would cut an answer with a hundred equal pieces in a row, such as a ruled line.
    os.environ.update(LITELLM_VARIABLES, REPEATED_STREAMING_CHUNK_LIMIT=str(sys.maxsize))
    # HTTP clients fail on a SOCKS proxy or a missing file, whatever address they ask; the parent refuses what
    # needs that proxy.
    for name, value in list(os.environ.items()):
        socks = name.lower().endswith("_proxy") and value.lower().startswith("socks")
        if socks or (name in CERTIFICATES and value and not Path(value).exists()):
            del os.environ[name]
    # The system's proxy is for other computers, never for this one.
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = "*" if "*" in hosts else ",".join([*hosts, "127.0.0.1", "localhost", "::1"])


if __name__ == "__main__":
    sys.exit(main())
