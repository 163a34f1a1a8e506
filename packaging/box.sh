# A bare Debian 12 to try Moot in, on layers that are thrown away; bare_box.sh and bare_deb.sh use it.
# Needs root, debootstrap and overlayfs; the first run makes FOLDER/base.
# The machine's own configuration of apt, pip and TLS is lent to the box; BOX_BIND="/a /b" lends more.
set -euo pipefail
[ $# -ge 1 ] && [ "$(id -u)" = 0 ] || { echo "usage, as root: $0 FOLDER" >&2; exit 2; }
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
}

# A clean environment: nothing of this machine but what tells pip and TLS where to look.
in_box() {
    local kept
    mapfile -t kept < <(env | grep -E '^(PIP_|UV_|SSL_|REQUESTS_CA_BUNDLE=|CURL_CA_BUNDLE=)' || true)
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/srv "${kept[@]}" chroot box /bin/sh -c "$1"
}
