"""Child program: imports modules, so that a library that is missing, or ends the process, does so here.

A line of JSON comes in: `modules`, and variables for the `environment`. For each module goes out
`{"fault"}`, "" where it could be imported.
"""

import importlib
import json
import os
import sys

from app.children.processes import end_with_parent, find_libraries


def main() -> int:
    """Import what the parent names, in that order."""
    end_with_parent()
    answers = os.dup(1)
    os.dup2(2, 1)
    find_libraries()
    request = json.loads(sys.stdin.readline())
    os.environ.update(request["environment"])
    for name in request["modules"]:
        fault = ""
        try:
            importlib.import_module(name)
        except Exception as error:
            fault = f"{type(error).__name__}: {error}"
        os.write(answers, json.dumps({"fault": fault}).encode("ascii") + b"\n")
    # Some libraries start threads that would be waited for.
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
