#!/usr/bin/env bash
# Installs the .deb in a bare Debian 12 without Python, starts Moot from its desktop file as a user with an
# empty home, and runs a debate by mouse and keyboard alone; a picture of every step is left in FOLDER/steps.
# As root: packaging/bare_deb.sh FOLDER [FILE.deb]. What it needs and lends is said in box.sh.
set -euo pipefail
deb=$(realpath "${2:-$(ls "$(dirname "${BASH_SOURCE[0]}")"/../build/dist/moot_*.deb)}") # dev.py build makes it
source "$(dirname "${BASH_SOURCE[0]}")/box.sh"

accent='#3B5BDB' # the fill of the button that is offered first
topic='Should cities ban private cars from their centres?'
apt="DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0"
rm -rf steps && mkdir steps

started=()
end_all() {
    [ "${#started[@]}" = 0 ] || kill "${started[@]}" 2>/dev/null || true
    wait
    close_box
}
trap end_all EXIT

become_user() {
    exec chroot --userspec=person:person box /usr/bin/env -i HOME=/home/person USER=person LANG=C.UTF-8 \
        PATH=/usr/bin:/bin DISPLAY="${display:-}" /bin/sh -c "cd && $1"
}
as_user() { (become_user "$1"); }
start() { # COMMAND LOG: start a program of the user's; its id is then the last of `started`
    become_user "exec $1" >"$2" 2>&1 &
    started+=($!)
}
x() { as_user "xdotool $*"; }

step=0
picture() { # NAME: keep what the screen shows now
    step=$((step + 1))
    as_user "import -window root /tmp/screen.png"
    cp box/tmp/screen.png "steps/$step-$1.png"
    say "step $step: $1"
}

find_button() { # prints X Y, the middle of the lowest button in the accent's colour, or fails
    as_user "import -window root /tmp/screen.png && convert /tmp/screen.png +transparent '$accent' -alpha extract \
        -define connected-components:verbose=true -define connected-components:area-threshold=400 \
        -connected-components 4 null:" | awk '
        # 12: 117x32+655+478 713.2,493.5 3120 srgb(255,255,255)
        /srgb\(255,255,255\)|gray\(255\)/ {
            split($2, at, /[x+]/)
            if (at[1] > 2 * at[2] && at[2] >= 20 && at[4] > lowest) { lowest = at[4]; place = at[3] + int(at[1] / 2) " " at[4] + int(at[2] / 2) }
        }
        END { if (!lowest) exit 1; print place }'
}

click_button() { # WHAT: wait for the button, go there with the mouse and click it
    local place tries=60
    until place=$(find_button); do
        tries=$((tries - 1)) && [ "$tries" -gt 0 ] || { picture "no-button"; echo "no button: $1" >&2; exit 1; }
        sleep 0.5
    done
    # shellcheck disable=SC2086
    x mousemove --sync $place click 1
    sleep 1
    say "clicked $1 at $place"
}

open_box
rm -f box/usr/bin/python3*
cp "$deb" box/tmp/moot.deb
say "installing $(basename "$deb")"
in_box "apt-get update -qq && $apt /tmp/moot.deb" >apt.log 2>&1 || { tail -n 20 apt.log; exit 1; }
# Without a desktop there is no keyring, which the doctor calls a problem.
in_box "moot doctor --data-dir /tmp/doctor || [ \$? -eq 1 ]"
say "installing a screen, a window manager and what moves the mouse"
in_box "$apt xvfb openbox xdotool imagemagick desktop-file-utils" >>apt.log 2>&1 || { tail -n 20 apt.log; exit 1; }
in_box "desktop-file-validate /usr/share/applications/moot.desktop && useradd --create-home --skel /var/empty person"

start "Xvfb -displayfd 3 -screen 0 1440x900x24 -nolisten tcp 3>/tmp/display" screen.log
until [ -s box/tmp/display ]; do sleep 0.2; done
display=:$(cat box/tmp/display)
start openbox openbox.log
[ -z "$(as_user 'ls -A')" ]
before=$SECONDS
command=$(sed -n 's/^Exec=//p' box/usr/share/applications/moot.desktop)
start "$command" moot.log
moot=${started[-1]}
x search --sync --onlyvisible --class Moot >/dev/null
say "a window after $((SECONDS - before)) s, by \"$command\" of the desktop file"

find_button >/dev/null || sleep 5
picture welcome
click_button "the debate on the welcome page"
picture setup
x type --delay 15 "\"$topic\""
sleep 1
picture topic
click_button "Start"
sleep 3
picture started
deadline=$((SECONDS + 400))
until as_user "moot sessions --json" | grep -q '"completed"'; do
    [ "$SECONDS" -lt "$deadline" ] || { picture "not-ended"; exit 1; }
    sleep 2
done
sleep 1
picture ended
x key ctrl+3
sleep 1
picture history
x key alt+F4
status=0 && wait "$moot" || status=$?
say "the window was closed and ended with $status"
cat moot.log
[ "$status" = 0 ]
as_user 'moot show $(moot sessions --json | sed -n "s/.*\"id\": *\"\([^\"]*\)\".*/\1/p" | head -n 1)' >steps/debate.txt
in_box "apt-get remove -y -qq moot && ! ls -d /usr/lib/moot /usr/bin/moot /usr/share/applications/moot.desktop" >>apt.log 2>&1
say "removed without a trace; the pictures are in $folder/steps"
