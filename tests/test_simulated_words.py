"""Words and options that the installed busybox lacks or answers by the machine: what the simulated ones say."""

from __future__ import annotations

import re

import pytest
from shell_rows import scripts, topics
from two_shells import simulate

from runtime.simulated.shell.builtins import BUILTINS
from runtime.simulated.shell.registry import APPLETS

WORDS = [
    ("lines of two files in columns", "printf 'a\\nb\\n' >f; printf 'b\\nc\\n' >g; comm f g", "a\n\t\tb\n\tc\n", 0),
    ("a column can be left out", "printf 'a\\nb\\n' >f; printf 'b\\nc\\n' >g; comm -13 f g", "c\n", 0),
    ("comm needs two files", "comm f; echo $?; comm f g 2>/dev/null", "1\n", 1),
    ("equal files are told", "echo a >f; cp f g; diff -s f g; diff f; echo $?", "Files f and g are identical\n2\n", 0),
    (
        "a missing end of line is told",
        "printf a >f; echo a >g; diff f g",
        "--- f\n+++ g\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n",
        1,
    ),
    ("a shorter file ends first", "printf a >f; printf ab >g; cmp f g 2>&1; cmp; echo $?", "cmp: EOF on f\n1\n", 0),
    (
        "files that aren't there can't be compared",
        "echo >f; cmp f nosuch 2>&1",
        "cmp: nosuch: No such file or directory\n",
        2,
    ),
    ("the environment by name", "printenv HOME PATH; printenv nosuch; echo $?", "/root\n/bin\n1\n", 0),
    (
        "a command in a changed order of rank",
        "nice echo a; nice -n 5 echo b; nice -5 echo c; nice; nice -n x true 2>&1",
        "a\nb\nc\n0\nnice: invalid number 'x'\n",
        1,
    ),
    (
        "a program that isn't there can't be run",
        "nice nosuch 2>&1; echo $?; nohup nosuch 2>&1; echo $?; setsid 2>/dev/null",
        (
            "nice: can't execute 'nosuch': No such file or directory\n127\n"
            "nohup: can't execute 'nosuch': No such file or directory\n127\n"
        ),
        1,
    ),
    ("nohup ignores the end of the line", "nohup sh -c 'kill -HUP $$; echo lives'", "lives\n", 0),
    (
        "processes by name",
        "usleep 9000 & pgrep usleep; pgrep -l usl; pgrep -x usl; echo $?; pgrep -f 'sleep 9'; pgrep 2>/dev/null",
        "3\n3 usleep 9000\n1\n2\n3\n",
        1,
    ),
    ("the newest and the oldest", "usleep 9 & usleep 9 & pgrep -n usleep; pgrep -o usleep", "4\n3\n", 0),
    ("a signal by name", "usleep 9 & pkill -9 usleep; wait $! 2>/dev/null; echo $?; pkill -USR1 nosuch", "137\n", 1),
    (
        "what is mounted",
        "mountpoint /w; mountpoint /tmp; mountpoint -q /nosuch; echo $?; mountpoint 2>/dev/null",
        "/w is a mountpoint\n/tmp is not a mountpoint\n1\n",
        1,
    ),
    ("nothing can be mounted", "mount | wc -l; mount a b 2>&1", "2\nmount: permission denied (are you root?)\n", 1),
    (
        "sizes of disks",
        "df -h / | tail -n 1; df -P /w | tail -n 1; df -m | wc -l",
        (
            "overlay                  10.0G         0     10.0G   0% /\n"
            "volume                10485760         0  10485760   0% /w\n3\n"
        ),
        0,
    ),
    (
        "memory in other units",
        "free -m | sed -n 2p; free -g | sed -n 3p | tr -s ' '",
        "Mem:           8192           0        8192           0           0        8192\nSwap: 0 0 0\n",
        0,
    ),
    (
        "hexadecimal there and back",
        "printf 'Hello' | xxd -p; printf 48656c6c6f | xxd -r -p; printf 'abcdef' | xxd -l 3",
        "48656c6c6f\nHello00000000: 6162 63                                  abc\n",
        0,
    ),
    (
        "words of two bytes",
        "printf 'ab\\n' | hexdump; printf 'abcd' | hexdump -C -n 2",
        "0000000 6261 000a\n0000003\n00000000  61 62                                             |ab|\n00000002\n",
        0,
    ),
    (
        "bytes from a place on",
        "printf 'abcdef' | od -An -c -j 2 -N 3; printf 'ab' | od -A d -t d1; printf a | od -t z9 2>&1",
        "   c   d   e\n0000000   97   98\n0000002\nod: invalid type string 'z9'\n",
        1,
    ),
    (
        "sums of lists",
        "echo a >f; md5sum f >s; md5sum -c -s s; echo $?; echo b >f; md5sum -c -s s; echo $?; md5sum . 2>&1",
        "0\n1\nmd5sum: can't read '.': Is a directory\n",
        1,
    ),
    (
        "devices can't be made",
        "mknod d c 1 3 2>&1; mknod 2>/dev/null; echo $?",
        "mknod: d: Operation not permitted\n1\n",
        0,
    ),
    (
        "a file that isn't there has no link",
        "link nosuch g 2>&1; unlink nosuch 2>&1; echo a >f; link f g; cat g; link 2>/dev/null",
        (
            "link: can't create link 'g' to 'nosuch': No such file or directory\n"
            "unlink: can't remove file 'nosuch': No such file or directory\na\n"
        ),
        1,
    ),
    (
        "a job by its number",
        "sleep 50 & sleep 60 & kill %1 %%; wait; jobs | wc -l; jobs %9 2>&1; jobs %x 2>&1",
        "2\nsh: jobs: line 0: %9: no such job\nsh: jobs: line 0: %x: no such job\n",
        2,
    ),
    (
        "a script of a volume is run by its interpreter",
        "printf '#!/usr/bin/env python\\n' >s; printf '#!/opt/x\\n' >t; chmod +x s t; ./s 2>&1; ./t 2>&1",
        (
            "env: can't execute 'python': No such file or directory\n"
            "sh: ./t: not found (line 1: the simulation has no such program: say in simulate.yaml what it does)\n"
        ),
        127,
    ),
    (
        "options of a shell",
        "sh -o pipefail -c 'false | true'; echo $?; sh --norc -c 'echo a'; sh -c 2>&1; echo 'echo in' | sh -s",
        "1\na\nsh: -c requires an argument\nin\n",
        0,
    ),
    (
        "awk without random numbers",
        "awk 'BEGIN {srand(); print rand(), (systime() > 0), sqrt(16), 2^3, log(1), and(6,3)}'",
        "0 1 4 8 0 2\n",
        0,
    ),
    (
        "awk's own functions must be there",
        "awk 'BEGIN {f()}' 2>&1; awk 'BEGIN {a[1]; print a}' 2>&1; awk 'BEGIN {substr(1)}' 2>&1",
        (
            "awk: cmd. line:1: Call to undefined function\nawk: cmd. line:1: Not a scalar\n"
            "awk: cmd. line:1: Too few arguments\n"
        ),
        1,
    ),
    ("a shell by another name", "bash -c 'echo $0 $1' b c; dash -c 'exit 3'; echo $?", "b c\n3\n", 0),
    (
        "a directory by another word",
        "chdir /etc && pwd; ionice -c 3 echo low; ionice -c2 -n 7; ionice -t echo t",
        "/etc\nlow\nnone: prio 0\nt\n",
        0,
    ),
]

NETWORK = [
    (
        "a web server that isn't there",
        "curl http://127.0.0.1:81/ 2>&1",
        "curl: (7) Failed to connect to 127.0.0.1 port 81 after 0 ms: Could not connect to server\n",
        7,
    ),
    (
        "silence, but for errors",
        "curl -s nosuch; curl -sS nosuch 2>&1",
        "curl: (6) Could not resolve host: nosuch\n",
        6,
    ),
    (
        "an error of the server",
        "curl -fsS 127.0.0.1/none 2>&1; curl -s --fail-with-body 127.0.0.1/none | head -n 1",
        "curl: (22) The requested URL returned error: 404\n<HTML><HEAD><TITLE>404 Not Found</TITLE></HEAD>\n",
        0,
    ),
    (
        "what came, in a format",
        "curl -s -o out -w '%{http_code} %{size_download}\\n' 127.0.0.1/; cat out",
        "200 3\nok\n",
        0,
    ),
    ("the head", "curl -sI 127.0.0.1/ | grep -c HTTP; curl -si 127.0.0.1/ | tail -n 1", "1\nok\n", 0),
    ("what is sent", "curl -s -d k=v -d l=w -A me -H 'X-A: b' 127.0.0.1/cgi-bin/show", "POST k=v&l=w me b\n", 0),
    ("a way that leads on", "curl -sL 127.0.0.1/sub; wget -qO- 127.0.0.1/sub", "in\nin\n", 0),
    (
        "it tries again until something answers",
        "(sleep 2; httpd -f -p 8080 -h w) & curl -s --retry 5 --retry-connrefused --retry-delay 1 127.0.0.1:8080/",
        "ok\n",
        0,
    ),
    (
        "no answer in time",
        "sleep 60 | nc -l -p 98 >/dev/null & sleep 1; curl -sS -m 2 127.0.0.1:98 2>&1",
        "curl: (28) Operation timed out after 2000 milliseconds with 0 bytes received\n",
        28,
    ),
    (
        "a download takes its limit",
        "sleep 60 | nc -l -p 98 >/dev/null & sleep 1; wget -T 3 -qO- 127.0.0.1:98 2>&1",
        "wget: download timed out\n",
        1,
    ),
    ("curl needs an address", "curl 2>&1", "curl: try 'curl --help' for more information\n", 2),
    (
        "a file is sent",
        "echo -n body >f; wget -qO- --post-file f --header 'User-Agent: x' 127.0.0.1/cgi-bin/show",
        "POST body x \n",
        0,
    ),
    (
        "a program talks",
        "nc -l -p 97 -e cat & sleep 1; echo hi | nc -w 5 127.0.0.1 97; nc -zv 127.0.0.1 97 2>&1",
        "hi\nnc: 127.0.0.1 (127.0.0.1:97): Connection refused\n",
        1,
    ),
    (
        "a port is taken once",
        "nc -l -p 96 & sleep 1; nc -l -p 96 2>&1; nc nosuch 1 2>&1",
        "nc: bind: Address already in use\nnc: bad address 'nosuch'\n",
        1,
    ),
    (
        "routes and links",
        "ip route | cut -d. -f1; ip link show lo; ip link | wc -l; ip -o a | grep -c inet",
        "default via 10\n1: lo: <LOOPBACK,UP> mtu 65536\n2\n2\n",
        0,
    ),
    (
        "names",
        "nslookup nosuch 2>&1; nslookup 2>/dev/null; ping -c 1 10.0.0.1; ping nosuch 2>&1; ping 2>/dev/null",
        "nslookup: can't resolve 'nosuch'\n10.0.0.1 is unreachable\nping: bad address 'nosuch'\n",
        1,
    ),
]
SITE = (
    "mkdir -p w/sub w/cgi-bin; echo ok >w/index.html; echo in >w/sub/index.html; "
    "printf '#!/bin/sh\\necho; echo \"$REQUEST_METHOD $(cat) $HTTP_USER_AGENT $HTTP_X_A\"\\n' >w/cgi-bin/show; "
    "chmod +x w/cgi-bin/show; httpd -p 80 -h w; sleep 1; "
)


@pytest.mark.parametrize(("why", "script", "output", "code"), WORDS, ids=[row[0] for row in WORDS])
def test_a_word(why: str, script: str, output: str, code: int) -> None:
    shown = simulate(script)[0]
    assert (shown.stdout, shown.code) == (output, code)


@pytest.mark.parametrize(("why", "script", "output", "code"), NETWORK, ids=[row[0] for row in NETWORK])
def test_a_word_of_the_network(why: str, script: str, output: str, code: int) -> None:
    shown = simulate(SITE + script)[0]
    assert (shown.stdout, shown.code) == (output, code)


def test_every_word_is_tried() -> None:
    tried = [script for topic in topics() for script in scripts(topic)] + [row[1] for row in (*WORDS, *NETWORK)]
    words = set(re.split(r"[\s;|&(){}!`<>\"']+", "\n".join(tried)))
    assert {*APPLETS, *BUILTINS} - words == set()
