#!/bin/sh
# Keep an engine for one test, in namespaces of its own, and leave nothing of it when standard input ends.
#
#   own_engine.sh FOLDER BRIDGE ADDRESS SIZE < ORDERS
#
# Orders: `start OPTION...`, `signal NAME`, `wait`, and `inside SCRIPT` for one in the folder of its data; each is
# answered with a line. The engine, its containerd, its containers and its mounts live in a PID and a mount namespace:
# they go with the first process there, however it ends.
# The network is the machine's, with a bridge of the engine's own.
set -u

folder=$1 bridge=$2 address=$3 size=$4

serve() {
    exec 2>>"$folder/log"
    mount -t tmpfs -o "size=$size" tmpfs "$folder/root"
    while read -r order rest; do
        case $order in
        start)
            # shellcheck disable=SC2086 - options are words
            dockerd -H "unix://$folder/engine.sock" --data-root "$folder/root" --exec-root "$folder/exec" \
                --pidfile "$folder/pid" --bridge "$bridge" --cgroup-parent "/$bridge" \
                --exec-opt native.cgroupdriver=cgroupfs --iptables=false --ip-masq=false --ip-forward=false \
                --shutdown-timeout 5 $rest >>"$folder/log" 2>&1 </dev/null &
            engine=$!
            ;;
        signal) kill -s "$rest" "$engine" ;;
        wait) wait "$engine" ;;
        inside) (cd "$folder/root" && sh -c "$rest" >>"$folder/log" 2>&1) ;;
        esac
        echo done
    done
}

if [ "${5:-}" = inside ]; then
    serve
    exit
fi
mkdir -p "$folder/root" "$folder/exec"
ip address add "$address" dev "$bridge"
ip link set "$bridge" up
# bash, as the first process there, also takes in what others leave: a dead containerd counts as running until then.
# The time is bounded for the case that nobody is left to end standard input.
timeout 900 unshare --mount --propagation slave --pid --fork --kill-child --mount-proc -- bash "$0" "$@" inside
ip link delete "$bridge"
find /sys/fs/cgroup -depth -type d -path "*/$bridge*" -exec rmdir {} + 2>/dev/null
rm -rf "$folder"
