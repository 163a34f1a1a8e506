"""The debate of someone with no key and no network, on the model that comes with Moot."""

import pytest

from app.providers.model_file import find_model
from tests.stories.processes import Running, children_of, wait_until_gone

TOPIC = "Should cities ban private cars from their centres?"
# Whatever connects to the outside would wait here and fail.
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


@pytest.mark.slow
@pytest.mark.embedded
@pytest.mark.timeout(300)
@pytest.mark.skipif(find_model() is None, reason="the built-in model's file is not there")
def test_two_voices_argue_to_the_end_without_key_or_network() -> None:
    with Running("debate", TOPIC, "--json", environment=NO_NETWORK) as debate:
        debate.event("message.delta", seconds=120)
        children = children_of(debate.pid)
        done = debate.finish(240)
    assert (done.status, done.err) == (0, "")
    finished = [event["message"] for event in done.events if event["event"] == "message.finished"]
    assert [(one["author"]["name"], one["round"]) for one in finished] == [
        (name, number) for number in (1, 2, 3) for name in ("Ada", "Ben")
    ]
    assert all(len(one["content"].split()) > 5 for one in finished)
    assert len({one["content"] for one in finished}) == len(finished)
    assert {one["state"] for one in finished} == {"done"}
    usage = [event for event in done.events if event["event"] == "usage"]
    assert len(usage) == 6
    assert all(one["output_tokens"] > 0 and one["cost_usd"] == 0 for one in usage)
    assert wait_until_gone(children) == []
