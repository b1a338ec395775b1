"""Every word that the simulation knows, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from runtime.simulated.shell.applets import (
    comparing,
    copying,
    dates,
    dumping,
    fields,
    files,
    listing,
    modes,
    moving,
    naming,
    output,
    paths,
    processes,
    sums,
    system,
    testing,
    text,
)
from runtime.simulated.shell.applets.curl import curl
from runtime.simulated.shell.applets.finding import find
from runtime.simulated.shell.applets.grep import grep
from runtime.simulated.shell.applets.httpd import httpd
from runtime.simulated.shell.applets.netcat import nc
from runtime.simulated.shell.applets.sed import sed
from runtime.simulated.shell.applets.sorting import sort
from runtime.simulated.shell.applets.wget import wget
from runtime.simulated.shell.applets.xargs import xargs
from runtime.simulated.shell.awk.run import awk
from runtime.simulated.shell.run import sh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.simulated.shell.applets.base import Applet

SHELLS = frozenset({"sh", "ash", "bash", "dash"})
_APPLETS: dict[str, Applet] = {
    **dict.fromkeys(sorted(SHELLS), sh),
    "[": testing.bracket,
    "[[": testing.double_bracket,
    "arch": system.arch,
    "awk": awk,
    "base64": sums.base64,
    "basename": paths.basename,
    "busybox": system.busybox,
    "cat": text.cat,
    "chgrp": modes.chown,
    "chmod": modes.chmod,
    "chown": modes.chown,
    "clear": system.clear,
    "cmp": comparing.cmp,
    "comm": comparing.comm,
    "cp": moving.cp,
    "curl": curl,
    "cut": fields.cut,
    "date": dates.date,
    "dd": copying.dd,
    "df": listing.df,
    "diff": comparing.diff,
    "dirname": paths.dirname,
    "du": listing.du,
    "echo": output.echo,
    "egrep": grep,
    "env": system.env,
    "expr": testing.expr,
    "fallocate": copying.fallocate,
    "false": processes.false,
    "fgrep": grep,
    "find": find,
    "fold": text.fold,
    "free": system.free,
    "grep": grep,
    "groups": system.groups,
    "head": text.head,
    "hexdump": dumping.hexdump,
    "hostname": system.hostname,
    "httpd": httpd,
    "id": system.id_,
    "ionice": processes.ionice,
    "ip": naming.ip,
    "kill": processes.kill,
    "killall": processes.killall,
    "link": moving.link,
    "ln": moving.ln,
    "ls": listing.ls,
    "md5sum": sums.checksum,
    "mkdir": files.mkdir,
    "mkfifo": files.mkfifo,
    "mknod": files.mknod,
    "mktemp": files.mktemp,
    "mount": system.mount,
    "mountpoint": system.mountpoint,
    "mv": moving.mv,
    "nc": nc,
    "nice": processes.nice,
    "nl": text.nl,
    "nohup": processes.run_given,
    "nproc": system.nproc,
    "nslookup": naming.nslookup,
    "od": dumping.od,
    "paste": text.paste,
    "pgrep": processes.pgrep,
    "pidof": processes.pidof,
    "ping": naming.ping,
    "pkill": processes.pkill,
    "printenv": system.printenv,
    "printf": output.printf,
    "ps": processes.ps,
    "pwd": system.pwd,
    "readlink": paths.readlink,
    "realpath": paths.realpath,
    "rev": text.rev,
    "rm": files.rm,
    "rmdir": files.rmdir,
    "sed": sed,
    "seq": output.seq,
    "setsid": processes.run_given,
    "sha1sum": sums.checksum,
    "sha256sum": sums.checksum,
    "sha512sum": sums.checksum,
    "sleep": processes.sleep,
    "sort": sort,
    "stat": modes.stat,
    "sync": system.sync,
    "tac": text.tac,
    "tail": text.tail,
    "tee": text.tee,
    "test": testing.test,
    "time": processes.time,
    "timeout": processes.timeout,
    "touch": files.touch,
    "tr": fields.tr,
    "true": processes.true,
    "truncate": copying.truncate,
    "tty": system.tty,
    "uname": system.uname,
    "uniq": fields.uniq,
    "unlink": moving.link,
    "uptime": system.uptime,
    "usleep": processes.usleep,
    "wc": text.wc,
    "wget": wget,
    "which": system.which,
    "whoami": system.whoami,
    "xargs": xargs,
    "xxd": dumping.xxd,
    "yes": output.yes,
}
APPLETS: Mapping[str, Applet] = MappingProxyType(_APPLETS)
WORDS = frozenset(APPLETS)
"""What busybox's images have."""
COMMON_WORDS = WORDS - {"httpd", "busybox", "ip", "nc", "ping"}
"""What an image that we know nothing of is taken to have, if it has a shell."""
