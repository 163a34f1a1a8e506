"""What a provider names as sources stands as links at the answer's end: in the log, and in what is exported."""

from pathlib import Path

import pytest

from app.core.provider import Finished
from app.core.session import ExportFormat
from app.engine.turns.speaker_turn import sources_text
from tests.engine.test_turn import ask, bench

URL = "https://example.org/six"


@pytest.mark.parametrize(
    ("answer", "sources", "text"),
    [
        ("It is 42.", [], ""),
        ("It is 42.", [(URL, "Six")], f"\n\n---\n\n1. [Six]({URL})"),
        ("It is 42.", [(URL, "")], f"\n\n---\n\n1. [{URL}]({URL})"),
        ("It is [42]({0}) [2].".replace("{0}", URL), [(URL, "Six"), (URL + "/2", "Two")], f"\n\n---\n\n2. [Two]({URL}/2)"),
        (f"It is [42]({URL}).", [(URL, "Six")], ""),
        ("It is 42.", [("https://e.org/a_(b)", "*A* [b](c) `d` <e>")],
         r"""

---

1. [\*A\* \[b](c) \`d\` \<e\>](https://e.org/a_%28b%29)"""),
        ("Run:\n```\nls", [(URL, "Six")], f"\n```\n\n---\n\n1. [Six]({URL})"),
    ],
)  # fmt: skip
def test_sources_become_a_numbered_list_of_links(
    answer: str, sources: list[tuple[str, str]], text: str
) -> None:
    assert sources_text(answer, sources) == text


async def test_an_answer_carries_its_sources_into_the_log_and_exports(tmp_path: Path) -> None:
    made = bench(tmp_path, [["It is 42.", Finished(sources=((URL, "Six times seven"),))]])
    session_id = await ask(made)
    listed = f"It is 42.\n\n---\n\n1. [Six times seven]({URL})"
    assert made.messages(session_id)[-1].content == listed
    for form in (ExportFormat.MARKDOWN, ExportFormat.HTML):
        assert URL in await made.engine.export(session_id, form)
