"""Child program: a llama.cpp server for one model file, the built-in one or one that was downloaded.

It is run as `python -m app.providers.embedded_server SPEC`, with a `ServerSpec` as JSON and its key in
`MOOT_EMBEDDED_KEY`.
"""

import json
import os
import platform
import signal
import sys

from app.children.processes import end_with_parent, find_libraries, limit_memory
from app.core.frozen import Frozen

KEY_VARIABLE = "MOOT_EMBEDDED_KEY"
THREADS_VARIABLE = "MOOT_EMBEDDED_THREADS"
_MOST_THREADS = 8
_SHARE_OF_MEMORY = 0.7
# A file that is tried for the first time may be made to take all memory.
_TRIAL_ADDRESS_SPACE = 2


class ServerSpec(Frozen):
    """How a model file is run: `model` is the name it answers to, `n_ctx` its context in tokens, `slots` how
    many answers it writes at once, `memory` the estimated need in bytes. A `trial` runs with limits, and one
    that is run `anyway` does not ask for free memory.
    """

    model: str
    file: str
    n_ctx: int
    slots: int
    memory: int
    idle_seconds: int = -1
    trial: bool = False
    anyway: bool = False


def memory_budget() -> int:
    """Return how many bytes further servers may take now."""
    import psutil

    return int(psutil.virtual_memory().available * _SHARE_OF_MEMORY)


def main() -> int:
    """Load the model, print `{"base_url"}` in one line, and serve until the parent goes."""
    end_with_parent()
    spec = ServerSpec(**json.loads(sys.argv[-1]))
    key = os.environ.pop(KEY_VARIABLE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Set before llama.cpp loads: waiting threads that spin would take the cores from every other program.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    # Else an abort would start a debugger where one is installed.
    os.environ["GGML_NO_BACKTRACE"] = "1"
    if spec.trial:
        limit_memory(spec.memory * _TRIAL_ADDRESS_SPACE + (4 << 30))
    answers = os.dup(1)
    os.dup2(2, 1)
    find_libraries()
    import xllamacpp

    usual = min(_MOST_THREADS, max(1, (os.cpu_count() or 1) - 1))
    threads = int(os.environ.get(THREADS_VARIABLE, "0")) or usual
    apple = sys.platform == "darwin" and platform.machine() == "arm64"
    parameters = xllamacpp.CommonParams()
    parameters.model.path = spec.file
    parameters.model_alias = {spec.model}
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_ctx = spec.n_ctx
    parameters.n_parallel = spec.slots
    parameters.kv_unified = True
    parameters.n_gpu_layers = -1 if apple else 0
    parameters.sleep_idle_seconds = spec.idle_seconds
    parameters.fit_params = False
    parameters.cache_ram_mib = 0
    parameters.ui = False
    parameters.verbosity = 0
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    server = xllamacpp.Server(parameters)
    os.write(answers, json.dumps({"base_url": f"{server.listening_address}/v1"}).encode() + b"\n")
    while os.read(0, 4096):
        pass
    # An orderly stop would wait for the answers in flight, which nobody needs any more.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
