"""The window as a user starts it, with another catalogue of models: `python -m tests.desktop.own_catalogue FILE`."""

import sys
from pathlib import Path

from app.main import run_window
from app.storage.paths import default_data_dir

if __name__ == "__main__":
    sys.exit(run_window(default_data_dir(), language="en", catalogue=Path(sys.argv[1])))
