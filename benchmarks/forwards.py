"""The plain meta forwards of the models of a folder, in one process: what a script of one's own would do."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import torch

root = Path(sys.argv[1])
sys.path.insert(0, str(root))
sys.dont_write_bytecode = True
for path in sorted(root.glob("net*.py")):
    module = importlib.import_module(path.stem)
    with torch.device("meta"):
        model = getattr(module, path.stem.replace("net", "Net"))().eval()
        for batch in (7, 22, 1):
            model(torch.empty(batch, 3, 32, 32))
