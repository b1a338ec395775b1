"""What the header of a lifecycle log tells of a kubelet's configuration: all that a judge of the log has to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kubelet_emu.config.kubelet_configuration import KubeletConfiguration

if TYPE_CHECKING:
    from collections.abc import Mapping

SERIALIZE, PARALLEL, PERIOD = "serializeImagePulls", "maxParallelImagePulls", "maxContainerRestartPeriodSeconds"


def tell(configuration: KubeletConfiguration) -> Mapping[str, object]:
    """Return the fields for a header; what is not set is left out."""
    fields = {
        SERIALIZE: configuration.serialize_image_pulls,
        PARALLEL: configuration.max_parallel_image_pulls,
        PERIOD: configuration.max_container_restart_period_seconds,
    }
    return {key: value for key, value in fields.items() if value is not None}


def hear(fields: Mapping[str, object]) -> KubeletConfiguration | None:
    """Return the configuration that a header tells of, None for a header that tells none that makes sense."""
    is_serial, most, period = fields.get(SERIALIZE), fields.get(PARALLEL), fields.get(PERIOD)
    if not isinstance(is_serial, bool):
        return None
    return KubeletConfiguration(
        serialize_image_pulls=is_serial,
        max_parallel_image_pulls=most if isinstance(most, int) and most > 0 else None,
        max_container_restart_period_seconds=float(period) if isinstance(period, int | float) and period > 0 else None,
    )
