"""Record what busybox does with the scripts of fixtures/shell: `python tests/record_busybox.py [TOPIC]...`."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from shell_rows import comparable, record, scripts, topics
from two_shells import run_busybox


def main(names: list[str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        for topic in names or topics():
            rows = scripts(topic)
            record(topic, dict(zip(rows, map(comparable, pool.map(run_busybox, rows)), strict=True)))


if __name__ == "__main__":
    main(sys.argv[1:])
