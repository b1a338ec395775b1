#!/bin/sh
# Give a Debian-like machine a working Docker engine, and what the tests on it need.
#
#   .ci/engine.sh          say what will be installed and started, ask (YES=1 answers), do it; does nothing twice
#   .ci/engine.sh stop     end exactly the engine that this script started, if it did
#
# What it started is written to STATE (default /run/kubelet-emu-engine): pid, start time and log of dockerd.
set -eu

STATE=${STATE:-/run/kubelet-emu-engine}
WAIT_SECONDS=${WAIT_SECONDS:-60}

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

# The engine answers: asked as docker info does, by the client where there is one.
answers() {
    if command -v docker >/dev/null 2>&1; then
        docker info >/dev/null 2>&1
    else
        python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect("/var/run/docker.sock")
s.sendall(b"GET /_ping HTTP/1.0\r\n\r\n"); raise SystemExit(b"OK" not in s.recv(4096))' >/dev/null 2>&1
    fi
}

# Start time of a process, so that a pid that is used again is never taken for ours.
start_of() { cut -d')' -f2 "/proc/$1/stat" 2>/dev/null | cut -d' ' -f21; }

missing_packages() {
    command -v dockerd >/dev/null 2>&1 || {
        printf ' docker.io'
        apt-cache show docker-cli >/dev/null 2>&1 && printf ' docker-cli'
    }
    command -v iptables >/dev/null 2>&1 || [ -x /usr/sbin/iptables ] || printf ' iptables'
    is_static_busybox || printf ' busybox-static'
    command -v docker-registry >/dev/null 2>&1 || printf ' docker-registry'
}

is_static_busybox() {
    program=$(command -v busybox 2>/dev/null) || return 1
    ! ldd "$program" >/dev/null 2>&1
}

ask() {
    [ "${YES:-}" = 1 ] && return 0
    [ -t 0 ] || fail "nobody to ask: run it with YES=1"
    printf 'Go on? [y/N] '
    read -r answer
    case $answer in y | Y | yes) return 0 ;; *) fail "nothing was done" ;; esac
}

# Install without starting services: the tests start what they need, on ports of their own.
install_packages() {
    policy=/usr/sbin/policy-rc.d
    if [ ! -e $policy ]; then
        printf '#!/bin/sh\nexit 101\n' >$policy
        chmod 755 $policy
        trap 'rm -f /usr/sbin/policy-rc.d' EXIT
    fi
    apt-get update -q
    # shellcheck disable=SC2086 - a list of names
    DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $1
    [ ! -e $policy ] || ! grep -q 'exit 101' $policy || rm -f $policy
    trap - EXIT
}

is_running() { [ "$(cat "/proc/$1/comm" 2>/dev/null)" = "$2" ]; }

# An engine that is just ending is waited for; the pid files of one that was killed are taken away, since their numbers
# may belong to somebody else by now.
settle_old_engine() {
    waited=0
    for entry in docker.pid:dockerd docker/containerd/containerd.pid:containerd; do
        file=/var/run/${entry%%:*} name=${entry##*:}
        [ -e "$file" ] || continue
        old=$(cat "$file")
        while [ "$name" = dockerd ] && is_running "$old" dockerd && [ "$waited" -lt "$WAIT_SECONDS" ]; do
            sleep 1
            waited=$((waited + 1))
        done
        is_running "$old" "$name" || rm -f "$file"
    done
}

start_engine() {
    settle_old_engine
    mkdir -p "$STATE"
    chmod 700 "$STATE"
    setsid dockerd >"$STATE/dockerd.log" 2>&1 </dev/null &
    pid=$!
    printf '%s\n' "$pid" >"$STATE/dockerd.pid"
    start_of "$pid" >"$STATE/dockerd.start"
    waited=0
    until answers; do
        kill -0 "$pid" 2>/dev/null || { tail -n 20 "$STATE/dockerd.log" >&2; forget; fail "dockerd ended"; }
        [ "$waited" -lt "$WAIT_SECONDS" ] || fail "dockerd does not answer after $WAIT_SECONDS s: see $STATE/dockerd.log"
        sleep 1
        waited=$((waited + 1))
    done
}

forget() { rm -f "$STATE/dockerd.pid" "$STATE/dockerd.start"; }

stop_engine() {
    [ -e "$STATE/dockerd.pid" ] || { say "no engine was started by this script"; return 0; }
    pid=$(cat "$STATE/dockerd.pid")
    if [ "$(start_of "$pid")" = "$(cat "$STATE/dockerd.start")" ] && [ -n "$(start_of "$pid")" ]; then
        say "ending dockerd, process $pid"
        kill "$pid"
        waited=0
        while [ "$(start_of "$pid")" = "$(cat "$STATE/dockerd.start")" ] && [ "$waited" -lt "$WAIT_SECONDS" ]; do
            sleep 1
            waited=$((waited + 1))
        done
    fi
    forget
}

case ${1:-start} in
stop)
    stop_engine
    exit 0
    ;;
start) ;;
*) fail "usage: $0 [stop]" ;;
esac

packages=$(missing_packages)
running=no
answers && running=yes
if [ -z "$packages" ] && [ $running = yes ]; then
    say "the Docker engine answers and nothing is missing"
    exit 0
fi
[ -z "$packages" ] || say "to install:$packages"
[ $running = yes ] || say "to start:   dockerd, in the background; '$0 stop' ends it"
[ "$(id -u)" = 0 ] || fail "this needs root"
[ -z "$packages" ] || command -v apt-get >/dev/null 2>&1 || fail "no apt-get here: install these by your system's means"
ask
[ -z "$packages" ] || install_packages "$packages"
answers || start_engine
say "the Docker engine answers"
