"""Every word that the simulation knows, by name."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from runtime.simulated.shell.applets import (
    copying,
    fetching,
    files,
    listing,
    output,
    paths,
    processes,
    search,
    serving,
    sorting,
    system,
    testing,
    text,
)
from runtime.simulated.shell.applets.sed import sed
from runtime.simulated.shell.run import sh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.simulated.shell.applets.base import Applet

SHELLS = frozenset({"sh", "ash", "bash", "dash"})
_APPLETS: dict[str, Applet] = {
    **dict.fromkeys(sorted(SHELLS), sh),
    "[": testing.bracket,
    "[[": testing.double_bracket,
    "base64": search.base64,
    "basename": paths.basename,
    "busybox": system.busybox,
    "cat": text.cat,
    "chgrp": files.chown,
    "chmod": files.chmod,
    "chown": files.chown,
    "cp": files.cp,
    "curl": fetching.curl,
    "cut": text.cut,
    "date": system.date,
    "dd": copying.dd,
    "df": listing.df,
    "dirname": paths.dirname,
    "du": listing.du,
    "echo": output.echo,
    "egrep": search.grep,
    "env": system.env,
    "expr": testing.expr,
    "fallocate": copying.fallocate,
    "false": processes.false,
    "fgrep": search.grep,
    "find": listing.find,
    "grep": search.grep,
    "head": text.head,
    "hostname": system.hostname,
    "httpd": serving.httpd,
    "id": system.id_,
    "ip": fetching.ip,
    "kill": processes.kill,
    "killall": processes.killall,
    "ln": files.ln,
    "ls": listing.ls,
    "md5sum": search.checksum,
    "mkdir": files.mkdir,
    "mkfifo": files.mkfifo,
    "mktemp": files.mktemp,
    "mv": files.mv,
    "nc": fetching.nc,
    "nice": processes.run_given,
    "nl": text.nl,
    "nohup": processes.run_given,
    "nproc": system.nproc,
    "nslookup": fetching.nslookup,
    "pgrep": processes.pgrep,
    "pidof": processes.pidof,
    "ping": fetching.ping,
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
    "sha1sum": search.checksum,
    "sha256sum": search.checksum,
    "sha512sum": search.checksum,
    "sleep": processes.sleep,
    "sort": sorting.sort,
    "stat": files.stat,
    "sync": system.sync,
    "tac": text.tac,
    "tail": text.tail,
    "tee": text.tee,
    "test": testing.test,
    "time": processes.run_given,
    "timeout": processes.timeout,
    "touch": files.touch,
    "tr": text.tr,
    "true": processes.true,
    "truncate": copying.truncate,
    "uname": system.uname,
    "uniq": text.uniq,
    "uptime": system.uptime,
    "usleep": processes.usleep,
    "wc": text.wc,
    "wget": fetching.wget,
    "which": system.which,
    "whoami": system.whoami,
    "xargs": search.xargs,
    "yes": output.yes,
}
APPLETS: Mapping[str, Applet] = MappingProxyType(_APPLETS)
WORDS = frozenset(APPLETS)
"""What busybox's images have."""
COMMON_WORDS = WORDS - {"httpd", "busybox", "ip", "nc", "ping"}
"""What an image that we know nothing of is taken to have, if it has a shell."""
