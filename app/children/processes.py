"""How Moot starts its own child programs, from a checkout and from a frozen build alike."""

import ctypes
import os
import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

MODEL_HOST = "app.providers.model_host"
EMBEDDED_SERVER = "app.providers.embedded_server"
TOOL_HOST = "app.tools.tool_host"

_PROJECT = Path(__file__).resolve().parents[2]
_PARENT_VARIABLE = "MOOT_PARENT"
_PR_SET_PDEATHSIG = 1

# Whatever could make a provider's library use a key, an address or a setting that nobody chose
# in Moot: LiteLLM reads dozens of such variables.
_PROVIDER_VARIABLE = re.compile(
    r"^(OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|VERTEX|VERTEXAI|PALM|OLLAMA|AZURE|AWS|LITELLM|LANGFUSE|MISTRAL"
    r"|GROQ|COHERE|OPENROUTER|DEEPSEEK|XAI|HF|HUGGINGFACE|HUGGING_FACE|OTEL|MOOT_KEY)_"
    r"|(_API_KEY|_API_BASE|_BASE_URL|_API_TOKEN|_ACCESS_KEY|_SECRET_KEY|_AUTH_TOKEN)$",
    re.IGNORECASE,
)


def without_provider_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without anything a provider's library would act upon."""
    return {name: value for name, value in environment.items() if not _PROVIDER_VARIABLE.search(name)}


def child_command(program: str) -> list[str]:
    """Return the command that runs MODEL_HOST, EMBEDDED_SERVER or TOOL_HOST."""
    if getattr(sys, "frozen", False):
        return [sys.executable, "--" + program.rpartition(".")[2].replace("_", "-")]
    return [sys.executable, "-m", program]


def child_environment() -> dict[str, str]:
    """Return the environment of a child: ours without keys, and able to import `app`."""
    environment = without_provider_variables(os.environ)
    if not getattr(sys, "frozen", False):
        paths = [str(_PROJECT), *filter(None, [environment.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment["PYTHONIOENCODING"] = "utf-8"
    environment[_PARENT_VARIABLE] = str(os.getpid())
    return environment


def end_with_parent() -> None:
    """Let the system kill this child with its parent, even while it imports; where there is no such call
    (macOS, Windows) the end of standard input ends it, once it reads that.
    """
    parent = int(os.environ.pop(_PARENT_VARIABLE, "0"))
    if not sys.platform.startswith("linux"):
        return
    # Strictly it is the thread that started us whose end counts: that of the event loop, the main one.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if parent and os.getppid() != parent:
        os._exit(0)  # It was gone before we asked.
