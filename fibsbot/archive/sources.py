"""The files that an archive is made from: found below folders, and taken from tar and zip files without unpacking.

A source is the content of a file, or of several that continue each other as the parts of a session log do. Workers get
contents, not names: they may be other machines.
"""

from __future__ import annotations

import contextlib
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import IO, Final

from attrs import frozen

from fibsbot.replay.match_files import LARGEST_FILE, find_sources, group_log_parts
from fibsbot.transcript import Transcript

PIECE_BYTES: Final = 1 << 18
"""Bytes that are read in one piece, at least: one to some seconds of work."""
LARGEST_SOURCE: Final = LARGEST_FILE
"""Bytes of a file on disk, at most: it has to fit into memory."""
LARGEST_RATIO: Final = 200
"""How much longer than its packed form a large member of a zip file may be; texts of matches shrink to a tenth."""
LARGE_MEMBER: Final = 1 << 24
"""Bytes up to which a member may have any ratio."""

_GZIP: Final = b"\x1f\x8b"
_GZIP_RATIO: Final = 8
"""How much longer the text of a compressed log is, about."""
_REFUSED: Final = (
    f"expected at most {LARGEST_SOURCE >> 20} MiB, and at most {LARGEST_RATIO} times the packed size, got more"
)
_TAR_SUFFIXES: Final = (".tar", ".tgz", ".tbz2", ".txz", ".tar.gz", ".tar.bz2", ".tar.xz")
_PACKED_ERRORS: Final = (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError)
"""What damaged tar and zip files raise, besides OSError; RuntimeError: a zip file with a password."""


@frozen
class Source:
    """The content of a file, or why it cannot be read, or matches that were read already."""

    name: str
    parts: tuple[bytes, ...] = ()
    transcripts: tuple[Transcript, ...] = ()
    """From a store."""
    problem: str = ""
    explicit: bool = True
    """Whether it was named on the command line; else it was found in a folder or in a tar or zip file."""
    progress: int = 0
    """Bytes of the command's files that it stands for."""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return sum(map(len, self.parts))

    @property
    def work(self) -> int:
        """Bytes of text, about."""
        return sum(len(part) * (_GZIP_RATIO if part.startswith(_GZIP) else 1) for part in self.parts)

    @property
    def digest(self) -> str:
        """The SHA-256 of the content, in hexadecimal digits; empty for a store."""
        if not self.parts:
            return ""
        found = hashlib.sha256()
        for part in self.parts:
            found.update(part)
        return found.hexdigest()


def sources_of(paths: Iterable[Path], archive: Path | None = None) -> Iterator[Source]:
    """Yield the files that were named, and those below folders and in tar and zip files, but none of the archive."""
    for found in find_sources(paths):
        path = found.paths[0]
        if archive is not None and not found.is_explicit and path.absolute().is_relative_to(archive.absolute()):
            continue
        if len(found.paths) == 1 and path.is_file() and (members := _packed_files(path)) is not None:
            yield from members
            continue
        name, progress = str(path), found.size
        try:
            if progress > LARGEST_SOURCE:
                yield _too_large(name, progress, explicit=found.is_explicit, progress=progress)
                continue
            parts = tuple(part.read_bytes() for part in found.paths)
        except OSError as error:
            problem = f"cannot be read: {error.strerror or error}"
            yield Source(name, problem=problem, explicit=found.is_explicit, progress=progress)
        else:
            yield Source(name, parts, explicit=found.is_explicit, progress=progress)


def pieces_of(sources: Iterable[Source]) -> Iterator[tuple[Source, ...]]:
    """Yield sources together that are read in one piece."""
    piece: list[Source] = []
    work = 0
    for source in sources:
        piece.append(source)
        work += source.work or PIECE_BYTES
        if work >= PIECE_BYTES:
            yield tuple(piece)
            piece, work = [], 0
    if piece:
        yield tuple(piece)


# -- tar and zip files ----------------------------------------------------------------------------------------------


def _packed_files(path: Path) -> Iterator[Source] | None:
    """Return the files in a tar or zip file; None for another kind of file."""
    name = path.name.lower()
    if name.endswith(_TAR_SUFFIXES):
        return _damage_reported(path, _tar_members(path))
    with contextlib.suppress(OSError):  # the attempt to read it says why
        if name.endswith(".zip") or zipfile.is_zipfile(path):
            return _damage_reported(path, _zip_members(path))
    return None


def _damage_reported(path: Path, members: Iterator[tuple[tuple[str, ...], tuple[bytes, ...]]]) -> Iterator[Source]:
    """Yield sources of members; the last one takes the progress of the whole file."""
    names: tuple[str, ...] = ()
    try:
        for names, parts in members:
            name = f"{path}/{names[0]}"
            size = sum(map(len, parts))
            if not parts:
                yield Source(name, problem=_REFUSED, explicit=False)
            elif size > LARGEST_SOURCE:
                yield _too_large(name, size, explicit=False, progress=0)
            else:
                yield Source(name, parts, explicit=False)
    except (OSError, *_PACKED_ERRORS) as error:
        yield Source(str(path), problem=f"damaged: {str(error).partition(chr(10))[0].rstrip(':')}")
    else:
        if not names:
            yield Source(str(path), problem="expected files in it, found none")
    yield Source("", progress=path.stat().st_size)


def _zip_members(path: Path) -> Iterator[tuple[tuple[str, ...], tuple[bytes, ...]]]:
    with zipfile.ZipFile(path) as packed:
        names = [info.filename for info in packed.infolist() if not info.is_dir()]
        for group in group_log_parts(map(Path, names)):
            parts: list[bytes] = []
            for name in () if any(_is_bomb(packed.getinfo(str(name))) for name in group) else group:
                with packed.open(str(name)) as file:
                    parts.append(_read(file, LARGEST_SOURCE - sum(map(len, parts))))
            yield tuple(map(str, group)), tuple(parts)


def _is_bomb(member: zipfile.ZipInfo) -> bool:
    """Whether a member would fill the memory: it is too large, or no text shrinks so far."""
    size = member.file_size
    return size > LARGEST_SOURCE or size > max(LARGE_MEMBER, LARGEST_RATIO * member.compress_size)


def _tar_members(path: Path) -> Iterator[tuple[tuple[str, ...], tuple[bytes, ...]]]:
    """Yield the files of a tar file in their order; the parts of a session log wait for the last of them."""
    with tarfile.open(path) as packed:
        groups = group_log_parts(Path(info.name) for info in packed if info.isfile())
    group_of = {name: group for group in groups for name in group}
    waiting: dict[PurePath, bytes] = {}
    with tarfile.open(path) as packed:  # again from the beginning: a compressed file cannot go back
        for member in packed:
            if member.isfile() and member.size > LARGEST_SOURCE:
                yield (member.name,), ()
                continue
            file = packed.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            waiting[Path(member.name)] = _read(file, LARGEST_SOURCE - sum(map(len, waiting.values())))
            group = group_of[Path(member.name)]
            if all(name in waiting for name in group):
                yield tuple(map(str, group)), tuple(waiting.pop(name) for name in dict.fromkeys(group))


def _read(file: IO[bytes], most: int) -> bytes:
    """Read a member up to `most` bytes, and one more that shows that it has more."""
    with contextlib.closing(file):
        return file.read(max(most, 0) + 1)


def _too_large(name: str, size: int, *, explicit: bool, progress: int) -> Source:
    problem = f"expected at most {LARGEST_SOURCE >> 20} MiB, got {size / 2**20:,.0f} MiB"
    return Source(name, problem=problem, explicit=explicit, progress=progress)
