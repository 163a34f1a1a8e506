"""Serves models on this computer as OpenAI does, for try.sh: local_server.py DATA, until it is ended.

Enters itself as a provider in the data directory DATA, and prints what Moot must have in its environment.
"""

import signal
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.wire import WireServer, write_providers


def main(data: Path) -> None:
    """Serve until a signal ends this."""
    server = WireServer("openai").start()
    for name, key in write_providers(data, [server]).items():
        print(f"{name}={key}", flush=True)
    signal.pause()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
