#!/usr/bin/env bash
# Signs Windows programs on Linux, with osslsigncode, where a certificate is there; build.sh calls it where
# MOOT_SIGN names it.
# usage: sign.sh FILE...
#   MOOT_CERTIFICATE            a .p12 file in base64: the certificate and its key
#   MOOT_CERTIFICATE_PASSWORD   the password of that file
#   MOOT_TIMESTAMP              the server that says when it was signed; set and empty: none
# Neither the certificate nor the password is printed or stands in a command line.
set -euo pipefail
if [ -z "${MOOT_CERTIFICATE:-}" ]; then
    echo "unsigned, since MOOT_CERTIFICATE is not set: ${*##*/}; Windows will warn whoever starts it"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
base64 --decode <<<"$MOOT_CERTIFICATE" >"$folder/certificate.p12"
printf '%s' "${MOOT_CERTIFICATE_PASSWORD:-}" >"$folder/password"
timestamp=${MOOT_TIMESTAMP-http://timestamp.digicert.com}
for file in "$@"; do
    osslsigncode sign -pkcs12 "$folder/certificate.p12" -readpass "$folder/password" -h sha256 -n Moot \
        ${timestamp:+-ts "$timestamp"} -in "$file" -out "$folder/signed"
    # The file keeps its rights.
    cat "$folder/signed" >"$file"
    rm "$folder/signed"
done
