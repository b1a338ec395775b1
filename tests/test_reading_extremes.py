"""Logs whose values are beyond all bounds: a fault with its line, never a traceback."""

from __future__ import annotations

from io import BytesIO

import pytest

from kubelet_emu.lifecycle.reading import ReadError, read_logs
from kubelet_emu.lifecycle.recounting import recount
from kubelet_emu.lifecycle.replaying import replay

HEADER = '{"t":0,"n":1,"kind":"header","epoch":"2026-01-01T00:00:00Z"}'
DEEP = '{"t":1,"n":1,"kind":"note","text":' + '{"a":' * 3000 + "1" + "}" * 3000 + "}"
OWN = [
    (HEADER, '{"t":Infinity,"n":2,"kind":"end"}', "beyond all calendars"),
    (HEADER, '{"t":1e308,"n":2,"kind":"end"}', "beyond all calendars"),
    (HEADER, '{"t":1e15,"n":2,"kind":"end"}', "beyond all calendars"),
    (HEADER, DEEP, "nested too deeply"),
    (HEADER.replace("2026", "9999"), '{"t":1,"n":2,"kind":"end"}', "is in no year"),
    (HEADER.replace("2026", "0001"), '{"t":1,"n":2,"kind":"end"}', "is in no year"),
]
TRACES = [
    ('{"t":1e308,"kind":"end"}', "beyond all calendars"),
    ('{"t":1,"kind":"run","pod":"p","container":"c","run":1,"what":"exit","code":"z"}', '"code" is no whole number'),
    ('{"t":1,"kind":"run","pod":"p","container":"c","run":1e308,"what":"start"}', '"run" is no whole number'),
]


def faults_of(text: str) -> str:
    """Return everything that is said of a log that can't be read, or not whole."""
    try:
        log = read_logs([BytesIO(text.encode())])
    except ReadError as error:
        return str(error)
    recount(log)
    return "\n".join(fault.text for fault in log.faults)


@pytest.mark.parametrize(("header", "line", "text"), OWN, ids=[row[1][:40] for row in OWN])
def test_a_lifecycle_log_beyond_all_bounds_has_a_fault(header: str, line: str, text: str) -> None:
    assert text in faults_of(f"{header}\n{line}\n")


@pytest.mark.parametrize(("line", "text"), TRACES, ids=[row[1] for row in TRACES])
def test_a_trace_beyond_all_bounds_has_a_fault(line: str, text: str) -> None:
    good = '{"t":0,"kind":"status","pod":"p","phase":"Pending","conditions":{},"containers":{}}'
    log = read_logs([BytesIO(f"{good}\n{line}\n".encode())])
    assert [text in fault.text for fault in log.faults] == [True]
    recount(log)


@pytest.mark.parametrize("value", ['{"main": []}', "1e308", "3"])
def test_a_sync_whose_input_has_another_shape_is_skipped_with_the_reason(value: str) -> None:
    sync = f'{{"t":1,"pod":"u","name":"ns/p","n":1,"kind":"sync","step":"sync","sync":1,"input":{{"probes":{value}}}}}'
    found = replay(read_logs([BytesIO(f"{HEADER}\n{sync}\n".encode())]).entries)
    assert found.syncs == 0
    assert len(found.skipped) == 1
