"""Local servers that speak the providers' protocols as strictly as the real ones, and misbehave on demand."""

from tests.wire.providers_file import write_providers
from tests.wire.replies import FAULTS, Answer, Fault, Reply
from tests.wire.server import Recorded, WireServer

__all__ = ["FAULTS", "Answer", "Fault", "Recorded", "Reply", "WireServer", "write_providers"]
