"""Which projects and Python files some paths mean: one walk, the closest configuration upwards for each path."""

from __future__ import annotations

import fnmatch
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from shapelint.config import Config, import_roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

_NAMES = ("shapelint.toml", "pyproject.toml")  # of two in one folder the first one counts
_SUFFIXES = (".py", ".pyi")
# Folders that hold no code of the project. A virtual environment of any name is known by its pyvenv.cfg.
# fmt: off
_SKIPPED = frozenset((
    ".bzr", ".direnv", ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pants.d", ".pyenv",
    ".pytest_cache", ".pytype", ".ruff_cache", ".shapelint_cache", ".svn", ".tox", ".venv", ".vscode",
    "__pycache__", "__pypackages__", "_build", "buck-out", "build", "dist", "node_modules", "site-packages", "venv",
))
# fmt: on
_ROOT_MARKS = (".git", "pyproject.toml", "setup.py", "setup.cfg")


class PathError(Exception):
    """A path that was given and does not exist."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What the given paths cover: absolute paths, the projects they touch, and the Python files with their project.

    Among the projects are those elsewhere in the repository that have one of the files below an import root.
    ``whole`` are the roots of the projects whose configuration lies at or below a given path; ``unreadable`` the
    folders that may not be read, with the reason. ``around`` has, by root, all files of the projects without models of
    which only a part is given: what else there is tells which models that part belongs to.
    """

    given: tuple[str, ...]
    projects: tuple[Config, ...]
    files: tuple[tuple[str, Config], ...]
    whole: frozenset[str]
    unreadable: tuple[tuple[str, str], ...] = ()
    around: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def files_of(self, config: Config) -> tuple[str, ...]:
        """The files of a project in which models are looked for."""
        return self.around.get(config.root) or tuple([path for path, owner in self.files if owner.root == config.root])

    def covers(self, path: str) -> bool:
        """Whether the path is one of the given ones or lies below one of them."""
        real = os.path.realpath(path)
        return any(is_below(path, given) or is_below(real, os.path.realpath(given)) for given in self.given)

    def project_of(self, path: str) -> Config:
        """The project of a file: the one it was found in, else the innermost whose folder holds it, else the first."""
        known = dict(self.files)
        if path in known:
            return known[path]
        around = [config for config in self.projects if is_below(path, config.root)]
        return max(around, key=lambda config: len(config.root), default=self.projects[0])


def find_scope(
    paths: Sequence[str], load: Callable[[str], Config | None], default: Config, fixed: Config | None = None
) -> Scope:
    """The scope of the paths; ``load`` reads a configuration file, ``fixed`` is the one to use for all of them instead.

    ``default`` holds, with another root, where no file is found. Raises PathError for a path that doesn't exist, and
    what ``load`` raises.
    """
    finder = _Finder(load, default, fixed)
    given = tuple(dict.fromkeys(os.path.abspath(path) for path in paths))
    found: dict[str, Config] = {}
    for path, shown in zip(given, paths):
        if os.path.isdir(path):
            found.update(finder.walk(path, finder.closest(path)))
        elif os.path.exists(path):
            found.update(finder.file(path))
        else:
            raise PathError(f"{shown}: no such file or folder")
    elsewhere = [] if fixed else finder.importing(given, tuple(found))
    projects = {config.root: config for config in (*finder.seen.values(), *found.values(), *elsewhere)}
    whole = frozenset(
        root for root, config in projects.items() if any(is_below(root, path) or config.path == path for path in given)
    )
    ordered = tuple([projects[root] for root in sorted(projects)])
    files = tuple(sorted(found.items(), key=lambda pair: pair[0]))
    partial = [config for config in ordered if not config.models and config.root not in whole]
    around = {
        config.root: tuple([path for path, owner in finder.walk(config.root, config) if owner.root == config.root])
        for config in partial
        if config in elsewhere or any(owner.root == config.root for _, owner in files)
    }
    return Scope(given, ordered, files, whole, tuple(dict.fromkeys(finder.unreadable)), around)


def upwards(folder: str) -> Iterator[str]:
    """The folder or file itself, then each folder above it."""
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return
        folder = parent


def git_root(path: str) -> str:
    """The folder of the repository that a path lies in, "" outside of any."""
    return next((folder for folder in upwards(path) if os.path.exists(os.path.join(folder, ".git"))), "")


def is_below(path: str, folder: str) -> bool:
    """Whether the path is the folder or lies in it; both absolute."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def is_excluded(path: str, config: Config) -> bool:
    """Whether the project leaves the path out: by its ``exclude``, or because it holds no code of anybody's own."""
    if not is_below(path, config.root):
        return False
    parts = os.path.relpath(path, config.root).split(os.sep)
    if any(part in _SKIPPED for part in parts):
        return True
    return _is_named(path, config)


def matches(path: str, pattern: str, root: str) -> bool:
    """Whether a pattern means the path: a glob of the path below root, of a folder above it, or of one bare name."""
    relative = os.path.relpath(path, root).replace(os.sep, "/")
    pattern = pattern.removeprefix("./").rstrip("/")
    parts = relative.split("/")
    if "/" not in pattern and any(fnmatch.fnmatch(part, pattern) for part in parts):
        return True
    flat = pattern.replace("**/", "*") if pattern.startswith("**/") else pattern
    return any(fnmatch.fnmatch("/".join(parts[:n]), glob) for n in range(1, len(parts) + 1) for glob in (pattern, flat))


def _is_named(path: str, config: Config) -> bool:
    return any(matches(path, pattern, config.root) for pattern in config.exclude)


class _Finder:
    """Reads each folder's configuration once; ``seen`` are those that came up, by folder."""

    def __init__(self, load: Callable[[str], Config | None], default: Config, fixed: Config | None) -> None:
        self.load = load
        self.default = default
        self.fixed = fixed
        self.seen: dict[str, Config] = {}
        self.unreadable: list[tuple[str, str]] = []
        self._here: dict[str, Config | None] = {}

    def closest(self, folder: str) -> Config:
        """The configuration that holds for a folder; defaults around the project's root where there is none."""
        if self.fixed:
            self.seen[self.fixed.root] = self.fixed
            return self.fixed
        above = list(upwards(folder))
        config = next((c for c in map(self.here, above) if c), None)
        if config is None:
            marked = (f for f in above if any(os.path.exists(os.path.join(f, mark)) for mark in _ROOT_MARKS))
            root = next(marked, folder)
            config = self.seen.get(root) or replace(self.default, root=root, src=import_roots(root))
        self.seen[config.root] = config
        return config

    def here(self, folder: str, names: Sequence[str] = _NAMES) -> Config | None:
        """The configuration that stands in this very folder, if any."""
        if folder not in self._here:
            files = (os.path.join(folder, name) for name in _NAMES if name in names)
            self._here[folder] = next((c for c in map(self._read, files) if c), None)
        return self._here[folder]

    def _read(self, path: str) -> Config | None:
        return self.load(path) if os.path.isfile(path) else None

    def file(self, path: str) -> Iterator[tuple[str, Config]]:
        """The file itself with its project, if it is Python and not excluded; a configuration only counts as seen."""
        config = self.closest(os.path.dirname(path))
        if path.endswith(_SUFFIXES) and not is_excluded(path, config):
            yield path, config

    def importing(self, given: Sequence[str], files: Sequence[str]) -> list[Config]:
        """The projects elsewhere in the repositories of the given paths that can import one of the files.

        A library of a monorepo lies outside of the projects that use it; their configuration names it in ``src``.
        """
        found: dict[str, Config] = {}
        for top in {git_root(path) for path in given} - {"", *given}:
            whole = _Finder(self.load, self.default, None)  # so that `seen` stays what the given paths came by
            for _ in whole.walk(top, whole.closest(top)):
                pass
            for config in whole.seen.values():
                outside = [src for src in config.src if not is_below(src, config.root)]
                if any(is_below(path, src) for src in outside for path in files):
                    found[config.root] = config
        return list(found.values())

    def walk(self, folder: str, config: Config) -> Iterator[tuple[str, Config]]:
        """The Python files below a folder, each with the project it belongs to."""
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            self.unreadable.append((folder, error.strerror or str(error)))
            return
        names = [entry.name for entry in entries]
        if "pyvenv.cfg" in names:
            return
        if not self.fixed and any(name in names for name in _NAMES):
            config = self.here(folder, names) or config
            self.seen[config.root] = config
        for entry in entries:
            if entry.name in _SKIPPED or _is_named(entry.path, config):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from self.walk(entry.path, config)
            elif entry.name.endswith(_SUFFIXES) and entry.is_file():
                yield entry.path, config
