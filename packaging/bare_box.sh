#!/usr/bin/env bash
# Tries both commands of the README in a bare Debian 12: Python and pip, no Qt library, no screen, no key.
# As root: packaging/bare_box.sh FOLDER. Needs debootstrap and overlayfs; the first run makes FOLDER/base.
# The machine's own configuration of apt, pip and TLS is lent to the box; BOX_BIND="/a /b" lends more.
set -euo pipefail
[ $# -eq 1 ] && [ "$(id -u)" = 0 ] || { echo "usage, as root: $0 FOLDER" >&2; exit 2; }
source_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$1" && cd "$1"
folder=$PWD
lent="/etc/apt /etc/pip.conf /etc/xdg/pip $HOME/.config/pip /etc/ssl /etc/resolv.conf /etc/hosts"
lent="$lent /usr/share/keyrings /usr/local/share/ca-certificates ${BOX_BIND:-}"

say() { printf '\n== bare box: %s (+%d s)\n' "$*" "$SECONDS"; }

if [ ! -e base/made ]; then
    say "making a minimal Debian 12"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -v security | sort -u | head -n 1)
    debootstrap --variant=minbase --include=python3,python3-pip bookworm base "${mirror:?apt names no mirror}" >debootstrap.log
    touch base/made
fi

close_box() {
    umount -R box 2>/dev/null || true
    rm -rf upper work
}
trap close_box EXIT

open_box() {
    close_box
    mkdir -p box upper work
    mount -t overlay overlay -o "lowerdir=$folder/base,upperdir=$folder/upper,workdir=$folder/work" box
    mount -t proc proc box/proc
    mount --bind /dev box/dev
    mount -t tmpfs tmpfs box/dev/shm 2>/dev/null || true
    local path
    for path in $lent; do
        [ -e "$path" ] || continue
        if [ -d "$path" ]; then mkdir -p "box$path"; else mkdir -p "box$(dirname "$path")" && touch "box$path"; fi
        mount --bind -o ro "$path" "box$path"
    done
    git clone --quiet --no-hardlinks "$source_folder" box/srv/moot
}

# A clean environment: nothing of this machine but what tells pip and TLS where to look.
in_box() {
    local kept
    mapfile -t kept < <(env | grep -E '^(PIP_|UV_|SSL_|REQUESTS_CA_BUNDLE=|CURL_CA_BUNDLE=)' || true)
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv "${kept[@]}" chroot box /bin/sh -c "cd /srv/moot && $1"
}

open_box
say "command one: the window, and a debate in it on the built-in model"
in_box "exec python3 packaging/dev.py run" >run.log 2>&1 &
window=$!
started=$SECONDS
until grep -q "DISPLAY=:" run.log && compgen -G "box/srv/.local/share/Moot/control*" >/dev/null; do
    kill -0 "$window" 2>/dev/null || { cat run.log; echo "the window's command ended" >&2; exit 1; }
    sleep 0.5
done
cat run.log
say "the window is there, with its engine, after $((SECONDS - started)) s"
# While a window holds the data directory, this debate is handed to it and runs there.
in_box ".venv/bin/moot debate 'Should cities ban private cars from their centres?'"
in_box "QT_QPA_PLATFORM=xcb DISPLAY=$(sed -n 's/.*DISPLAY=\(:[0-9]*\).*/\1/p' run.log) .venv/bin/python -c \
'from PySide6.QtWidgets import QApplication; app = QApplication([]); app.primaryScreen().grabWindow(0).save(\"/srv/window.png\")'"
cp box/srv/window.png window.png
pkill -TERM -P "$window" || kill -TERM "$window"
status=0 && wait "$window" || status=$?
say "the window was asked to end and ended with $status; its picture is $folder/window.png"
[ "$status" = 0 ]

open_box
say "command two: the tests"
in_box "python3 packaging/dev.py test"
say "both commands work"
