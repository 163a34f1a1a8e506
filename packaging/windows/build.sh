#!/usr/bin/env bash
# Builds the Windows installer and a zip of the same files in build/dist, on Linux. Nothing is frozen: an ordinary Python
# with its packages, Moot's own files as they are, and two small programs that start it. usage: build.sh [FOLDER]
#   FOLDER             where to build; build/windows by default. Downloads are kept there for the next build.
#   MOOT_PYTHON_ZIP    the embeddable Python that python.lock names, already downloaded; its hash is checked.
#                      "stand-in" makes one from packages instead, for trials where python.org can't be reached
#   MOOT_FAST=1        packs fast instead of small, for trials
#   MOOT_SIGN          a command that signs the files named after it; without it nothing is signed
#   MOOT_NO_MODEL=1    leaves the built-in model out
#   MOOT_VERSION_ADDRESS  where this build may ask for a newer version; without it nothing is ever asked
# Needs the packages of debian.txt, and Python of the shipped version to compile: as python3.X on PATH, else Wine runs it.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
mkdir -p "${1:-$root/build/windows}" "$root/build/dist"
work=$(cd "${1:-$root/build/windows}" && pwd)
dist=$root/build/dist
source "$here/python.lock"
source "$here/wine.sh"
minor=${PYTHON%.*}
name=python${minor/./}
moot=$work/Moot
site=$moot/python/Lib/site-packages

say() { echo "build [$SECONDS s] $*"; }
sign() { [ -z "${MOOT_SIGN:-}" ] || $MOOT_SIGN "$@"; }

[ -x "$root/.venv/bin/python" ] || python3 "$root/packaging/dev.py" setup
python=$root/.venv/bin/python
version=$("$python" -c 'import sys, tomllib; print(tomllib.load(open(sys.argv[1], "rb"))["project"]["version"])' "$root/pyproject.toml")

say "downloading Python and the packages, checked by their hashes"
zip=${MOOT_PYTHON_ZIP:-$work/${PYTHON_URL##*/}}
if [ "$zip" = stand-in ]; then
    zip=$work/stand-in.zip
    mkdir -p "$work/stand-in"
    # The one outside of the environment: uv puts no pip in there.
    [ -f "$zip" ] || python3 "$here/stand_in.py" "$zip" "$work/stand-in"
else
    [ -f "$zip" ] || { curl -fsSL -o "$zip.part" "$PYTHON_URL" && mv "$zip.part" "$zip"; }
    echo "$PYTHON_SHA256  $zip" | sha256sum --check --quiet
fi
"$python" "$here/packages.py" lock >"$work/windows.lock"
python3 -m pip download -q --no-deps --only-binary=:all: --platform win_amd64 --implementation cp --python-version "$minor" \
    --require-hashes -r "$work/windows.lock" -r "$here/extra.lock" -d "$work/wheels"

say "laying out the program"
rm -rf "$moot"
mkdir -p "$site" "$moot/bin" "$moot/packaging"
unzip -q "$zip" -d "$moot/python"
# The programs of that archive; Moot's own take their place.
rm -f "$moot"/python/python*.exe
# With this file no variable, no registry entry and no other Python of the computer changes where modules come from.
printf '%s\r\n' "$name.zip" . 'Lib\site-packages' .. packages.zip 'import site' >"$moot/python/$name._pth"
"$python" "$here/packages.py" lay_out "$work/wheels" "$moot"
# Microsoft's libraries of C++ and OpenMP, which Python and the packages load; a new Windows does not have them.
# Three are for other kinds of C++, and nothing loads them.
unzip -q -o -j "$work"/wheels/shiboken6-*.whl 'shiboken6/*140*.dll' \
    -x '*/concrt140.dll' '*/vcamp140.dll' '*/vccorlib140.dll' -d "$moot/python"
# LiteLLM's wheel for Windows has other line ends in them than their hashes are of.
find "$site/litellm/litellm_core_utils/tokenizers" -type f ! -name '*.py' -exec sed -i 's/\r$//' {} +
cp -r "$root/app" "$root/resources" "$moot"
[ -z "${MOOT_VERSION_ADDRESS:-}" ] || echo "$MOOT_VERSION_ADDRESS" >"$moot/resources/version_address.txt"
find "$moot" -name __pycache__ -prune -exec rm -rf {} +
cp "$root/packaging/webui.lock" "$moot/packaging"
cp -r "$root/packaging/licences" "$moot"
cp "$root"/resources/models/licences/* "$moot/licences"
cp "$root/LICENSE" "$moot/licences/Moot.txt"
cp "$root/packaging/THIRD_PARTY.md" "$moot/licences"
cp "$here/user_path.py" "$moot/python"
if [ -z "${MOOT_NO_MODEL:-}" ]; then
    mkdir "$moot/.model"
    cp "$root"/.model/*.gguf "$moot/.model"
fi

say "making the icon and the two programs that start Moot"
"$python" - "$root/packaging/bundle.py" "$work" <<'PY'
import pathlib, runpy, sys
bundle = runpy.run_path(sys.argv[1])
bundle["make_icons"](pathlib.Path(sys.argv[2], "icons"))
PY
launcher() { # FILE DESCRIPTION OPTION...
    x86_64-w64-mingw32-windres -I "$work/icons" -I "$here" -DNUMBERS="${version//./,},0" -DVERSION="\\\"$version\\\"" \
        -DDESCRIPTION="\\\"$2\\\"" -DFILENAME="\\\"${1##*/}\\\"" "$here/launcher.rc" "$work/launcher.o"
    x86_64-w64-mingw32-gcc -municode -Os -s -Wall -Wextra -Werror -D_WIN32_WINNT=0x0A00 -DPYTHON="L\"$name.dll\"" "${@:3}" \
        -o "$moot/$1" "$here/launcher.c" "$work/launcher.o"
}
launcher Moot.exe Moot -mwindows
launcher bin/moot.exe "Moot in the terminal" -DCONSOLE

say "compiling the modules"
if command -v "python$minor" >/dev/null && "python$minor" -c ''; then
    "python$minor" "$here/compile.py" "$moot"
else
    prefix "$work/prefix"
    [ -d "$WINEPREFIX" ] || new_windows
    MOOT_SECONDS=3600 windows "$moot/bin/moot.exe" -B "$(winepath -w "$here/compile.py")" "$(winepath -w "$moot")"
fi
sign "$moot/Moot.exe" "$moot/bin/moot.exe"

say "packing"
rm -f "$dist/Moot-$version-windows.zip"
(cd "$work" && zip -q -r ${MOOT_FAST:+-1} "$dist/Moot-$version-windows.zip" Moot)
makensis -V2 -INPUTCHARSET UTF8 -DVERSION="$version" -DSOURCE="$moot" -DICON="$work/icons/moot.ico" \
    -DOUT="$dist/Moot-$version-setup.exe" -DSIZE="$(du -sk --apparent-size "$moot" | cut -f1)" -DSIGN="${MOOT_SIGN:-}" \
    ${MOOT_FAST:+-DFAST} "$here/moot.nsi"
sign "$dist/Moot-$version-setup.exe"
say "$(find "$moot" -type f | wc -l) files, $(du -sm --apparent-size "$moot" | cut -f1) MB installed;" \
    "$(cd "$dist" && du -m --apparent-size "Moot-$version-setup.exe" "Moot-$version-windows.zip" | tr '\t\n' ' ,')"
