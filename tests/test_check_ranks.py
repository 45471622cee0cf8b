"""A model's own check of the rank: what is said of it names the ranks that the code takes, however it asks."""

from __future__ import annotations

import json
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from cli_samples import run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

ONLY_3_4 = "x has rank 2, and the code takes it with rank 3 or 4 only."
ONLY_4 = "x has rank 2, and the code takes it with rank 4 only."
FROM_3 = "x has rank 2, and the code takes it with rank 3 and above only."
FORMS = {
    "dim": (
        "if x.dim() == 3:\n    y = x[0]\nelif x.dim() == 4:\n    y = x[0, 0]\nelse:\n    raise RuntimeError",
        ONLY_3_4,
    ),
    "ndim": ("if x.ndim != 4:\n    raise ValueError('pictures')", ONLY_4),
    "shape": ("if len(x.shape) not in (3, 4):\n    raise ValueError", ONLY_3_4),
    "size": ("if len(x.size()) < 3 or len(x.size()) > 4:\n    raise ValueError", ONLY_3_4),
    "inside": ("if x.dim() in (3, 4):\n    return x\nraise TypeError('no')", ONLY_3_4),
    "asserted": ("assert x.ndim == 4, 'pictures'", ONLY_4),
    "ranged": ("assert 3 <= x.dim() <= 4", ONLY_3_4),
    "matched": (
        "match x.ndim:\n    case 3 | 4:\n        pass\n    case _:\n        raise ValueError(f'rank {x.ndim}')",
        ONLY_3_4,
    ),
    "shaped": ("match x.shape:\n    case (b, c, h, w):\n        return x\nraise ValueError", ONLY_4),
    "named": (
        "n = x.dim()\nif n < 3:\n    raise ValueError",
        "x has rank 2, and the code takes it with rank 3 and above only.",
    ),
    "unpacked": ("b, c, h, w = x.shape", "The shape of x is unpacked into 4 names, and x has rank 2."),
    "starred": ("b, c, h, *w = x.size()", "The shape of x is unpacked into at least 3 names, and x has rank 2."),
}


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, object]]]:
    root: Path = tmp_path_factory.mktemp("ranks")
    code = "from torch import nn\n"
    config = ""
    for name, (body, _) in FORMS.items():
        inside = textwrap.indent(f"{body}\nreturn x\n", " " * 8)
        code += f"\n\nclass {name}(nn.Module):\n    def forward(self, x):\n{inside}"
        config += f'[[models]]\ntarget = "net:{name}"\nmodes = ["eval"]\ninputs = {{ x = "float32[B, 8]" }}\n'
    (root / "net.py").write_text(code, encoding="utf-8")
    (root / "shapelint.toml").write_text(config, encoding="utf-8")
    result = run("check", str(root), "--python", sys.executable, "--no-cache", "--output-format", "json", "-q")
    found: dict[str, list[dict[str, object]]] = {name: [] for name in FORMS}
    for finding in json.loads(result.stdout)["findings"]:
        found[finding["target"].partition(":")[2]].append(finding)
    return found


@pytest.mark.parametrize("name", FORMS)
def test_a_check_of_the_rank_names_the_ranks_that_pass(findings: dict[str, list[dict[str, object]]], name: str) -> None:
    (finding,) = findings[name]
    assert str(finding["message"]).splitlines()[0] == FORMS[name][1]
    assert finding["rule"] == ("unpack-count" if "unpacked" in FORMS[name][1] else "unsupported-rank")


def test_the_branches_that_take_a_rank_are_pointed_at(findings: dict[str, list[dict[str, object]]]) -> None:
    related = findings["dim"][0]["related"]
    assert isinstance(related, list)
    assert [(one["message"], one["line"]) for one in related] == [
        ("rank 3 is taken here", 6),
        ("rank 4 is taken here", 8),
    ]
