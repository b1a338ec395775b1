"""Containers that a node makes and can't start, where an engine already refuses to make them.

Each is made all the same, with a program that no engine can start, and has what a node would say in a label: it is
then a container whose start failed, to be seen, counted and removed like any other.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from runtime.docker import naming

if TYPE_CHECKING:
    from collections.abc import Mapping

    from runtime.api import ContainerConfig

Body = dict[str, Any]

_PROGRAM = ("/",)
"""A folder: no engine can run it."""
_UNMADE = re.compile(r"(?:mkdir:? |lstat \S*/merged)(?P<path>/[^:]*?)(?:: | is )not a directory")


def failure_of(config: ContainerConfig, refusal: str) -> str:
    """Return what an OCI runtime says of a container whose making an engine refused, empty where a node refuses too."""
    if config.working_dir and not posixpath.isabs(config.working_dir):
        return "Cwd must be an absolute path"
    if config.command and not config.command[0]:
        return 'unable to start container process: exec: "": executable file not found in $PATH'
    if match := _UNMADE.search(refusal):
        path = match["path"] if "lstat" not in match[0] else posixpath.dirname(match["path"])
        return f"unable to start container process: error during container init: mkdir {path}: not a directory"
    return ""


def body_with(body: Body, failure: str) -> Body:
    """Return the body that makes a container which fails to start with these words."""
    kept = {key: value for key, value in body.items() if key not in {"WorkingDir", "Cmd"}}
    text = f"OCI runtime create failed: runc create failed: {failure}"
    return kept | {"Entrypoint": list(_PROGRAM), "Labels": {**body["Labels"], naming.START_FAILURE_LABEL: text}}


def told(labels: Mapping[str, str] | None, text: str) -> str:
    """Return why a start failed: what a container was made to say, else the engine's text."""
    return (labels or {}).get(naming.START_FAILURE_LABEL, text)
