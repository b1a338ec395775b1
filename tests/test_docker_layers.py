"""Files of an image read from its layers: what hides what, and what is never followed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from runtime.docker.layers import image_layers, read_files

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ("passwd", "group")


def a_layer(folder: Path, name: str, users: str = "", group: str = "") -> str:
    """Make a layer whose /etc has these files."""
    etc = folder / name / "etc"
    etc.mkdir(parents=True)
    for file, text in (("passwd", users), ("group", group)):
        if text:
            (etc / file).write_text(text)
    return str(folder / name)


def read(*layers: str) -> tuple[bytes, ...] | None:
    return read_files(layers, "etc", NAMES, 100)


def test_the_uppermost_file_counts(tmp_path: Path) -> None:
    top = a_layer(tmp_path, "top", users="new")
    (tmp_path / "bare").mkdir()
    base = a_layer(tmp_path, "base", users="old", group="base")
    assert read(top, str(tmp_path / "bare"), base) == (b"new", b"base")
    assert read(str(tmp_path / "bare")) == (b"", b"")


def test_a_long_file_is_cut(tmp_path: Path) -> None:
    assert read(a_layer(tmp_path, "one", users="x" * 200)) == (b"x" * 100, b"")


def test_a_link_a_pipe_or_a_folder_is_none_of_our_matter(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    for kind in ("link", "pipe", "folder"):
        base = a_layer(tmp_path, kind)
        path = tmp_path / kind / "etc" / "passwd"
        match kind:
            case "link":
                path.symlink_to(secret)
            case "pipe":
                os.mkfifo(path)
            case _:
                path.mkdir()
        assert read(base) is None, kind
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "etc").symlink_to(tmp_path)
    assert read(str(tmp_path / "linked")) is None


def test_layers_that_are_not_here_tell_nothing(tmp_path: Path) -> None:
    assert read() is None
    assert read(str(tmp_path / "elsewhere")) is None


@pytest.mark.skipif(os.geteuid() != 0, reason="what removes a file is a device, and only root makes one")
def test_what_a_layer_removes_is_gone(tmp_path: Path) -> None:
    base = a_layer(tmp_path, "base", users="old", group="base")
    top = a_layer(tmp_path, "top")
    try:
        os.mknod(tmp_path / "top" / "etc" / "passwd", 0o20000, os.makedev(0, 0))
        os.setxattr(tmp_path / "top" / "etc", "trusted.overlay.opaque", b"n")
    except OSError as error:
        pytest.skip(f"this file system has none of that: {error}")
    assert read(top, base) == (b"", b"base")
    os.setxattr(tmp_path / "top" / "etc", "trusted.overlay.opaque", b"y")
    assert read(top, base) == (b"", b"")


@pytest.mark.parametrize(
    ("why", "driver", "layers"),
    [
        ("none that is known", None, ()),
        ("another driver", {"Name": "vfs", "Data": None}, ()),
        (
            "an image's, without what the engine adds",
            {"Data": {"LowerDir": "/o/a-init/diff:/o/b:/o/c"}},
            ("/o/b", "/o/c"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_layers_of_an_image(why: str, driver: object, layers: tuple[str, ...]) -> None:
    assert image_layers({"GraphDriver": driver}) == layers, why
