#!/bin/sh
# Runs a program on the Node that package-lock.json installs, or on the machine's own `node` if that is missing and the
# machine's version is new enough.
needed=24
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)

major_of() {
  # Prints nothing if the program is for another platform.
  "$1" --version 2>/dev/null | sed -n 's/^v\([0-9][0-9]*\)\..*/\1/p'
}

for node in "$root"/node_modules/node-*/bin/node "$(command -v node)"; do
  if [ -x "$node" ]; then
    major=$(major_of "$node")
    if [ "${major:-0}" -ge "$needed" ]; then
      exec "$node" "$@"
    fi
    found="${major:+, found only Node $major}"
  fi
done

echo "Expected Node $needed or newer in node_modules or in PATH${found}: run \`make node_modules\` in $root, which fetches it." >&2
exit 2
