"""The embedded model's own process: llama.cpp's HTTP server on this computer, until standard input ends.

Run as `python -m app.providers.embedded_server MODEL_FILE`, with its key in `MOOT_EMBEDDED_KEY`.
"""

import json
import os
import signal
import sys

from app.children.processes import end_with_parent

KEY_VARIABLE = "MOOT_EMBEDDED_KEY"
THREADS_VARIABLE = "MOOT_EMBEDDED_THREADS"


def main() -> int:
    """Load the model, print `{"base_url"}` in one line, and serve until the parent goes."""
    end_with_parent()
    model_file = sys.argv[-1]
    key = os.environ.pop(KEY_VARIABLE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Must be there before llama.cpp loads: waiting threads that spin take the cores from everyone.
    os.environ["OMP_WAIT_POLICY"] = "passive"
    answers = os.dup(1)
    os.dup2(2, 1)
    import xllamacpp

    threads = int(os.environ.get(THREADS_VARIABLE, "0")) or min(4, max(1, (os.cpu_count() or 1) - 1))
    parameters = xllamacpp.CommonParams()
    parameters.model.path = model_file
    parameters.model_alias = {"smollm2-135m"}
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_ctx = 8192
    parameters.n_parallel = 4
    parameters.kv_unified = True
    parameters.n_gpu_layers = 0
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
    # Stopping in an orderly way would wait for the answers in flight, which nobody wants any more.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
