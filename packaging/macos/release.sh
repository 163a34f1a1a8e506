#!/usr/bin/env bash
# On macOS, after `dev.py build`: packs build/dist/Moot.app as a disk image, signed and notarised when it can be.
#
#   MOOT_SIGN_IDENTITY   "Developer ID Application: NAME (TEAM)", in the keychain; without it nothing is signed.
#                        Set it for `dev.py build` too: what is inside is signed as it is collected.
#   MOOT_NOTARY_PROFILE  a profile of `xcrun notarytool store-credentials`; without it nothing is sent to Apple.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
app=build/dist/Moot.app
[ "$(uname)" = Darwin ] && [ -d "$app" ] || { echo "needs macOS and $app: run packaging/dev.py build" >&2; exit 2; }
version=$(/usr/libexec/PlistBuddy -c 'Print CFBundleShortVersionString' "$app/Contents/Info.plist")
image=build/dist/Moot-$version.dmg

if [ -n "${MOOT_SIGN_IDENTITY:-}" ]; then
    # From the inside out: a signature covers those of what it holds.
    while IFS= read -r -d '' library; do
        codesign --force --timestamp --options runtime --sign "$MOOT_SIGN_IDENTITY" "$library"
    done < <(find "$app/Contents/Frameworks" -type f \( -name '*.dylib' -o -name '*.so' \) -print0)
    codesign --force --timestamp --options runtime --entitlements packaging/macos/entitlements.plist \
        --sign "$MOOT_SIGN_IDENTITY" "$app"
    codesign --verify --deep --strict "$app"
else
    echo "MOOT_SIGN_IDENTITY is not set: the image is not signed, and macOS will warn whoever opens it"
fi

rm -rf build/dist/image "$image"
mkdir build/dist/image
cp -R "$app" build/dist/image/
ln -s /Applications build/dist/image/Applications
hdiutil create -volname Moot -srcfolder build/dist/image -format UDZO "$image"
rm -rf build/dist/image

if [ -n "${MOOT_SIGN_IDENTITY:-}" ] && [ -n "${MOOT_NOTARY_PROFILE:-}" ]; then
    codesign --force --timestamp --sign "$MOOT_SIGN_IDENTITY" "$image"
    xcrun notarytool submit "$image" --keychain-profile "$MOOT_NOTARY_PROFILE" --wait
    xcrun stapler staple "$image"
else
    echo "not notarised: that takes MOOT_SIGN_IDENTITY and MOOT_NOTARY_PROFILE"
fi
echo "$image"
