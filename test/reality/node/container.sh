#!/bin/sh
# Runs COMMAND as a container does: with ROOT as its root, HOSTNAME as its name, as USER, and with what is mounted. It
# has to be started in mount and UTS namespaces of its own: whatever it mounts goes with the process. exec keeps the pid.
# usage: container.sh ROOT MOUNT-POINT HOSTNAME USER [SOURCE:TARGET]... -- COMMAND...
set -eu
root=$1 at=$2 user=$4
hostname "$3"
shift 4
mount -o bind,ro "$root" "$at"
mount --rbind /dev "$at/dev"
mount --bind /proc "$at/proc"
while [ "$1" != -- ]; do
  mount --bind "${1%%:*}" "$at${1#*:}"
  shift
done
shift
# What container runtimes give, and no core files of mysqld.
ulimit -n 65536
ulimit -c 0
exec chroot --userspec="$user:$user" "$at" "$@"
