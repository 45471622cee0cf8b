from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from shapelint.cli import main

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"


@pytest.mark.torch
def test_each_marked_line_of_the_fixtures_is_flagged_and_no_other() -> None:
    result = CliRunner().invoke(main, ["check", str(FIXTURES), "--output-format", "json", "--no-cache", "-q"])
    assert result.exit_code == 1, result.output
    report = json.loads(result.stdout)
    got = {(Path(f["path"]).resolve(), f["line"], f["rule"]) for f in report["findings"]}
    wanted = {
        (path.resolve(), number, mark[1])
        for path in FIXTURES.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (mark := re.search(r"# expect: ([\w-]+)$", line)) and mark[1] != "nothing"
    }
    assert got == wanted
    assert len(report["targets"]) == 11
