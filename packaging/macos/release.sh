#!/usr/bin/env bash
# On macOS, after `dev.py build`: packs build/dist/Moot.app as build/dist/Moot-VERSION.dmg. Both are signed
# where there is a certificate; sign.sh says how.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
app=build/dist/Moot.app
if [ "$(uname)" != Darwin ] || [ ! -d "$app" ]; then
    echo "needs macOS and $app: run packaging/dev.py build" >&2
    exit 2
fi
version=$(python3 -c 'import plistlib, sys
print(plistlib.load(open(sys.argv[1], "rb"))["CFBundleShortVersionString"])' "$app/Contents/Info.plist")
image=build/dist/Moot-$version.dmg

packaging/macos/sign.sh "$app"
# A broken seal, also one without a certificate, makes macOS call a downloaded app damaged.
codesign --verify --deep --strict "$app"

folder=build/image
rm -rf "$folder" "$image"
mkdir -p "$folder"
# It keeps links, rights and signatures.
ditto "$app" "$folder/Moot.app"
ln -s /Applications "$folder/Applications"
# While macOS looks through what was just written, hdiutil may find it busy.
for try in 1 2 3 4 5; do
    if hdiutil create -volname Moot -srcfolder "$folder" -format UDZO -ov "$image"; then break; fi
    [ "$try" -lt 5 ] || { echo "the image could not be made" >&2; exit 1; }
    sleep 10
done
rm -rf "$folder"
packaging/macos/sign.sh "$image"
echo "$image"
