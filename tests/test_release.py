"""A release: its notes come from the changelog, bill and checksums fit, and the first step that fails ends it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import release

from fibsbot.version import __version__

ROOT: Final = Path(__file__).parent.parent
CHANGELOG: Final = """\
# Changelog

## Unreleased

Later.

## 1.1.0 (2027-02-01)

### Bot

- More.

## [1.0.0] - 2027-01-01

The first.
"""


def test_notes_are_the_text_of_the_version() -> None:
    assert "### Bot\n\n- More.\n" == release.notes(CHANGELOG, "1.1.0")
    assert "The first.\n" == release.notes(CHANGELOG, "1.0.0", draft=True)
    assert "Later.\n" == release.notes(CHANGELOG, "1.2.0", draft=True)


@pytest.mark.parametrize(
    ("changelog", "version", "told"),
    [
        (CHANGELOG, "1.2.0", "expected text below a heading '## 1.2.0', found Unreleased, 1.1.0, 1.0.0"),
        ("# Changelog\n", "1.0.0", "expected text below a heading '## 1.0.0', found none"),
        ("## 1.0.0\n\n## 0.9.0\n\nOld.\n", "1.0.0", "expected text below a heading '## 1.0.0', found 1.0.0, 0.9.0"),
    ],
)
def test_without_notes_there_is_no_release(changelog: str, version: str, told: str) -> None:
    with pytest.raises(release.StepError) as raised:
        release.notes(changelog, version)
    assert f"CHANGELOG.md: {told}" == str(raised.value)


def test_the_changelog_has_notes_for_this_version() -> None:
    assert release.notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__, draft=True)


def test_the_bill_of_materials_has_our_version_and_no_path_of_this_machine() -> None:
    """cyclonedx-py takes the version from a static one of pyproject.toml, and names the file that was installed."""
    page = {"type": "website", "url": "https://www.attrs.org/"}
    components = [
        {"name": "attrs", "externalReferences": [page]},
        {
            "name": "fibs-protocol",
            "externalReferences": [{"type": "distribution", "url": "file:///home/me/dist/a.whl"}],
        },
    ]
    text = json.dumps({"metadata": {"component": {"name": "fibsbot"}}, "components": components})
    bill = json.loads(release.complete_bill(text, "1.0.0"))
    assert {"name": "fibsbot", "version": "1.0.0", "purl": "pkg:pypi/fibsbot@1.0.0"} == bill["metadata"]["component"]
    assert [{"name": "attrs", "externalReferences": [page]}, {"name": "fibs-protocol"}] == bill["components"]


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="needs sha256sum")
def test_checksums_are_those_of_all_files_and_find_a_change(tmp_path: Path) -> None:
    for name, content in (("b.whl", b"wheel"), ("a b.tar.gz", b"sources"), (release.SUMS, b"old")):
        (tmp_path / name).write_bytes(content)
    text = release.checksums(tmp_path)
    (tmp_path / release.SUMS).write_text(text)
    expected = [(hashlib.sha256(b"sources").hexdigest(), "a b.tar.gz"), (hashlib.sha256(b"wheel").hexdigest(), "b.whl")]
    assert expected == [tuple(line.split("  ", 1)) for line in text.splitlines()]
    words = ["sha256sum", "--check", "--strict", release.SUMS]
    assert 0 == subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode
    (tmp_path / "b.whl").write_bytes(b"another")
    assert 1 == subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode


def test_the_first_step_that_fails_ends_it_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_release: release.Release) -> None:
        release.run(sys.executable, "-c", "raise SystemExit(3)")

    monkeypatch.setattr(release, "STEPS", {"one": lambda _: None, "two": fail, "three": pytest.fail})
    monkeypatch.setattr(sys, "argv", ["release.py", "--draft"])
    assert 1 == release.main()
    printed = capsys.readouterr()
    assert f"release: two: {sys.executable} -c raise SystemExit(3): exit status 3\n" == printed.err
    assert "== one\n== two\n" == printed.out
