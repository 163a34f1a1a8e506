"""Which source is believed about a model."""

from app.core.definitions import Effort
from app.core.provider import FactSource, ModelFacts, believed


def test_the_most_believed_source_that_knows_wins_field_by_field() -> None:
    listed = ModelFacts(
        source=FactSource.LIST, window=200_000, most_output=64_000, images=True, at="2026-01-01"
    )
    server = ModelFacts(source=FactSource.SERVER, window=32_768, images=False, at="2026-02-02")
    facts = believed([listed, server], local=False)
    assert (facts.window, facts.most_output, facts.images) == (32_768, 64_000, False)
    assert (facts.source, facts.at) == (FactSource.SERVER, "2026-02-02")
    own = ModelFacts(source=FactSource.USER, window=16_000)
    assert believed([listed, server, own], local=False).window == 16_000


def test_a_window_is_always_known() -> None:
    assert believed([], local=True).window == 8_192
    assert believed([], local=False).window == 128_000
    refused = ModelFacts(source=FactSource.ERROR, window=4_096)
    assert believed([refused], local=True).window == 4_096
    assert believed([refused, ModelFacts(source=FactSource.LIST, window=8_000)], local=False).window == 4_096
    told = ModelFacts(source=FactSource.SERVER, window=2_048)
    assert believed([refused, told], local=False).window == 2_048


def test_a_model_thinks_unless_it_is_known_not_to() -> None:
    quiet = ModelFacts(default_effort=Effort.NONE, efforts=("none", "low"))
    assert ModelFacts().thinks_at(Effort.AUTO)
    assert ModelFacts(default_effort=Effort.MEDIUM).thinks_at(Effort.AUTO)
    assert not ModelFacts(default_effort=Effort.MEDIUM).thinks_at(Effort.NONE)
    assert not quiet.thinks_at(Effort.AUTO)
    assert quiet.thinks_at(Effort.LOW)
    assert not ModelFacts(efforts=()).thinks_at(Effort.HIGH)
