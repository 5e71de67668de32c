#!/bin/sh
# Gets programs that tests use from Debian's packages: `debian-packages.sh PROGRAM...`. A program that is a single file is
# extracted into .cache/debian, so nothing is installed on the machine and no service is started. A program that needs
# other packages is installed, which only root can do. Does nothing for programs that are already in PATH or in the
# cache. On other systems than Debian it prints what to install. Tests that need a missing program also say so, and are
# skipped.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
programs=$root/.cache/debian

# fetch PROGRAM PACKAGE PATH-IN-THE-PACKAGE
fetch() {
  if command -v "$1" >/dev/null 2>&1 || [ -x "$programs/$1" ]; then return 0; fi
  if ! command -v apt-get >/dev/null 2>&1 || ! command -v dpkg-deb >/dev/null 2>&1; then
    echo "Expected $1 in PATH: install it (on Debian it is in the package $2) to run the tests that use it." >&2
    return 0
  fi
  work=$(mktemp -d)
  # The user that downloads packages is not root and must be able to write here.
  chmod 755 "$work"
  if ! (cd "$work" && download "$2" && dpkg-deb -x "$2"_*.deb unpacked) >"$work/log" 2>&1; then
    cat "$work/log" >&2
    echo "Could not fetch Debian's package $2: install $1 to run the tests that use it." >&2
    rm -rf "$work"
    return 0
  fi
  mkdir -p "$programs"
  # In one step, so that two concurrent runs do not conflict.
  cp "$work/unpacked/$3" "$programs/.$1.$$"
  mv "$programs/.$1.$$" "$programs/$1"
  rm -rf "$work"
}

# A new machine has no package lists, and only root can download them.
download() {
  apt-get download "$1" || { [ "$(id -u)" = 0 ] && apt-get update && apt-get download "$1"; }
}

# install PROGRAM PACKAGE...
install() {
  if command -v "$1" >/dev/null 2>&1; then return 0; fi
  wanted=$1
  shift
  if ! command -v apt-get >/dev/null 2>&1 || [ "$(id -u)" != 0 ]; then
    echo "Expected $wanted: install it (on Debian: apt-get install $*) to run the tests that use it." >&2
    return 0
  fi
  log=$(mktemp)
  if ! { get "$@" || { apt-get update && get "$@"; }; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "Could not install Debian's $*: install $wanted to run the tests that use it." >&2
  fi
  rm -f "$log"
}

get() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

for program in "$@"; do
  case $program in
    prometheus | promtool) fetch "$program" prometheus "usr/bin/$program" ;;
    prometheus-mysqld-exporter) fetch "$program" "$program" "usr/bin/$program" ;;
    shellcheck) fetch shellcheck shellcheck usr/bin/shellcheck ;;
    chromium) install chromium chromium ;;
    nft) install nft nftables ;;
    # What is needed to build runc.
    libseccomp) pkg-config --exists libseccomp 2>/dev/null || install libseccomp gcc libc6-dev pkg-config libseccomp-dev ;;
    *)
      echo "Expected prometheus, promtool, prometheus-mysqld-exporter, shellcheck, chromium, nft or libseccomp, got: $program" >&2
      exit 2
      ;;
  esac
done
