"""How often a model has been right, by how sure it said it was."""

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
