"""Files that are read otherwise than they stand on disk: an edit is tried on the model before it is written."""

from __future__ import annotations

import importlib.machinery
import linecache
import os
from typing import Any

from shapelint.records import Unsaved


def install(files: tuple[Unsaved, ...]) -> None:
    """From now on, an import (and whoever asks for source lines) gets these texts; compiled files are not used for them."""
    if not files:
        return
    texts = {os.path.realpath(one.path): one.text.encode(one.encoding, "surrogateescape") for one in files}
    loader: Any = importlib.machinery.SourceFileLoader
    get_data, path_stats = loader.get_data, loader.path_stats

    def data(self: Any, path: str) -> Any:
        known = texts.get(os.path.realpath(path))
        return get_data(self, path) if known is None else known

    def stats(self: Any, path: str) -> Any:
        if os.path.realpath(path) in texts:
            # What importlib takes as "no time known": it neither reads nor writes a compiled file then.
            raise OSError(path)
        return path_stats(self, path)

    loader.get_data, loader.path_stats = data, stats
    for one in files:
        # Without a time, linecache keeps an entry whatever is on disk.
        linecache.cache[one.path] = (len(one.text), None, one.text.splitlines(keepends=True), one.path)
