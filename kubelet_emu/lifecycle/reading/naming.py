"""Whose lines a container log holds: told by `--name`, or by the folders that a kubelet puts logs in.

Source: kubelet v1.36 kuberuntime/helpers.go BuildContainerLogsDirectory, buildContainerLogsPath, legacyLogSymlink.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAME = r"[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?"
_PODS_PATH = re.compile(rf"(?:^|/)({_NAME})_({_NAME})_([^/_]+)/({_NAME})/(\d+)\.log[^/]*$")
_LINK_NAME = re.compile(rf"(?:^|/)({_NAME})_({_NAME})_({_NAME})-([0-9a-f]{{64}})\.log[^/]*$")
_DOCKER_ID = re.compile(r"([0-9a-f]{12})[0-9a-f]{52}(?:-json)?$")


@frozen
class ContainerName:
    """A container of a pod and one of its runs; `pod` is empty and `run` 0 where that isn't known."""

    pod: str = ""
    container: str = ""
    run: int = 0


@frozen(kw_only=True)
class GivenName:
    """`--name [FILE=]POD/CONTAINER[#RUN]`; an empty `file` means every file that names no container itself."""

    file: str = ""
    name: ContainerName

    @classmethod
    def parse(cls, text: str) -> GivenName:
        """Read what the user wrote; ValueError."""
        file, _, whose = text.rpartition("=")
        whose, _, run = whose.partition("#")
        pod, slash, container = whose.partition("/")
        if not slash or not pod or not container or (run and not run.isdecimal()):
            raise ValueError(f"{text!r} is not [FILE=]POD/CONTAINER[#RUN]")
        return cls(file=file, name=ContainerName(pod, container, int(run or 0)))


def name_of_file(file: str, given: Iterable[GivenName] = ()) -> ContainerName:
    """Return whose log a file is: what was given for it, what its folders say, else its own name as the container."""
    for each in given:
        if each.file and (each.file == file or Path(each.file).name == Path(file).name):
            return each.name
    told = _by_path(file) or _by_path(str(Path(file).resolve()))
    if told is not None:
        return told
    for each in given:
        if not each.file:
            return each.name
    return ContainerName(container=_stem(file))


def _by_path(file: str) -> ContainerName | None:
    if found := _PODS_PATH.search(file):
        _namespace, pod, _uid, container, number = found.groups()
        return ContainerName(pod, container, int(number) + 1)
    if found := _LINK_NAME.search(file):
        pod, _namespace, container, _id = found.groups()
        return ContainerName(pod, container)
    return None


def _stem(file: str) -> str:
    name = Path(file).name.strip("<>")
    for suffix in (".gz", ".log", ".json", ".txt"):
        name = name.removesuffix(suffix)
    found = _DOCKER_ID.match(name)
    return found[1] if found else name or "container"
