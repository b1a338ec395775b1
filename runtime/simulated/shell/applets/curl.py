"""curl."""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from runtime.simulated import access
from runtime.simulated.shell.applets.base import AppletError, complain, options, put
from runtime.simulated.shell.applets.http_client import BadAddressError, Request, fetch, follow, target_of
from runtime.simulated.shell.applets.wget import header
from runtime.simulated.shell.escapes import unescape

if TYPE_CHECKING:
    from runtime.simulated.process import Process
    from runtime.simulated.shell.applets.base import Options
    from runtime.simulated.shell.applets.http_client import Response

_LONG = {
    "silent": "s", "show-error": "S", "fail": "f", "location": "L", "insecure": "k", "output": "o", "request": "X",
    "data": "d", "header": "H", "head": "I", "max-time": "m", "include": "i", "write-out": "w", "verbose": "v",
    "connect-timeout": "C", "retry": "R", "retry-delay": "D", "retry-max-time": "M", "data-raw": "d",
    "data-binary": "d",
    "user-agent": "A", "url": "U", "fail-with-body": "F", "retry-connrefused": "r", "no-progress-meter": "N",
    "ipv4": "4", "http1.1": "1", "noproxy": "x", "retry-all-errors": "r",
}  # fmt: skip
_FAILED_WRITE, _NO_NAME, _NO_CONNECTION, _HTTP_ERROR, _TIMEOUT, _EMPTY = 23, 6, 7, 22, 28, 52
_AGAIN = frozenset({_TIMEOUT, _NO_CONNECTION})
_RETRY_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


async def curl(process: Process, name: str, arguments: list[str]) -> int:
    """Fetch URLs with curl's exit codes: 6 name, 7 connection, 22 HTTP error with -f, 28 time, 52 empty answer."""
    taken = options(arguments, "sSfFLkIivNgr41", "oXdHmwACRDMUux", _LONG)
    urls = [*taken.lists.get("U", []), *taken.rest]
    if not urls:
        raise AppletError("try 'curl --help' for more information", 2)
    code = 0
    for url in urls:
        code = await _with_retries(process, url, taken)
    return code


async def _with_retries(process: Process, url: str, taken: Options) -> int:
    left = int(taken.values.get("R", "0"))
    pause = 1.0
    while True:
        code, text, response = await _attempt(process, url, taken)
        is_late = code == _TIMEOUT or (code == _NO_CONNECTION and taken.has("r"))
        if not left or not (is_late or (response is not None and response.status in _RETRY_STATUSES)):
            break
        left -= 1
        await process.sleep(float(taken.values.get("D", pause)))
        pause *= 2
    if response is not None and (not code or taken.has("F")):
        await _show(process, taken, response)
    if code and (not taken.has("s") or taken.has("S")):
        await complain(process, "curl", f"({code}) {text}")
    return code


async def _attempt(process: Process, url: str, taken: Options) -> tuple[int, str, Response | None]:
    """Return an exit code with its text, and the response if there is one."""
    bodies = taken.lists.get("d")
    body = None if bodies is None else "&".join(bodies).encode()
    method = taken.values.get("X") or ("HEAD" if taken.has("I") else "GET" if body is None else "POST")
    own = tuple(header(each) for each in taken.lists.get("H", []))
    request = Request(url, method, (("User-Agent", taken.values.get("A", "curl/8")), ("Accept", "*/*"), *own), body)
    try:
        with trio.fail_after(float(taken.values.get("m", "inf"))):
            response = await (follow if taken.has("L") else fetch)(process, request)
    except trio.TooSlowError:
        milliseconds = float(taken.values["m"]) * 1000
        return _TIMEOUT, f"Operation timed out after {milliseconds:.0f} milliseconds with 0 bytes received", None
    except BadAddressError as error:
        return _NO_NAME, f"Could not resolve host: {error}", None
    except ConnectionResetError:
        return _EMPTY, "Empty reply from server", None
    except OSError:
        target = target_of(url)
        text = f"Failed to connect to {target.host} port {target.port} after 0 ms: Could not connect to server"
        return _NO_CONNECTION, text, None
    if taken.has("f", "F") and response.status >= 400:
        return _HTTP_ERROR, f"The requested URL returned error: {response.status}", response
    return 0, "", response


async def _show(process: Process, taken: Options, response: Response) -> None:
    head = f"{response.status_line}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in response.headers) + "\r\n"
    data = (head.encode() if taken.has("i", "I") else b"") + response.body
    path = taken.values.get("o", "-")
    if path == "-":
        await process.write(1, data)
    else:
        file = await access.open_file(process, path, "w")
        await file.write(data)
        file.release()
    if "w" in taken.values:
        values = {"http_code": response.status, "response_code": response.status, "size_download": len(response.body)}
        text = unescape(taken.values["w"])[0]
        for name, value in values.items():
            text = text.replace(f"%{{{name}}}", f"{value}")
        await put(process, text)
