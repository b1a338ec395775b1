"""An in-memory store of API objects, as the kubelet and the controllers see the API server."""

from kubelet_emu.apiserver.errors import AlreadyExistsError, APIError, ConflictError, InvalidError, NotFoundError
from kubelet_emu.apiserver.objects import APIObject, ObjectKey
from kubelet_emu.apiserver.store import APIServer
from kubelet_emu.apiserver.watches import WatchEvent, WatchEventType

__all__ = [
    "APIError",
    "APIObject",
    "APIServer",
    "AlreadyExistsError",
    "ConflictError",
    "InvalidError",
    "NotFoundError",
    "ObjectKey",
    "WatchEvent",
    "WatchEventType",
]
