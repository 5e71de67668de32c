#!/bin/sh
# Makes the file system of the image: Node, the libraries that it is linked with, Debian's descriptions of these, the
# bundle, and nothing else. The Dockerfile runs this script, and so does a test that needs no container engine.
#
# usage: tree.sh NODE BUNDLE TARGET
set -eu
if [ "$#" -ne 3 ] || [ ! -x "$1" ] || [ ! -f "$2/main.js" ]; then
  echo 'usage: hack/image/tree.sh NODE BUNDLE TARGET: a Node to run on, what "make build" made, and a new directory' >&2
  exit 2
fi
node=$1 bundle=$2 target=$3
mkdir -p "$target/app" "$target/usr/local/bin" "$target/etc" "$target/tmp"
install -m 0755 "$node" "$target/usr/local/bin/node"
install -m 0644 "$(dirname "$node")/../LICENSE" "$target/usr/local/LICENSE"
# The loader expects the libraries at their paths on this machine. Links are followed.
ldd "$node" | grep -o '/[^ ]*' | while read -r library; do
  install -D -m 0755 "$library" "$target$library"
done
# Records which packages and which Debian the files come from, in the place where scanners look in images without dpkg.
# A library may be known by its path before or after /lib became a link.
if command -v dpkg-query >/dev/null; then
  mkdir -p "$target/var/lib/dpkg/status.d"
  ldd "$node" | grep -o '/[^ ]*' | while read -r library; do
    dpkg-query -S "$library" 2>/dev/null || dpkg-query -S "/usr$library"
  done | sed 's/: .*//' | sort -u | while read -r package; do
    name=${package%%:*}
    dpkg-query -s "$package" >"$target/var/lib/dpkg/status.d/$name"
    install -D -m 0644 "/usr/share/doc/$name/copyright" "$target/usr/share/doc/$name/copyright"
  done
  install -m 0644 /etc/os-release "$target/etc/os-release"
fi
# Source maps are left out: they are three times the size of the program, and Node reads them only with a flag. main.js
# contains all commands.
for file in "$bundle"/*; do
  case $file in
    *.map | */cli.cjs | */cli.cjs.*) ;;
    *) install -m 0644 "$file" "$target/app/" ;;
  esac
done
echo 'nonroot:x:65532:65532:nonroot:/:/sbin/nologin' >"$target/etc/passwd"
echo 'hosts: files dns' >"$target/etc/nsswitch.conf"
chmod 1777 "$target/tmp"
