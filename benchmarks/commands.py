"""The command: cold, warm, many models, beside its peers, and the time from a save to a result."""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from measure import RUNS, Row, command, paired, shapelint

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "build" / "benchmarks"
HERE = Path(__file__).resolve().parent
MODEL = """import torch
from torch import nn


class Net{n}(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, {width}, 3, padding=1)
        self.norm = nn.BatchNorm2d({width})
        self.pool = nn.AdaptiveAvgPool2d(4)
        self.fc = nn.Linear({width} * 16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(torch.relu(self.norm(self.conv(x))))
        return self.fc(x.flatten(1))
"""


ANNOTATED = 'x: Float[torch.Tensor, "b 3 32 32"]) -> Float[torch.Tensor, "b 10"]'


def project(folder: str, count: int) -> Path:
    """A folder of ``count`` small models, configured."""
    root = Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    tables = []
    for n in range(count):
        (root / f"net{n}.py").write_text(MODEL.format(n=n, width=8 + n % 24), encoding="utf-8")
        tables.append(
            f'[[models]]\ntarget = "net{n}:Net{n}"\ninputs = {{ x = "float32[B, 3, 32, 32]" }}\nmodes = ["eval"]\n'
        )
    (root / "shapelint.toml").write_text("\n".join(tables), encoding="utf-8")
    return root


def check(root: Path, *words: str) -> tuple[str, ...]:
    return shapelint("check", str(root), "--python", sys.executable, "-q", *words)


def cold() -> list[Row]:
    """One small model without a cache, against ``import torch``."""
    with tempfile.TemporaryDirectory() as folder:
        root = project(folder, 1)
        plain = command(sys.executable, "-c", "import torch")
        ratio, ours, theirs = paired(command(*check(root, "--no-cache")), plain, 2 * RUNS)
    return [Row("cold check of one model / import torch", ratio, "<= 1.35", f"{ours:.2f} s / {theirs:.2f} s")]


def many() -> list[Row]:
    """154 models, against their plain meta forwards in one process; and 10, 100, 300."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        root = project(folder, 154)
        plain = command(sys.executable, str(HERE / "forwards.py"), str(root))
        ratio, ours, theirs = paired(command(*check(root, "--no-cache")), plain)
        rows.append(Row("154 models / their plain meta forwards", ratio, "<= 3", f"{ours:.2f} s / {theirs:.2f} s"))
    for count in (10, 100, 300):
        with tempfile.TemporaryDirectory() as folder:
            root = project(folder, count)
            timed = ["/usr/bin/time", "-f", "%e %U %S %M", *check(root, "--no-cache")]
            seen = [
                subprocess.run(timed, capture_output=True, text=True, check=False).stderr.split()[-4:] for _ in range(3)
            ]
            wall, user, system, memory = (statistics.median(float(one[k]) for one in seen) for k in range(4))
            parts = f"{wall:.2f} s, {(user + system) / count:.3f} s of CPU a model, {memory / 1024:.0f} MiB"
            rows.append(Row(f"{count} models", 1000 * wall / count, "linear", parts, "ms each"))
    return rows


def start() -> list[Row]:
    """What needs no model, against ``import click``."""
    click = command(sys.executable, "-c", "import click")
    rows = []
    for words in (("--version",), ("rule", "SL101")):
        ratio, ours, theirs = paired(command(*shapelint(*words)), click, 4 * RUNS)
        rows.append(
            Row(
                f"shapelint {' '.join(words)} / import click",
                ratio,
                "<= 2",
                f"{1000 * ours:.0f} ms / {1000 * theirs:.0f} ms",
            )
        )
    return rows


def warm() -> list[Row]:
    """Nothing changed, against pyrefly on the same files."""
    peer = _peer("pyrefly", "pyrefly", "pyrefly-torch-stubs", f"torch=={_torch()}")
    rows = []
    for count in (1, 100):
        with tempfile.TemporaryDirectory() as folder:
            root = project(folder, count)
            theirs = command(
                str(peer / "pyrefly"),
                "check",
                "--python-interpreter-path",
                str(peer / "python"),
                *map(str, root.glob("*.py")),
            )
            ratio, first, second = paired(command(*check(root)), theirs, 2 * RUNS)
        rows.append(Row(f"warm check / pyrefly, {count} models", ratio, "< 1", f"{first:.3f} s / {second:.3f} s"))
    return rows


def peers() -> list[Row]:
    """26 small models without a cache, against torchtyc."""
    peer = _peer("torchtyc", "torchtyc", f"torch=={_torch()}")
    with tempfile.TemporaryDirectory() as folder:
        root = project(folder, 26)
        for path in root.glob("*.py"):
            # The peer checks what is annotated.
            text = path.read_text(encoding="utf-8").replace("x: torch.Tensor) -> torch.Tensor", ANNOTATED)
            path.write_text(f"from jaxtyping import Float\n{text}", encoding="utf-8")
        theirs = command(str(peer / "torchtyc"), "check", "--python", sys.executable, str(root))
        ratio, first, second = paired(theirs, command(*check(root, "--no-cache")))
    return [Row("torchtyc / 26 models", ratio, ">= 8", f"{first:.2f} s / {second:.2f} s")]


def watch() -> list[Row]:
    """From a save to the new result in watch mode."""
    with tempfile.TemporaryDirectory() as folder:
        root = project(folder, 1)
        words = shapelint("check", str(root), "--python", sys.executable, "--watch")
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        seen = []
        try:
            _until(process.stderr, "watching")
            text = (root / "net0.py").read_text(encoding="utf-8")
            for n in range(2 * RUNS):
                time.sleep(0.3)
                started = time.perf_counter()
                (root / "net0.py").write_text(f"{text}# {n}\n", encoding="utf-8")
                _until(process.stderr, "watching")
                seen.append(time.perf_counter() - started)
        finally:
            process.kill()
    return [
        Row(
            "from a save to the result", statistics.median(seen), "<= 0.5", f"{min(seen):.2f} to {max(seen):.2f} s", "s"
        )
    ]


def _until(lines: object, words: str) -> None:
    for line in lines:  # type: ignore[attr-defined]
        if words in line:
            return


def _torch() -> str:
    import torch  # noqa: PLC0415  # only where a peer is installed

    return torch.__version__.partition("+")[0]


def _peer(name: str, *packages: str) -> Path:
    """The folder of commands of an environment with these packages, made once."""
    folder = PEERS / name
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        venv.create(folder, with_pip=True)
        subprocess.run([folder / "bin" / "pip", "install", "--quiet", *packages[::-1]], check=True)
        (folder / "done").touch()
    return folder / "bin"
