"""Where Moot starts: the window, a sub-command without Qt, or a child program of a frozen build."""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.arguments import Arguments


def main() -> int:
    """Do what the command line asks; return the exit status."""
    if getattr(sys, "frozen", False) and len(sys.argv) > 1:
        # A frozen build has no interpreter to run a module with: it starts itself again.
        if sys.argv[1] == "--model-host":
            from app.providers.model_host.__main__ import main as model_host

            del sys.argv[1]
            return model_host() or 0
        if sys.argv[1] == "--embedded-server":
            from app.providers.embedded_server import main as embedded_server

            del sys.argv[1]
            return embedded_server() or 0
    from app.cli import read_arguments, run

    arguments = read_arguments(sys.argv[1:])
    if isinstance(arguments, int):
        return arguments
    return run(arguments) if arguments.command else _open_window(arguments)


def _open_window(arguments: "Arguments") -> int:
    from app.cli import data_dir_of, say_missing_libraries

    status = say_missing_libraries(arguments)
    if status:
        return status
    from app.main import run_window

    return run_window(data_dir_of(arguments), language=arguments.language, theme=arguments.theme)


if __name__ == "__main__":
    sys.exit(main())
