# Used by .ci/run and .ci/full: starts a part, prints at the end how long each took, installs Debian packages.

parts=()
current=""
began=0

part() { # NAME
    end_part
    current=$1
    began=$SECONDS
    printf '\n== %s\n' "$1"
}

end_part() {
    [ -z "$current" ] || parts+=("$(printf '%5d s  %s' "$((SECONDS - began))" "$current")")
    current=""
}

print_parts() {
    end_part
    printf '\n== how long each part took\n'
    printf '%s\n' "${parts[@]}"
    printf '%5d s  %s in all\n' "$SECONDS" "$0"
}
trap print_parts EXIT

need() { # PROGRAM:PACKAGE ...
    local program missing=()
    for program in "$@"; do
        command -v "${program%:*}" >/dev/null || missing+=("${program#*:}")
    done
    [ "${#missing[@]}" -gt 0 ] || return 0
    part "system packages: ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" >/dev/null
}
