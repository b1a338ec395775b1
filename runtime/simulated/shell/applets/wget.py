"""wget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio
from attrs import evolve

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, UsageError, options, tell
from runtime.simulated.shell.applets.http_client import REDIRECTS, BadAddressError, Request, fetch, target_of
from runtime.simulated.shell.applets.naming import address
from runtime.simulated.shell.applets.processes import duration

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.shell.applets.http_client import Response

_TIMEOUT = "900"
_LONG = {
    "spider": "s", "post-data": "B", "post-file": "F", "header": "H", "timeout": "T", "tries": "t",
    "no-check-certificate": "n", "quiet": "q", "output-document": "O", "no-verbose": "q", "user-agent": "U",
    "server-response": "S", "directory-prefix": "P", "continue": "c", "proxy": "Y",
}  # fmt: skip
_MAX_REDIRECTS = 5


async def wget(process: Process, name: str, arguments: list[str]) -> int:
    """Fetch a URL into a file, or to standard output with -O -."""
    taken = options(arguments, "qScs", "OTUtPYoBHF", _LONG)
    if not taken.rest:
        raise UsageError("[-cqS] [--spider] [-O FILE] [--header STR] [--post-data STR] [-P DIR] [-U AGENT] URL...")
    for url in taken.rest:
        await _download(process, url, taken)
    return 0


async def _download(process: Process, url: str, taken: Options) -> None:
    headers = tuple(header(each) for each in taken.lists.get("H", []))
    agent = (
        ()
        if any(key.lower() == "user-agent" for key, _ in headers)
        else (("User-Agent", taken.values.get("U", "Wget")),)
    )
    body = taken.values["B"].encode() if "B" in taken.values else None
    if "F" in taken.values:
        body = await access.read_path(process, taken.values["F"])
    request = Request(url, "GET" if body is None else "POST", (*headers, *agent), body)
    response: Response | None = None
    with trio.move_on_after(duration(taken.values.get("T", _TIMEOUT))):
        response = await _follow(process, request, taken)
    if response is None:
        raise AppletError("download timed out")
    if response.status >= 300 and response.status not in REDIRECTS:
        raise AppletError(f"server returned error: {response.status_line}")
    if not taken.has("s"):
        await _save(process, _path(url, taken), response.body, taken)
    elif not taken.has("q"):
        await tell(process, "remote file exists")


async def _follow(process: Process, request: Request, taken: Options) -> Response:
    for _ in range(_MAX_REDIRECTS):
        response = await _ask(process, request, taken)
        place = response.header("location")
        if response.status not in REDIRECTS or place is None:
            return response
        target = target_of(request.url)
        request = evolve(request, url=f"http://{target.header}{place}" if place.startswith("/") else place)
    raise AppletError("too many redirections")


async def _ask(process: Process, request: Request, taken: Options) -> Response:
    target = target_of(request.url)
    where = address(process, target.host)
    if where is not None and not taken.has("q"):
        await tell(process, f"Connecting to {target.header} ({where}:{target.port})")
    try:
        response = await fetch(process, request)
    except BadAddressError as error:
        raise AppletError(f"bad address '{error}'") from error
    except ConnectionResetError as error:
        raise AppletError("error getting response") from error
    except OSError as error:
        raise AppletError(f"can't connect to remote host ({where}): {error.strerror}") from error
    if taken.has("S"):
        lines = [response.status_line, *(f"{key}: {value}" for key, value in response.headers), ""]
        await tell(process, "\n".join(f"  {line}" for line in lines))
    return response


def _path(url: str, taken: Options) -> str:
    if "O" in taken.values:
        return taken.values["O"]
    name = target_of(url).path.partition("?")[0].rstrip("/").rsplit("/", 1)[-1] or "index.html"
    return f"{taken.values['P']}/{name}" if "P" in taken.values else name


async def _save(process: Process, path: str, data: bytes, taken: Options) -> None:
    is_output = path == "-"
    if not is_output and "O" not in taken.values and not taken.has("c") and access.get(process, path) is not None:
        raise AppletError(f"can't open '{path}': File exists")
    if not taken.has("q"):
        await tell(process, "writing to stdout" if is_output else f"saving to '{path}'")
    if is_output:
        await process.write(1, data)
    else:
        try:
            file = await access.open_file(process, path, "w")
        except OSError as error:
            raise AppletError(f"can't open '{path}': {error.strerror}") from error
        await file.write(data)
        file.release()
    if not taken.has("q"):
        name = path.rsplit("/", 1)[-1]
        await tell(process, f"{name:<20} 100% |{'*' * 32}| {len(data):5}  0:00:00 ETA")
        await tell(process, "written to stdout" if is_output else f"'{path}' saved")


def header(text: str) -> tuple[str, str]:
    """Return a header as a pair."""
    name, _, value = text.partition(":")
    return name.strip(), value.strip()
