"""A host of the tests: answers each request, after it has written what its first argument says."""

import json
import os
import sys

NOISE = {
    "nothing": b"",
    "a megabyte without a newline": b"x" * 1_000_000,
    "no text": b"\xff\xfe\x00\x80" * 50_000 + b"\n" + b"\0" * 100_000 + b"\n",
    "many lines": b"one of many lines\n" * 60_000,
}


def write(number: int, data: bytes) -> None:
    """Write everything; waits where nobody reads."""
    while data:
        data = data[os.write(number, data) :]


def main(noise: str, answers: str) -> None:
    """Serve until standard input closes."""
    write(1, b'{"ready":true}\n')
    for line in sys.stdin.buffer:
        write(2, NOISE[noise])
        if answers == "no JSON":
            write(1, b"\xff no JSON\n")
        elif answers == "no object":
            write(1, b"[1]\n")
        elif answers == "too deep":
            write(1, b"[" * 100_000 + b"\n")
        elif answers == "without an end":
            write(1, b"x" * 2_000_000)
        elif answers == "news":
            write(1, b'{"news":1}\n')
        elif answers == "a long error":
            write(1, json.dumps({"id": json.loads(line)["id"], "error": "x" * 200_000}).encode() + b"\n")
        else:
            answer = {
                "id": json.loads(line)["id"],
                "price": {"read": 1.0, "written": 2.0},
                "result": {"text": "heard"},
            }
            write(1, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
