"""What a request to the API server can fail with; texts are the API server's own."""

from __future__ import annotations

_RESOURCE_OF_KIND = {
    "ConfigMap": "configmaps",
    "CronJob": "cronjobs.batch",
    "DaemonSet": "daemonsets.apps",
    "Deployment": "deployments.apps",
    "Job": "jobs.batch",
    "Pod": "pods",
    "ReplicaSet": "replicasets.apps",
    "Secret": "secrets",
    "Service": "services",
    "StatefulSet": "statefulsets.apps",
}


def resource_of(kind: str) -> str:
    """Return the resource name that messages use for a kind."""
    return _RESOURCE_OF_KIND.get(kind, kind.lower() + "s")


class APIError(Exception):
    """A request was refused; `kind`, `namespace` and `name` say which object it was about."""

    def __init__(self, message: str, *, kind: str, namespace: str, name: str) -> None:
        """Keep the object beside the message."""
        super().__init__(message)
        self.kind = kind
        self.namespace = namespace
        self.name = name


class AlreadyExistsError(APIError):
    """The name is taken."""

    def __init__(self, kind: str, namespace: str, name: str) -> None:
        """Make the message from the object's name."""
        message = f'{resource_of(kind)} "{name}" already exists'
        super().__init__(message, kind=kind, namespace=namespace, name=name)


class NotFoundError(APIError):
    """There is no such object."""

    def __init__(self, kind: str, namespace: str, name: str) -> None:
        """Make the message from the object's name."""
        message = f'{resource_of(kind)} "{name}" not found'
        super().__init__(message, kind=kind, namespace=namespace, name=name)


class ConflictError(APIError):
    """The object is not the one that the request means (another uid)."""

    def __init__(self, kind: str, namespace: str, name: str, *, wanted: str, found: str) -> None:
        """Make the message from both uids."""
        message = (
            f'Operation cannot be fulfilled on {resource_of(kind)} "{name}": Precondition failed: '
            f"UID in precondition: {wanted}, UID in object meta: {found}"
        )
        super().__init__(message, kind=kind, namespace=namespace, name=name)


class InvalidError(APIError):
    """The request would make an object that may not be; `causes` are the single faults."""

    def __init__(self, kind: str, namespace: str, name: str, causes: tuple[str, ...]) -> None:
        """Make the message from the causes."""
        text = causes[0] if len(causes) == 1 else f"[{', '.join(causes)}]"
        group = resource_of(kind).partition(".")[2]
        full_kind = f"{kind}.{group}" if group else kind
        super().__init__(f'{full_kind} "{name}" is invalid: {text}', kind=kind, namespace=namespace, name=name)
        self.causes = causes
