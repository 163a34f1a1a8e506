#!/usr/bin/env bash
# Signs Moot.app or its disk image on macOS, where a certificate is there; release.sh calls it for both. An
# image is notarised too, where a key for that is there.
# usage: sign.sh Moot.app|IMAGE.dmg
#   MOOT_CERTIFICATE                   a .p12 file in base64: "Developer ID Application" and its key
#   MOOT_CERTIFICATE_PASSWORD          the password of that file
#   MOOT_NOTARY_KEY                    the text of a .p8 file: a key of App Store Connect
#   MOOT_NOTARY_KEY_ID, MOOT_NOTARY_ISSUER   whose key it is
# Nothing of it is printed. It is kept in a folder and a keychain of its own, which are deleted at the end.
set -euo pipefail
target=$1
entitlements=$(dirname "${BASH_SOURCE[0]}")/entitlements.plist
if [ -z "${MOOT_CERTIFICATE:-}" ]; then
    echo "unsigned, since MOOT_CERTIFICATE is not set: ${target##*/}; macOS will refuse to open it at first"
    exit 0
fi

folder=$(mktemp -d)
keychain=$folder/moot.keychain-db
end() {
    security delete-keychain "$keychain" 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT
base64 --decode <<<"$MOOT_CERTIFICATE" >"$folder/certificate.p12"
lock=$(uuidgen)
security create-keychain -p "$lock" "$keychain"
security set-keychain-settings "$keychain"
security unlock-keychain -p "$lock" "$keychain"
security import "$folder/certificate.p12" -P "${MOOT_CERTIFICATE_PASSWORD:-}" -k "$keychain" \
    -T /usr/bin/codesign >/dev/null
# Without it codesign would ask in a window whether it may use the key.
security set-key-partition-list -S apple-tool:,apple: -s -k "$lock" "$keychain" >/dev/null
# codesign looks for the certificates above in the keychains of this list; deleting one takes it off the list.
others=()
while IFS= read -r other; do
    others+=("$other")
done < <(security list-keychains -d user | sed 's/^ *"//; s/"$//')
security list-keychains -d user -s "$keychain" ${others[@]+"${others[@]}"}
identity=$(security find-identity -v -p codesigning "$keychain" |
    awk '/Developer ID Application/ && !found { print $2; found = 1 }')
[ -n "$identity" ] || { echo "MOOT_CERTIFICATE holds no valid \"Developer ID Application\"" >&2; exit 1; }
sign() { codesign --force --timestamp --keychain "$keychain" --sign "$identity" "$@"; }

if [ -d "$target" ]; then
    # From the inside out: a signature covers those of what it holds. The program is signed with the app.
    while IFS= read -r -d '' file; do
        case $(od -An -tx1 -N4 "$file" | tr -d ' ') in
            cffaedfe | cafebabe) sign --options runtime "$file" ;;
        esac
    done < <(find "$target/Contents" -type f -not -path "$target/Contents/MacOS/*" -print0)
    sign --options runtime --entitlements "$entitlements" "$target"
    exit 0
fi

sign "$target"
if [ -z "${MOOT_NOTARY_KEY:-}" ]; then
    echo "signed, but not notarised, since MOOT_NOTARY_KEY is not set: ${target##*/}"
    exit 0
fi
printf '%s\n' "$MOOT_NOTARY_KEY" >"$folder/key.p8"
xcrun notarytool submit "$target" --wait \
    --key "$folder/key.p8" --key-id "$MOOT_NOTARY_KEY_ID" --issuer "$MOOT_NOTARY_ISSUER"
# Fails where Apple has not accepted it.
xcrun stapler staple "$target"
