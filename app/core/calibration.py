"""How often a model has been right, by how sure it said it was."""

import math
from dataclasses import dataclass

BINS = (60, 80, 90, 100)
"""The highest confidence of each bin, in percent."""


def bin_of(sure: int) -> int:
    """Return the place of the bin that a confidence, in percent, belongs to."""
    return next((place for place, most in enumerate(BINS) if sure <= most), len(BINS) - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How often a model ("provider/model") was right, in percent, for each of BINS."""

    model: str
    rates: tuple[int, ...]

    def rate(self, sure: int) -> int:
        """Return how often, in percent, the model was right when it was about so sure."""
        return self.rates[bin_of(sure)]


def wilson(right: float, count: int) -> tuple[float, float]:
    """Return the interval, in shares, in which the true share lies with 95 % probability (Wilson's)."""
    if not count:
        return 0.0, 1.0
    z, share = 1.96, right / count
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return max(0.0, middle - half), min(1.0, middle + half)
