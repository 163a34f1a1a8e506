#!/usr/bin/env bash
# Tries both commands of the README in a bare Debian 12: Python and pip, no Qt library, no screen, no key.
# As root: packaging/bare_box.sh FOLDER. What it needs and lends is said in box.sh.
source "$(dirname "${BASH_SOURCE[0]}")/box.sh"

open_checkout() {
    open_box
    git clone --quiet --no-hardlinks "$source_folder" box/srv/moot
}

in_checkout() { in_box "cd /srv/moot && $1"; }

open_checkout
say "command one: the window, and a debate in it on the built-in model"
in_checkout "exec python3 packaging/dev.py run" >run.log 2>&1 &
window=$!
started=$SECONDS
until grep -q "DISPLAY=:" run.log && compgen -G "box/srv/.local/share/Moot/control*" >/dev/null; do
    kill -0 "$window" 2>/dev/null || { cat run.log; echo "the window's command ended" >&2; exit 1; }
    sleep 0.5
done
cat run.log
say "the window is there, with its engine, after $((SECONDS - started)) s"
# While a window holds the data directory, this debate is handed to it and runs there.
in_checkout ".venv/bin/moot debate 'Should cities ban private cars from their centres?'"
in_checkout "QT_QPA_PLATFORM=xcb DISPLAY=$(sed -n 's/.*DISPLAY=\(:[0-9]*\).*/\1/p' run.log) .venv/bin/python -c \
'from PySide6.QtWidgets import QApplication; app = QApplication([]); app.primaryScreen().grabWindow(0).save(\"/srv/window.png\")'"
cp box/srv/window.png window.png
pkill -TERM -P "$window" || kill -TERM "$window"
status=0 && wait "$window" || status=$?
say "the window was asked to end and ended with $status; its picture is $folder/window.png"
[ "$status" = 0 ]

open_checkout
say "command two: the tests"
in_checkout "python3 packaging/dev.py test"
say "both commands work"
