#!/bin/sh
# Installs Wasibox @VERSION@ for one user, without sudo, or removes it.
#
#   sh install.sh [--prefix FOLDER] [--from FOLDER]   installs, into ~/.local by default
#   sh install.sh --uninstall [--prefix FOLDER]       removes the files and the cache
#
# The archives are taken from the folder that --from names, or from this script's own folder if they
# are there, and otherwise from @ADDRESS@. Their digests are below, so nothing is unpacked that is
# not what this script was made for.
set -eu

version=@VERSION@
address=@ADDRESS@/releases/download/v$version
sums='@SUMS@'

fail() {
    echo "install.sh: $1" >&2
    exit 1
}

prefix=${HOME:?}/.local
from=
uninstall=
while [ $# -gt 0 ]; do
    case $1 in
        --prefix | --from)
            [ $# -gt 1 ] || fail "$1 needs a folder"
            if [ "$1" = --prefix ]; then prefix=$2; else from=$2; fi
            shift 2
            ;;
        --uninstall)
            uninstall=yes
            shift
            ;;
        *) fail "unknown argument '$1'; see the first lines of this script" ;;
    esac
done
# The names of all installed files and of the folders made for them, relative to $prefix.
list=$prefix/lib/wasibox/installed

remove_files() {
    [ -f "$list" ] || return 0
    names=$(cat "$list")
    # A name in the list that leaves the prefix is not one of ours.
    echo "$names" | while IFS= read -r name; do
        case $name in
            /* | ../* | */../* | */..) fail "$list names $name" ;;
            */) ;;
            *) rm -f "$prefix/$name" ;;
        esac
    done
    rm -f "$list"
    # The inner folders come after the outer ones; a folder with files of others stays.
    echo "$names" | grep '/$' | sort -r | while IFS= read -r name; do
        rmdir "$prefix/$name" 2>/dev/null || :
    done
}

if [ -n "$uninstall" ]; then
    [ -f "$list" ] || fail "there is no installation in $prefix"
    remove_files
    # The unpacked image and its machine code. Stores of sessions are the user's own files.
    cache=${XDG_CACHE_HOME:-$HOME/.cache}/wasibox
    rm -rf "$cache/images" "$cache/aot"
    # The key that seals the machine code.
    state=${XDG_STATE_HOME:-$HOME/.local/state}/wasibox
    rm -f "$state/key"
    # Empty folders go, too; none of these is made by anything but programs.
    for folder in "$cache" "${cache%/*}" "$state" "${state%/*}" "$prefix"; do
        rmdir "$folder" 2>/dev/null || :
    done
    echo "removed Wasibox from $prefix"
    exit 0
fi

[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
    fail "this release is for Linux on x86-64, and this is $(uname -s) on $(uname -m)"
for tool in tar gzip sha256sum mktemp; do
    command -v "$tool" >/dev/null 2>&1 || fail "$tool is missing"
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fetch() {
    if command -v curl >/dev/null 2>&1; then
        curl --proto '=https' -fsSL -o "$work/$1" "$address/$1" || fail "cannot download $address/$1"
    elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$work/$1" "$address/$1" || fail "cannot download $address/$1"
    else
        fail "neither curl nor wget is here; download the files of $address and use --from"
    fi
}

here=$(cd "$(dirname "$0")" && pwd)
mkdir "$work/files"
# The loop reads descriptor 3, because curl may read standard input.
while read -r digest name <&3; do
    if [ -n "$from" ]; then
        archive=$from/$name
    elif [ -f "$here/$name" ]; then
        archive=$here/$name
    else
        fetch "$name"
        archive=$work/$name
    fi
    [ -f "$archive" ] || fail "$archive is missing"
    got=$(sha256sum <"$archive")
    [ "${got%% *}" = "$digest" ] || fail "$archive has the wrong SHA-256"
    case $name in
        *.gz) gzip -dc "$archive" | tar -xf - -C "$work/files" ;;
        *) tar -xf "$archive" -C "$work/files" ;;
    esac
done 3<<END
$sums
END

remove_files
made=$work/made
: >"$made"
# Makes a folder below the prefix and notes it, if it is not there.
make_folder() {
    [ ! -d "$prefix/$1" ] || return 0
    case $1 in
        */*) make_folder "${1%/*}" ;;
    esac
    mkdir "$prefix/$1"
    echo "$1/" >>"$made"
}
mkdir -p "$prefix"
(cd "$work/files" && find . ! -type d) | sort | sed 's|^\./||' >"$work/names"
while IFS= read -r name; do
    make_folder "${name%/*}"
    mv "$work/files/$name" "$prefix/$name"
    echo "$name" >>"$made"
done <"$work/names"
cp "$made" "$list"

echo "installed Wasibox $version in $prefix"
case :$PATH: in
    *:"$prefix/bin":*) ;;
    *) echo "$prefix/bin is not in PATH; the command is $prefix/bin/wasibox" ;;
esac
