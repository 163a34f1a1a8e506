#!/usr/bin/env bash
# Installs under Wine what build.sh has made, and uses it as a user does whose name is Korean with a space.
# usage: try.sh FOLDER [STEP...]; try.sh --steps. Without steps it does all in their order; a later one needs those before.
# FOLDER keeps the Windows, what was said, and pictures. MOOT_STARTS: how often the step `starts` opens the window.
# Needs the packages of debian.txt, the environment in .venv, and build/dist/Moot-VERSION-setup.exe. Exit status 1 where
# something fails.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
source "$here/wine.sh"

steps=(new_windows install doctor debate children agent local_server window handed starts update background
    broken_download full_disk tests remove other_folders)
if [ "${1:-}" = --steps ]; then
    echo "${steps[@]}"
    exit
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
setup=$(ls "$root"/build/dist/Moot-*-setup.exe)
prefix "$folder/prefix"
# Those of Microsoft are not Wine's own, which a new Windows does not have: the program must bring them.
export WINEDLLOVERRIDES="$WINEDLLOVERRIDES;vcomp140,msvcp140,msvcp140_1,msvcp140_2,vcruntime140,vcruntime140_1,concrt140=n"
export LC_ALL=C.UTF-8 USER='김 민지' LOGNAME='김 민지'
unset "${!PYTHON@}"
user=$WINEPREFIX/drive_c/users/$USER
program=$user/AppData/Local/Programs/Moot
data=$user/AppData/Local/Moot
menu="$user/AppData/Roaming/Microsoft/Windows/Start Menu/Programs/Moot.lnk"
entry='HKCU\Software\Microsoft\Windows\CurrentVersion\Uninstall\Moot'
topic="Should cities ban private cars from their centres?"
failed=0
started=()

say() { echo "try [$SECONDS s] $*"; }
check() { # WHAT COMMAND...
    if "${@:2}"; then say "ok: $1"; else say "FAILED: $1" && failed=1; fi
}
not() { ! "$@"; }
has() { grep -q -- "$2" "$1"; }
until_true() { # SECONDS COMMAND...
    local end=$((SECONDS + $1))
    until "${@:2}"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}
registry() { windows reg query "$@" | tr -d '\r'; }
moot() { windows "$program/bin/moot.exe" "$@"; }
completes() { # FILE COMMAND OPTION...: a debate that comes to its end
    "$2" debate "$topic" --rounds 1 "${@:3}" >"$1"
    tail -n 1 "$1" | grep -q '^Completed ·'
}
is_fine() { # FILE: the doctor finds no problem
    moot --lang en doctor >"$1"
    has "$1" '^ok · Built-in model' && ! has "$1" '^problem'
}
runs() { [ -e "$data/control" ]; } # whoever holds the data directory writes this file, and removes it at its end
sessions() { find "$data/sessions" -mindepth 1 -maxdepth 1 | wc -l; }

picture() { import -window root "$folder/$1.png"; }
open_window() { # sets `opened` to the milliseconds until its engine is there, `window` to the process
    # One that was killed has left it.
    rm -f "$data/control"
    local before=$(date +%s%3N)
    MOOT_SECONDS=3600 windows "$program/Moot.exe" >"$folder/window.txt" &
    window=$!
    if ! until_true 240 runs; then
        picture not-opened
        ps -eo pid,stat,etimes,args >"$folder/not-opened.txt"
        return 1
    fi
    opened=$(($(date +%s%3N) - before))
}
is_closed() { ! runs && ! kill -0 "$window" 2>/dev/null; }
end_all() {
    [ "${#started[@]}" = 0 ] || kill "${started[@]}" 2>/dev/null
    wineserver -k
}
trap end_all EXIT

# Before the first program: where Wine has begun without a screen, windows that are opened later never appear on one.
exec {screen}< <(exec Xvfb -displayfd 1 -screen 0 1440x900x24 -nolisten tcp 2>/dev/null)
started+=($!)
read -r -u "$screen" number
export DISPLAY=:$number

step_new_windows() {
    rm -rf "$WINEPREFIX"
    new_windows
    # Longer than NSIS's own texts, with a variable, and with a folder at its end.
    windows reg add 'HKCU\Environment' /v Path /t REG_EXPAND_SZ \
        /d "$(printf 'C:\\%%USERNAME%%\\tools%01000d;C:\\last' 0)" /f >/dev/null
    registry 'HKCU\Environment' /v Path >"$folder/path-before.txt"
    check "a Windows with a long PATH" test "$(wc -c <"$folder/path-before.txt")" -gt 1023
}

step_install() {
    local before=$SECONDS
    check "it installs without a question" windows "$setup" /S
    say "installed in $((SECONDS - before)) s: $(find "$program" -type f | wc -l) files," \
        "$(du -sm --apparent-size "$program" | cut -f1) MB"
    check "at most 8,000 files" test "$(find "$program" -type f | wc -l)" -le 8000
    check "the two programs and the uninstaller are there" \
        test -f "$program/Moot.exe" -a -f "$program/bin/moot.exe" -a -f "$program/Uninstall.exe"
    check "it is in the Start menu" test -f "$menu"
    registry "$entry" >"$folder/apps.txt"
    check "Apps & features has its version" has "$folder/apps.txt" 'DisplayVersion.*[0-9]\.[0-9]'
    registry 'HKCU\Environment' /v Path >"$folder/path.txt"
    check "the PATH has one folder more and is whole" \
        test "$(tr ';' '\n' <"$folder/path.txt" | grep -c 'Programs.Moot.bin')" = 1 -a "$(wc -c <"$folder/path.txt")" -gt 1060
    moot --version >"$folder/version.txt"
    check "the command says its version" has "$folder/version.txt" '^Moot [0-9]'
}

step_doctor() {
    check "the doctor finds no problem" is_fine "$folder/doctor.txt"
}

step_debate() {
    check "a debate with the built-in model" completes "$folder/debate.txt" moot
    moot ask assistant "What is a quorum?" >"$folder/ask.txt"
    check "a question to the built-in model" test -s "$folder/ask.txt" -a "$(sessions)" -ge 2
}

step_children() {
    # shellcheck disable=SC2016
    check "multiprocessing starts this Python" moot -c 'import math, multiprocessing
if __name__ == "__main__":
    with multiprocessing.Pool(1) as pool:
        raise SystemExit(pool.map(math.isqrt, [49]) != [7])'
    PYTHONHOME='C:\nowhere' PYTHONPATH='C:\nowhere' moot --version >"$folder/isolated.txt"
    check "another Python's variables change nothing" has "$folder/isolated.txt" '^Moot [0-9]'
    check "the files of the tokenizer are whole" moot -c 'import os
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
from litellm.litellm_core_utils.default_encoding import encoding
raise SystemExit(len(encoding.encode("Hello, world")) != 3)'
    check "time zones are there" moot -c 'import datetime, zoneinfo
seoul = datetime.datetime(2026, 1, 1, tzinfo=zoneinfo.ZoneInfo("Asia/Seoul"))
raise SystemExit(seoul.utcoffset() != datetime.timedelta(hours=9))'
    moot -m pip --version >"$folder/pip.txt"
    check "pip is there, for the parts that are installed later" has "$folder/pip.txt" '^pip [0-9]'
}

agent() { # MODE: runs agent.py, which sees the installed app
    moot -c 'import runpy, sys; del sys.argv[0]; runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
}
children_left() { pgrep -f 'sleep.4321' >/dev/null; }

step_agent() {
    check "an agent is ended with what it has started" agent "$here/agent.py" ended
    check "nothing of it is left" until_true 10 not children_left
    agent "$here/agent.py" left >"$folder/agent.txt" &
    check "another one runs" until_true 60 has "$folder/agent.txt" begun
    pkill -9 -f 'agent.py left'
    check "it ends with a Moot that is killed" until_true 20 not children_left
}

step_local_server() {
    exec {asked}< <(exec "$root/.venv/bin/python" "$here/local_server.py" "$data" 2>"$folder/server-errors.txt")
    started+=($!)
    read -r -u "$asked" key
    export "${key?}"
    check "a debate with a local server" completes "$folder/server.txt" moot \
        -p Ada=openai/openai-wire -p Ben=openai/openai-other
    unset "${key%%=*}"
    rm "$data/providers.json"
}

step_window() {
    check "the window opens" open_window
    say "the window was there after $opened ms"
    sleep 10
    xdotool type --delay 30 "What is a quorum?"
    xdotool key Return
    check "a question in the window is answered" until_true 240 test "$(sessions)" -ge 3
    sleep 20
    picture window
    say "a picture of the window is in $folder/window.png"
    check "moot quit closes it" moot quit
    check "it has ended" until_true 30 is_closed
}

step_handed() {
    open_window
    check "a debate is handed to the window" completes "$folder/handed.txt" moot
    picture handed
    local before=$SECONDS
    check "a second start ends, and the window is still there" windows "$program/Moot.exe"
    say "the second start took $((SECONDS - before)) s"
    check "that of the first start is there" runs
    moot quit
}

step_starts() {
    local count=0 times=() wanted=${MOOT_STARTS:-50}
    for _ in $(seq "$wanted"); do
        open_window || break
        times+=("$opened")
        moot quit >/dev/null && until_true 30 is_closed || break
        count=$((count + 1))
    done
    say "milliseconds until the engine of the window is there: ${times[*]}"
    check "$wanted starts out of $wanted" test "$count" = "$wanted"
}

step_update() {
    open_window
    local before=$(sessions)
    check "it can be installed over itself while the window is open" windows "$setup" /S
    check "the window was closed" until_true 30 is_closed
    check "nothing of the installation is left beside it" not ls -d "$program"/moot-*
    check "the conversations are there" test "$(sessions)" = "$before"
    check "the doctor finds no problem after that" is_fine "$folder/doctor-after-update.txt"
}

step_background() {
    rm -f "$data/control"
    MOOT_SECONDS=3600 moot background >"$folder/background.txt" &
    window=$!
    until_true 120 runs
    check "it can be installed while one runs without a window" windows "$setup" /S
    check "that one was closed" until_true 30 is_closed
}

step_broken_download() {
    head -c $(($(stat -c %s "$setup") * 2 / 3)) "$setup" >"$folder/broken-setup.exe"
    check "a download that broke off is refused" not windows "$folder/broken-setup.exe" /S
    moot --version >"$folder/version.txt"
    check "the program before still starts" has "$folder/version.txt" '^Moot [0-9]'
}

step_full_disk() {
    local disk=$folder/disk
    mkdir -p "$disk"
    mount -t tmpfs -o size=700m tmpfs "$disk"
    ln -sfn "$disk" "$WINEPREFIX/dosdevices/e:"
    check "it installs on a small disk" windows "$setup" /S '/D=E:\Moot'
    check "an update that does not fit ends with a failure" not windows "$setup" /S '/D=E:\Moot'
    windows "$disk/Moot/bin/moot.exe" --version >"$folder/version.txt"
    check "the program before still starts" has "$folder/version.txt" '^Moot [0-9]'
    check "nothing of the failed one is left" not ls -d "$disk"/Moot/moot-*
    windows "$disk/Moot/Uninstall.exe" /S
    check "it is removed from there" until_true 120 not test -e "$disk/Moot"
    wineserver -k
    umount -l "$disk"
    rm "$WINEPREFIX/dosdevices/e:"
    # The registry and the shortcut are for the last one that was installed.
    check "the one in the usual folder is installed again" windows "$setup" /S
}

step_tests() {
    local place=$WINEPREFIX/drive_c/tests wheel part
    rm -rf "$place"
    mkdir -p "$place/site"
    git -C "$root" archive HEAD app tests resources pyproject.toml | tar -x -C "$place"
    for wheel in blockbuster colorama execnet hypothesis iniconfig pluggy pygments pytest pytest_asyncio pytest_qt \
        pytest_socket pytest_timeout pytest_xdist sortedcontainers cffi cryptography pycparser; do
        unzip -q -o "$root"/build/windows/wheels/"$wheel"-[0-9]*.whl -d "$place/site"
    done
    # It has no wheel.
    cp -r "$root"/.venv/lib/python3*/site-packages/forbiddenfruit "$place/site"
    for part in core storage engine; do
        MOOT_SECONDS=3600 moot -c 'import os, sys
os.chdir(sys.argv[1])
sys.path[:0] = [sys.argv[1], sys.argv[1] + r"\site"]
import pytest
raise SystemExit(pytest.main(["-q", "-p", "no:cacheprovider", "-n", "2", *sys.argv[2:]]))' 'C:\tests' "tests/$part" \
            >"$folder/tests-$part.txt"
        check "tests of $part: $(tail -n 1 "$folder/tests-$part.txt")" \
            has "$folder/tests-$part.txt" '^[0-9]* passed'
    done
}

step_remove() {
    local before=$(sessions)
    windows "$program/Uninstall.exe" /S
    check "the program is gone" until_true 120 not test -e "$program"
    check "the conversations have stayed" test "$(sessions)" = "$before" -a "$before" -ge 2
    registry 'HKCU\Environment' /v Path >"$folder/path.txt"
    check "the PATH is as before" cmp -s "$folder/path-before.txt" "$folder/path.txt"
    check "it is neither in the Start menu nor in Apps & features" \
        test ! -e "$menu" -a -z "$(registry "$entry" | grep Display)"
}

step_other_folders() {
    local other="$WINEPREFIX/drive_c/프로그램 모음/무트"
    mkdir -p "$WINEPREFIX/drive_c/other"
    echo mine >"$WINEPREFIX/drive_c/other/file"
    check "a folder with other files is refused" not windows "$setup" /S '/D=C:\other'
    check "the other file is untouched" test "$(ls -A "$WINEPREFIX/drive_c/other")" = file
    # The option is not quoted: it ends with the command line.
    windows "$setup" /S '/D=C:\프로그램' '모음\무트'
    program=$other
    check "a debate where the folder is Korean with a space" completes "$folder/korean.txt" moot
    windows "$other/Uninstall.exe" /S
    check "it is removed from there" until_true 120 not test -e "$other"
}

for step in "${@:-${steps[@]}}"; do
    say "$step"
    "step_$step"
done
[ "$failed" = 0 ] && say "all of it works"
exit "$failed"
