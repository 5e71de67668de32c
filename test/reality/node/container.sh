#!/bin/sh
# Runs COMMAND as a container does: with ROOT as its root, HOSTNAME as its name, as USER, and with what is mounted. It
# has to be started in mount and UTS namespaces of its own: whatever it mounts goes with the process. exec keeps the pid.
# usage: container.sh ROOT MOUNT-POINT HOSTNAME USER PATH [SOURCE:TARGET]... -- COMMAND...
set -eu
root=$1 at=$2 user=$4 path=$5 chroot=$(command -v chroot)
hostname "$3"
shift 5
mount -o bind,ro "$root" "$at"
mount --rbind /dev "$at/dev"
mount --bind /proc "$at/proc"
while [ "$1" != -- ]; do
  mount --bind "${1%%:*}" "$at${1#*:}"
  shift
done
shift
# As many files as this machine lets anybody have, as container runtimes do; no core files of mysqld.
# shellcheck disable=SC3045 # dash and busybox have these flags
ulimit -S -n "$(ulimit -H -n)"
# shellcheck disable=SC3045
ulimit -c 0
PATH=$path exec "$chroot" --userspec="$user:$user" "$at" "$@"
