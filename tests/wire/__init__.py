"""Local servers that speak the providers' protocols as strictly as the real ones, and misbehave on demand."""

from tests.wire.providers_file import write_providers
from tests.wire.replies import FAULTS, Answer, Fault, Raw, Refusal, Reply, WireCall
from tests.wire.server import Recorded, WireServer
from tests.wire.views import Seen

__all__ = [
    "FAULTS",
    "Answer",
    "Fault",
    "Raw",
    "Recorded",
    "Refusal",
    "Reply",
    "Seen",
    "WireCall",
    "WireServer",
    "write_providers",
]
