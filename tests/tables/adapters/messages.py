"""Table `messages`: texts that users know, matched against the catalogue of our own.

A row is known by its text, not by its key: the text must be one that we write, its placeholders quoted where we quote
them. Event reasons must be ours too.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any

from table_rows import TableError

from kubelet_emu.api import reasons, reasons_configuration, reasons_creation, reasons_images, reasons_node
from kubelet_emu.rules.disruption import ContainerUsage, pressure_eviction_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from table_rows import Fields

PLAIN, QUOTED = "{}", '"{}"'
# Fields of our templates that are filled with Go's %q, and the templates where they are not.
QUOTED_FIELDS = {"image", "volume", "medium"}
UNQUOTED_IMAGE = {reasons_images.REGISTRY_IS_UNAVAILABLE, reasons_images.SIGNATURE_IS_INVALID}
QUOTED_HERE = {
    reasons_creation.OBJECT_NOT_FOUND: {"name"},
    reasons_creation.ENV_FILE_KEY_NOT_FOUND: {"key", "path"},
    reasons_creation.VOLUME_TO_MOUNT_NOT_FOUND: {"volume", "container"},
    reasons_creation.SUB_PATH_NOT_PREPARED: {"volume", "container"},
}
WORDS = {
    reasons_creation.OBJECT_NOT_FOUND: [{"kind": "configmap"}, {"kind": "secret"}],
    reasons_creation.KEY_NOT_FOUND: [{"kind": "ConfigMap"}, {"kind": "Secret"}],
    reasons_creation.HOST_PATH_TYPE_CHECK_FAILED: [
        {"kind": kind} for kind in ("directory", "file", "socket file", "character device", "block device")
    ],
    reasons_images.FAILED_TO_INSPECT_IMAGE: [{"image": '""'}],
    reasons_images.FAILED_TO_APPLY_DEFAULT_TAG: [
        {"error": reasons_images.COULD_NOT_PARSE_IMAGE_NAME.format(image=QUOTED, error=PLAIN)}
    ],
}
POD = '"{}_{}({})"'


def check(row: Fields, shared: Mapping[str, Any]) -> None:
    for key in ("key", "kind", "type", "object", "where", "when"):
        row.take(key, None)
    reason = row.take("reason", None)
    template = re.sub(r"\{[\w|]+\}", PLAIN, row.take("template"))
    known = set(_catalogue())
    if template not in known:
        raise TableError(f"no text of ours reads {template!r}")
    if reason is not None and reason not in known and not reason.startswith("OutOf"):
        raise TableError(f"no reason of ours is {reason!r}")


def _catalogue() -> Iterator[str]:
    """Yield every text of the modules `reasons`, with `{}` where something is filled in."""
    for module in (reasons, reasons_configuration, reasons_creation, reasons_images, reasons_node):
        for value in vars(module).values():
            if isinstance(value, str):
                yield from _of_template(value)
            elif (
                inspect.isfunction(value) and value.__module__ == module.__name__ and not value.__name__.startswith("_")
            ):
                yield from _of_function(value)
    for reason in reasons_node.PREDICATE_MESSAGES:
        yield reasons_node.predicate_failed(reason)
    for resource in ("cpu", "memory", "ephemeral-storage", "pods"):
        yield reasons_node.not_enough(resource, -1, -1, -1).replace("-1", PLAIN)
    yield reasons_node.cannot_enforce_apparmor("AppArmor is not enabled on the host")
    unable = reasons_creation.UNABLE_TO_MOUNT_VOLUMES.format(
        unmounted=PLAIN, unattached=PLAIN, failed=PLAIN, error=PLAIN
    )
    yield f"Unable to attach or mount volumes: {unable}"
    for what in (reasons.RESIZE_IS_STARTED, reasons.RESIZE_IS_COMPLETED, reasons.RESIZE_HAS_FAILED):
        yield reasons.pod_resize(what, PLAIN)
    usage = ContainerUsage(container=PLAIN, usage=PLAIN, request=PLAIN)
    yield pressure_eviction_status(PLAIN, (PLAIN, PLAIN), (usage,)).message
    yield f"{reasons_images.BACK_OFF_PULLING.format(image=QUOTED)}: {PLAIN}: {PLAIN}"


def _of_template(template: str) -> Iterator[str]:
    names = set(re.findall(r"\{(\w+)\}", template))
    quoted = QUOTED_HERE.get(template, QUOTED_FIELDS - ({"image"} if template in UNQUOTED_IMAGE else set()))
    values = {name: QUOTED if name in quoted else PLAIN for name in names}
    if "pod" in names:
        values["pod"] = POD
    for words in WORDS.get(template, [{}]):
        yield template.format(**{**values, **words}) if names else template


def _of_function(function: Callable[..., str]) -> Iterator[str]:
    parameters = inspect.signature(function).parameters.values()
    if any(
        parameter.annotation in {"int", "float"} or parameter.kind is parameter.KEYWORD_ONLY for parameter in parameters
    ):
        return
    arguments = [[PLAIN] if "Sequence" in str(parameter.annotation) else PLAIN for parameter in parameters]
    try:
        yield function(*arguments)
    except KeyError:  # a function over a closed set of reasons
        return
