"""Starts the model host: `python -m app.providers.model_host`, or `--model-host` of a frozen build."""

import asyncio
import faulthandler
import gc
import os
import signal
import sys

from app.children.pipes import Pipes
from app.children.processes import end_with_parent, own_environment


def main() -> int:
    """Serve until standard input closes."""
    end_with_parent()
    pipes = Pipes.take_over_standard_streams()
    faulthandler.enable()
    # Ctrl-C in a terminal reaches the whole process group; it is for Moot to decide what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _prepare_environment()
    # Imported here: LiteLLM reads the environment while it is imported.
    from app.providers.model_host.host import Host

    gc.collect()
    gc.freeze()
    asyncio.run(Host(pipes).run())
    # Threads of libraries must not keep a host alive whose parent is gone.
    sys.stderr.flush()
    os._exit(0)


def _prepare_environment() -> None:
    # LiteLLM reads dozens of variables: no key, address or setting that was not chosen in Moot may count.
    for name in set(os.environ) - set(own_environment()):
        del os.environ[name]
    os.environ.update(
        LITELLM_LOCAL_MODEL_COST_MAP="True",
        LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS="True",
        LITELLM_LOCAL_BLOG_POSTS="True",
        LITELLM_MODE="PRODUCTION",
        LITELLM_LOG="CRITICAL",
        # LiteLLM would cut an answer that holds a hundred equal pieces in a row, as a ruled line does.
        REPEATED_STREAMING_CHUNK_LIMIT=str(sys.maxsize),
    )
    # A proxy of the system is for the outside, never for this computer.
    for name in ("NO_PROXY", "no_proxy"):
        hosts = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = ",".join([*hosts, "127.0.0.1", "localhost", "::1"])


if __name__ == "__main__":
    sys.exit(main())
