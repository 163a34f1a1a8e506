"""Prints debates of the built-in model as Markdown: 2 and 3 voices, 3 rounds, three topics.

Run by hand: `python -m tests.stories.embedded_transcripts > transcripts.md`; takes some minutes.
"""

import os
import sys
import tempfile

from app.core.catalog import EMBEDDED, EMBEDDED_MODEL, EMBEDDED_VOICES
from tests.stories.processes import moot

TOPICS = (
    "Should cities ban private cars from their centres?",
    "Should museums be free for everyone?",
    "Is remote work better than office work?",
)
ROUNDS = 3


def transcript(topic: str, voices: int) -> str:
    """Run one debate and return it as Markdown, with the seconds and tokens of each turn."""
    seats = [f"-p{name}={EMBEDDED}/{EMBEDDED_MODEL}" for name in EMBEDDED_VOICES[:voices]]
    done = moot("debate", topic, *seats, "--rounds", str(ROUNDS), "--json", seconds=600)
    if done.status != 0:
        return f"## {topic}\n\nended with {done.status}: {done.err or done.out[-300:]}\n"
    shown = moot("show", done.events[0]["session_id"], "--json").json
    roles = {seat["id"]: seat["role"] for seat in shown["debate"]["participants"]}
    lines = [f"## {topic} ({voices} voices)\n"]
    for message in shown["messages"]:
        usage = message["usage"] or {}
        figures = f"{message['seconds'] or 0:.1f} s, {usage.get('output_tokens', '?')} tokens"
        speaker = f"{message['author']['name']} ({roles[message['author']['id']]})"
        lines.append(f"**{speaker}**, round {message['round']}, {figures}: {message['content']}\n")
    return "\n".join(lines)


def main() -> None:
    """Print every transcript as soon as it is there."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MOOT_DATA_DIR"] = folder
        for voices in (2, 3):
            for topic in TOPICS:
                sys.stdout.write(transcript(topic, voices) + "\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
