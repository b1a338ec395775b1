"""`describe` from its words to its page."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.describing import page_of, read_words
from kubelet_emu.cli.remote.words import Refusal

NOW = datetime(2026, 1, 1, tzinfo=UTC)

READ = [
    ("a name alone is a pod's", ("web",), ("Pod", "web")),
    ("a kind before it", ("job", "demo"), ("Job", "demo")),
    ("a kind and a name in one word", ("po/web",), ("Pod", "web")),
]
REFUSED = [
    ("no kind that is known", ("planet/x",), "doesn't have a resource type"),
    ("a kind that has no page", ("events", "x"), "one pod or one Job"),
    ("several names", ("pod", "a", "b"), "one pod or one Job"),
    ("words behind a whole one", ("pod/a", "b"), "one pod or one Job"),
]


@pytest.mark.parametrize(("why", "words", "expected"), READ, ids=[row[0] for row in READ])
def test_words_name_an_object(why: str, words: tuple[str, ...], expected: tuple[str, str]) -> None:
    assert read_words(words) == expected


@pytest.mark.parametrize(("why", "words", "told"), REFUSED, ids=[row[0] for row in REFUSED])
def test_other_words_are_refused(why: str, words: tuple[str, ...], told: str) -> None:
    with pytest.raises(Refusal, match=told):
        read_words(words)


def test_each_kind_has_its_page() -> None:
    pod = page_of("Pod", {"metadata": {"name": "p"}, "spec": {}}, None, NOW)
    job = page_of("Job", {"metadata": {"name": "j"}, "spec": {}}, [], NOW)

    assert "\nQoS Class:" in pod
    assert "\nPods Statuses:  0 Active / 0 Succeeded / 0 Failed\n" in job


def test_without_a_run_there_is_nothing_to_describe(tmp_path: object) -> None:
    result = CliRunner().invoke(main, ["describe", "web", "--root-dir", str(tmp_path)])

    assert result.exit_code == 2
