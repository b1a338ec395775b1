"""Where in a log the record of a moment is: the one nearest in time of those about its pod and its container."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kubelet_emu.lifecycle.log import Place
    from kubelet_emu.lifecycle.raw_records import Interval


@define(eq=False)
class Places:
    """The places of a log, by pod."""

    _of_pod: dict[str, list[Place]] = field(factory=dict, init=False)

    @classmethod
    def of(cls, places: Iterable[Place]) -> Places:
        """Return places ready to be asked."""
        made = cls()
        for place in places:
            made._of_pod.setdefault(place.pod, []).append(place)
        return made

    def of_moment(self, pod: str, moment: Interval) -> Place | None:
        """Return where a moment of a pod is told, None where nothing of the pod is in a file.

        A moment begins or ends at the time of its record. Of records that are as near, one about a container that the
        moment's label names is taken, then the first.
        """
        names = set(moment.label.replace("#", " ").split())

        def distance(place: Place) -> tuple[float, bool]:
            away = min(abs(place.at - moment.low), abs(place.at - moment.high))
            return round(away, 6), place.container not in names

        return min(self._of_pod.get(pod, ()), key=distance, default=None)
