"""Makes a release in `dist/`: all that is published, each part installed where nothing is and a match played with it.

In the end there are the wheels, the sources, the container's image, the bill of materials (CycloneDX), the notes from
the changelog, and `SHA256SUMS` of all these. The first step that fails ends it with one line and exit status 1.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import fibs_protocol
from fibsbot.version import __version__

ROOT: Final = Path(__file__).resolve().parents[1]
DIST: Final = ROOT / "dist"
SUMS: Final = "SHA256SUMS"
UNRELEASED: Final = "Unreleased"
MATCH: Final = ("demo", "--length", "1")
LIMIT: Final = 600
"""Seconds that a match may take, with all that is compiled before it."""
BUILDERS: Final = ("docker", "podman", "buildah")
"""Programs that make images; the first that works is taken."""
NO: Final = "no"


class StepError(Exception):
    """A step that failed; the text says what was expected and what came."""


@dataclass(frozen=True)
class Release:
    """What is to be made."""

    platforms: Sequence[str]
    """Names of those that get a wheel of their own; all if there are none."""
    draft: bool
    """Whether this is for trying: with uncommitted changes, and notes that have no version yet."""
    builder: str
    """Program that makes the image, or `no`; if empty, the first of `BUILDERS` that works."""
    folder: Path
    """Where environments are made."""


# -- notes, bill of materials, checksums -------------------------------------------------------------------------------


def notes(changelog: str, version: str, *, draft: bool = False) -> str:
    """Return what the changelog says about a version, without the heading; a draft may still be unreleased.

    Raises StepError if there is nothing.
    """
    found = {}
    for section in re.split(r"^## +", changelog, flags=re.MULTILINE)[1:]:
        title, _, text = section.partition("\n")
        found[title.split(" ")[0].strip("[]")] = text.strip()
    for name in (version, *([UNRELEASED] if draft else [])):
        if found.get(name):
            return found[name] + "\n"
    raise StepError(f"CHANGELOG.md: expected text below a heading '## {version}', found {', '.join(found) or 'none'}")


def complete_bill(text: str, version: str) -> str:
    """Return a bill of materials with our version, which pyproject.toml lacks, and without paths of this machine."""
    bill = json.loads(text)
    bill["metadata"]["component"] |= {"version": version, "purl": f"pkg:pypi/fibsbot@{version}"}
    for component in bill["components"]:
        references = component.pop("externalReferences", [])
        public = [reference for reference in references if not reference["url"].startswith("file:")]
        if public:
            component["externalReferences"] = public
    return json.dumps(bill, indent=2, ensure_ascii=False) + "\n"


def checksums(folder: Path) -> str:
    """Return the SHA-256 of each file of a folder, but for the list itself, as `sha256sum --check` reads them."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != SUMS)
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


# -- steps -------------------------------------------------------------------------------------------------------------


def run(*words: str | Path, cwd: Path = ROOT, seconds: float | None = None, **variables: str) -> None:
    """Run a program; raise StepError if it fails, or takes longer."""
    try:
        subprocess.run(words, cwd=cwd, env={**os.environ, **variables}, check=True, timeout=seconds)
    except FileNotFoundError as error:
        raise StepError(f"{words[0]} is not there") from error
    except subprocess.CalledProcessError as error:
        raise StepError(f"{' '.join(map(str, words))}: exit status {error.returncode}") from error
    except subprocess.TimeoutExpired as error:
        raise StepError(f"{' '.join(map(str, words))}: not over after {seconds:.0f} seconds") from error


def output(*words: str | Path) -> str:
    """Return what a program prints, without the end of the last line; raise StepError if it fails."""
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise StepError(f"{' '.join(map(str, words))}: {(ran.stderr.strip().splitlines() or ['no reason given'])[-1]}")
    return ran.stdout.strip()


def check(release: Release) -> None:
    """See that everything is committed, and that the changelog has the version."""
    changed = output("git", "status", "--porcelain")
    if changed and not release.draft:
        raise StepError(f"expected everything committed, found {len(changed.splitlines())} changed files")
    notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__, draft=release.draft)


def build_wheels(release: Release) -> None:
    """Build a wheel for each platform, one for all others, and that of the protocol."""
    run(ROOT / ".ci" / "wheels", *release.platforms, PYTHON=sys.executable)


def build_sources(_release: Release) -> None:
    """Build the source distributions."""
    for folder in (ROOT, ROOT / "protocol"):
        run(sys.executable, "-m", "build", "--sdist", "--outdir", DIST, folder)


def play_from_wheel(release: Release) -> None:
    """Install the wheel of this machine's platform, and play."""
    tag = output(sys.executable, "-m", "fibsbot.engine.kernel_builder", "--host").split()[-1]
    environment = release.folder / "wheel"
    install(environment, built("fibs_protocol-*.whl"), built(f"fibsbot-*-{tag}.whl"))
    play(environment)


def list_components(release: Release) -> None:
    """List in the bill of materials what was installed with the wheel."""
    bill = DIST / f"fibsbot-{__version__}.cdx.json"
    words = ("environment", "--pyproject", ROOT / "pyproject.toml", "--output-reproducible", "--output-file", bill)
    run(sys.executable, "-m", "cyclonedx_py", *words, release.folder / "wheel" / "bin" / "python")
    bill.write_text(complete_bill(bill.read_text("utf-8"), __version__), "utf-8")


def play_from_sources(release: Release) -> None:
    """Install from the source distributions, which compile the engine when it starts, and play."""
    environment = release.folder / "sources"
    protocol = built(f"fibs_protocol-{fibs_protocol.__version__}.tar.gz")
    install(environment, protocol, f"{built(f'fibsbot-{__version__}.tar.gz')}[jit]")
    play(environment)


def build_image(release: Release) -> None:
    """Build the container's image, and play in it, if there is a program that can."""
    builder = release.builder or next(filter(works, BUILDERS), NO)
    if builder == NO:
        print("No image: " + ("not wanted" if release.builder else f"none of {', '.join(BUILDERS)} works here"))
        return
    tag, archive = f"fibsbot:{__version__}", DIST / f"fibsbot-{__version__}-image.tar"
    run(builder, "build", "--file", ROOT / "config" / "Dockerfile", "--tag", tag, ROOT)
    if builder == "buildah":
        container = output("buildah", "from", tag)
        run("buildah", "run", container, "--", "fibsbot", *MATCH, seconds=LIMIT)
        run("buildah", "rm", container)
        run("buildah", "push", tag, f"docker-archive:{archive}:{tag}")
    else:
        run(builder, "run", "--rm", "--network", "none", tag, *MATCH, seconds=LIMIT)
        run(builder, "save", "--output", archive, tag)


def write_notes(release: Release) -> None:
    """Write the notes and the checksums."""
    text = notes((ROOT / "CHANGELOG.md").read_text("utf-8"), __version__, draft=release.draft)
    (DIST / "RELEASE_NOTES.md").write_text(text, "utf-8")
    (DIST / SUMS).write_text(checksums(DIST), "utf-8")


STEPS: Final[dict[str, Callable[[Release], None]]] = {
    "check": check,
    "wheels": build_wheels,
    "sources": build_sources,
    "match from the wheel": play_from_wheel,
    "bill of materials": list_components,
    "match from the sources": play_from_sources,
    "image": build_image,
    "notes and checksums": write_notes,
}


def works(builder: str) -> bool:
    """Return whether a program that makes images is there and, if it needs a daemon, reaches it."""
    if shutil.which(builder) is None:
        return False
    return subprocess.run([builder, "info"], capture_output=True, check=False).returncode == 0


def built(pattern: str) -> Path:
    """Return the only file in `dist/` of this name; raise StepError if it is missing."""
    files = sorted(DIST.glob(pattern))
    if len(files) != 1:
        raise StepError(f"expected one file dist/{pattern}, found {len(files)}")
    return files[0]


def install(environment: Path, *what: Path | str) -> None:
    """Install this and nothing else, pip neither, into a new environment, with the versions that were tested."""
    run(sys.executable, "-m", "venv", "--without-pip", environment)
    pip = (sys.executable, "-m", "pip", "--python", environment / "bin" / "python")
    quiet = ("--quiet", "--disable-pip-version-check", "--constraint", ROOT / "config" / "constraints.txt")
    run(*pip, "install", *quiet, *what)


def play(environment: Path) -> None:
    """Play a match with what is installed, outside the sources, and see that it is the version that is released."""
    program = environment / "bin" / "fibsbot"
    said = output(program, "--version")
    if __version__ not in said.split():
        raise StepError(f"fibsbot --version: expected {__version__}, got {said!r}")
    run(program, *MATCH, cwd=environment, seconds=LIMIT)


def main() -> int:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("--draft", action="store_true", help="try it with uncommitted changes and unreleased notes")
    parser.add_argument("--image", choices=[*BUILDERS, NO], default="", help="build the image with this, or none")
    parser.add_argument("platforms", nargs="*", metavar="PLATFORM", help="build the wheels of these only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        release = Release(arguments.platforms, arguments.draft, arguments.image, Path(folder))
        for name, step in STEPS.items():
            print(f"== {name}", flush=True)
            try:
                step(release)
            except StepError as error:
                print(f"release: {name}: {error}", file=sys.stderr)
                return 1
    print(f"fibsbot {__version__}{' (draft)' * release.draft} is in {DIST}:")
    print((DIST / SUMS).read_text("utf-8"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
