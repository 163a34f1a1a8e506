"""The entry point of Moot: the window, a command without Qt, or a child program of a frozen build.

Nothing that the window does not need is imported before it shows.
"""

import contextlib
import importlib
import os
import sys
from pathlib import Path

BAD_INPUT = 2
STOPPED = 4
# The child programs of a frozen build, which has no interpreter that runs modules, and the module of each.
CHILD_PROGRAMS = {
    "--model-host": "app.providers.model_host.__main__",
    "--embedded-server": "app.providers.embedded_server",
    "--tool-host": "app.tools.tool_host.__main__",
    "--agent-host": "app.providers.agent_host.__main__",
    "--file-reader": "app.files.file_reader.__main__",
    "--model-fetch": "app.providers.model_fetch",
    "--import-check": "app.children.import_check",
}


def main() -> int:
    """Run what the command line asks for; return the exit status."""
    if getattr(sys, "frozen", False):
        _leave_bundle()
        if sys.argv[1:] and sys.argv[1] in CHILD_PROGRAMS:
            return int(importlib.import_module(CHILD_PROGRAMS[sys.argv[1]]).main())
    if sys.stderr is None:
        # A program of the window on Windows has no standard streams; what is written is discarded.
        sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if not sys.argv[1:]:
        return _open_window()

    from app.cli.arguments import parse_arguments, wanted_language
    from app.cli.printing.lines import error_line, load_texts
    from app.cli.terminal import use_utf8
    from app.core.errors import BadInput

    use_utf8()
    texts = load_texts(wanted_language(sys.argv[1:]))
    try:
        arguments = parse_arguments(sys.argv[1:], texts)
    except BadInput as error:
        sys.stderr.write(error_line(error, texts) + "\n")
        return BAD_INPUT
    except KeyboardInterrupt:
        # The module of the command was being imported.
        return STOPPED
    if not arguments.command:
        return _open_window(arguments.root, language=arguments.language, theme=arguments.theme)
    if _is_refused(arguments.root, arguments.language):
        return BAD_INPUT
    from app.cli.main import run

    return run(arguments)


def _open_window(data_dir: Path | None = None, *, language: str = "", theme: str = "") -> int:
    from app.linux import install_command, missing_libraries
    from app.storage.paths import default_data_dir

    root = data_dir or default_data_dir()
    if _is_refused(root, language):
        return BAD_INPUT
    missing = missing_libraries()
    if missing:
        from app.cli.printing.lines import load_texts

        names = ", ".join(row[0] for row in missing)
        line = load_texts(language)("cli.missing_libraries", names=names, command=install_command(missing))
        sys.stderr.write(line + "\n")
        return BAD_INPUT
    from app.main import run_window

    return run_window(root, language=language, theme=theme)


def _is_refused(root: Path, language: str) -> bool:
    """Say on standard error where a file stands in the place of the data directory, or of a folder above
    it.
    """
    with contextlib.suppress(OSError):
        there = next((path for path in (root, *root.parents) if path.exists()), None)
        if there is not None and not there.is_dir():
            from app.cli.printing.lines import load_texts, one_line
            from app.storage.paths import default_data_dir

            by_variable = os.environ.get("MOOT_DATA_DIR") and root == default_data_dir()
            name = "MOOT_DATA_DIR" if by_variable else "--data-dir"
            text = load_texts(language)("cli.not_a_folder", path=str(there), name=name)
            sys.stderr.write(one_line(text) + "\n")
            return True
    return False


def _leave_bundle() -> None:
    """Remove what the start of a frozen build has added to the environment.

    A browser or an MCP server that Moot starts must load the system's libraries, not the bundled ones.
    """
    for name in [name for name in os.environ if name.startswith("_PYI_")]:
        del os.environ[name]
    for name in ("LD_LIBRARY_PATH", "QT_PLUGIN_PATH", "QML2_IMPORT_PATH"):
        os.environ.pop(name, None)
    if "LD_LIBRARY_PATH_ORIG" in os.environ:
        os.environ["LD_LIBRARY_PATH"] = os.environ.pop("LD_LIBRARY_PATH_ORIG")


if __name__ == "__main__":
    sys.exit(main())
