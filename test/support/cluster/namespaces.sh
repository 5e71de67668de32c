#!/bin/sh
# The first process of a machine of a cluster: namespaces of its own for processes, mounts, network, names, that all end with
# it. Writes its process id, as the machine outside counts, to DIRECTORY/pid once they are furnished.
# usage: unshare --pid --fork --mount --net --uts --ipc namespaces.sh DIRECTORY HOSTNAME
set -eu
directory=$1
# /proc is still that of the machine outside.
read -r pid _ </proc/self/stat
mount --make-rshared /
mount -t proc proc /proc
hostname "$2"
ip link set lo up
echo 1 >/proc/sys/net/ipv4/ip_forward

# over FILE CONTENT: others than this machine never see what is written there.
over() {
  copy=$directory/settings/$(echo "$1" | tr / .)
  echo "$2" >"$copy"
  mount --bind "$copy" "$1"
}
mkdir -p "$directory/settings"
# What the kubelet sets for the whole machine otherwise, with the values that it wants.
over /proc/sys/vm/overcommit_memory 1
over /proc/sys/vm/panic_on_oom 0
over /proc/sys/kernel/panic 10
over /proc/sys/kernel/panic_on_oops 1
over /proc/sys/kernel/keys/root_maxkeys 1000000
over /proc/sys/kernel/keys/root_maxbytes 25000000
# A kubelet tells by it that its machine has booted.
over /proc/sys/kernel/random/boot_id "$(cat /proc/sys/kernel/random/uuid)"
# A link leads to /run, which is empty here: then there is no name server.
[ -L /etc/resolv.conf ] || mount --bind "$directory/resolv.conf" /etc/resolv.conf
for own in /var/lib /var/log; do
  layers=$directory$own
  mkdir -p "$layers/upper" "$layers/work"
  mount -t overlay -o "lowerdir=$own,upperdir=$layers/upper,workdir=$layers/work" overlay "$own"
done
mount -t tmpfs tmpfs /run
echo "$pid" >"$directory/pid.unfinished"
mv "$directory/pid.unfinished" "$directory/pid"
# Collects what ends without a parent.
while :; do
  sleep 1000000 &
  wait
done
