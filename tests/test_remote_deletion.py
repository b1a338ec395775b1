"""Which pods `delete` is about: by name, by label, or all of a namespace."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner
from given_run import Given

from kubelet_emu.cli.main import main
from kubelet_emu.cli.remote.acting import Deletion, names_of
from kubelet_emu.cli.remote.selectors import ANY, read_selector


def a_pod(name: str, **labels: str) -> dict[str, object]:
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "default", "labels": labels}}


RUN = Given([a_pod("web-2", app="web"), a_pod("web-1", app="web"), a_pod("db")], datetime(2026, 1, 1, tzinfo=UTC))
MEANT = [
    ("by name, there or not", Deletion(names=("x", "db")), "x db"),
    ("by label", Deletion(labels=read_selector("app in (web)")), "web-1 web-2"),
    ("by a label that isn't there", Deletion(labels=read_selector("!app")), "db"),
    ("all", Deletion(labels=ANY), "db web-1 web-2"),
]


@pytest.mark.parametrize(("why", "deletion", "names"), MEANT, ids=[row[0] for row in MEANT])
async def test_pods_are_meant(why: str, deletion: Deletion, names: str) -> None:
    assert await names_of(RUN, "default", deletion) == tuple(names.split()), why


async def test_where_none_is_meant_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert await names_of(RUN, "default", Deletion(labels=read_selector("x"))) == ()
    assert capsys.readouterr().err == "No resources found\n"


REFUSED = [
    ([], "resource(s) were provided, but no name was specified"),
    (["pod"], "resource(s) were provided, but no name was specified"),
    (["web", "-l", "app"], "name cannot be provided when a selector is specified, nor with --all"),
    (["web", "--all"], "name cannot be provided when a selector is specified, nor with --all"),
    (["-l", "a=("], '-l "a=(": "(" where a value should be'),
]


@pytest.mark.parametrize(("words", "told"), REFUSED, ids=[" ".join(row[0]) for row in REFUSED])
def test_other_words_are_refused(words: list[str], told: str) -> None:
    result = CliRunner().invoke(main, ["delete", *words])
    assert result.exit_code == 1
    assert told in result.output
