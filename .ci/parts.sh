# Used by .ci/run and .ci/full: starts a part, prints at the end how long each took and how many core-seconds (user and
# system time of all children), installs Debian packages.

parts=()
current=""
began=0
cores_began=0
# What making the environment took, which depends on the network.
environment_cores=0
clock=$(mktemp)

core_seconds() { # sets `cores`; `times` tells about this shell only if it is not run in a subshell
    times >"$clock"
    cores=$(awk '{ for (i = 1; i <= NF; i++) { split($i, t, /[ms]/); all += 60 * t[1] + t[2] } } END { printf "%.0f", all }' "$clock")
}

part() { # NAME
    end_part
    current=$1
    began=$SECONDS
    cores_began=$cores
    printf '\n== %s\n' "$1"
}

end_part() {
    core_seconds
    [ -n "$current" ] || return 0
    parts+=("$(printf '%5d s %5d core-s  %s' "$((SECONDS - began))" "$((cores - cores_began))" "$current")")
    [ "$current" != "environment" ] || environment_cores=$((cores - cores_began))
    current=""
}

print_parts() {
    end_part
    printf '\n== how long each part took\n'
    printf '%s\n' "${parts[@]}"
    printf '%5d s %5d core-s  %s in all\n' "$SECONDS" "$cores" "$0"
    [ "$environment_cores" -eq 0 ] || printf '        %5d core-s  without the environment\n' "$((cores - environment_cores))"
    rm -f "$clock"
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
