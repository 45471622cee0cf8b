"""Which projects and files some paths mean."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from shapelint.config import Config, load
from shapelint.projects import PathError, Scope, find_scope, git_root, matches

if TYPE_CHECKING:
    from pathlib import Path

MODEL = '[[models]]\ntarget = "net:Net"\ninputs = { x = "float32[B, 3]" }\n'


def lay(root: Path, *files: str, **texts: str) -> None:
    """Empty files; a configuration by the name of its folder."""
    for name in files:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    for name, text in texts.items():
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name / "shapelint.toml").write_text(text, encoding="utf-8")


def scope(*paths: Path, fixed: Config | None = None) -> Scope:
    return find_scope([str(path) for path in paths], lambda path: load(path, ()), Config(""), fixed)


def files(found: Scope, root: Path) -> list[str]:
    return [os.path.relpath(path, root).replace(os.sep, "/") for path, _ in found.files]


def roots(found: Scope, root: Path) -> list[str]:
    return [os.path.relpath(config.root, root).replace(os.sep, "/") for config in found.projects]


def test_a_folder_means_every_project_below_it_each_with_its_own_files(tmp_path: Path) -> None:
    lay(tmp_path, "a/net.py", "b/deep/net.py", "b/readme.md", "other.py", a=MODEL, b=MODEL)
    (tmp_path / "shapelint.toml").write_text("", encoding="utf-8")
    found = scope(tmp_path)
    assert files(found, tmp_path) == ["a/net.py", "b/deep/net.py", "other.py"]
    assert [os.path.relpath(config.root, tmp_path) for _, config in found.files] == ["a", "b", "."]
    assert roots(found, tmp_path) == [".", "a", "b"]
    assert found.whole == {str(tmp_path), str(tmp_path / "a"), str(tmp_path / "b")}


def test_a_file_means_the_closest_project_upwards_but_not_the_whole_of_it(tmp_path: Path) -> None:
    lay(tmp_path, "a/pkg/net.py", "a/pkg/other.py", a=MODEL)
    (tmp_path / "a/pkg/pyproject.toml").write_text('[project]\nname = "x"\n', encoding="utf-8")
    found = scope(tmp_path / "a/pkg/net.py")
    assert files(found, tmp_path) == ["a/pkg/net.py"]
    assert roots(found, tmp_path) == ["a"]
    assert found.whole == frozenset()
    assert found.covers(str(tmp_path / "a/pkg/net.py"))
    assert not found.covers(str(tmp_path / "a/pkg/other.py"))


def test_the_configuration_file_itself_means_its_whole_project(tmp_path: Path) -> None:
    lay(tmp_path, "a/net.py", a=MODEL)
    found = scope(tmp_path / "a/shapelint.toml")
    assert found.whole == {str(tmp_path / "a")}
    assert files(found, tmp_path) == []


def test_of_two_configurations_in_a_folder_shapelint_toml_counts(tmp_path: Path) -> None:
    lay(tmp_path, a=MODEL)
    (tmp_path / "a/pyproject.toml").write_text("[tool.shapelint]\n", encoding="utf-8")
    assert [config.path for config in scope(tmp_path / "a").projects] == [str(tmp_path / "a/shapelint.toml")]


def test_folders_without_own_code_are_passed_over_and_so_is_a_virtual_environment_of_any_name(tmp_path: Path) -> None:
    skipped = [f"{name}/x.py" for name in (".git", ".venv", "node_modules", "__pycache__", "site-packages", "myenv")]
    lay(tmp_path, "net.py", "myenv/pyvenv.cfg", *skipped)
    assert files(scope(tmp_path), tmp_path) == ["net.py"]


def test_exclude_holds_for_files_that_are_named_too(tmp_path: Path) -> None:
    lay(tmp_path, "a/net.py", "a/gen/net.py", "a/tests/data/bad.py", a="exclude = ['gen', 'tests/data']\n")
    assert files(scope(tmp_path), tmp_path) == ["a/net.py"]
    assert files(scope(tmp_path / "a/gen/net.py", tmp_path / "a/tests/data/bad.py"), tmp_path) == []


def test_the_same_files_come_once_and_in_order_however_they_are_given(tmp_path: Path) -> None:
    lay(tmp_path, "b.py", "a.py")
    assert files(scope(tmp_path / "b.py", tmp_path, tmp_path / "a.py"), tmp_path) == ["a.py", "b.py"]


def test_a_link_that_leads_back_up_is_no_endless_walk(tmp_path: Path) -> None:
    lay(tmp_path, "a/net.py")
    (tmp_path / "a/again").symlink_to(tmp_path)
    assert files(scope(tmp_path), tmp_path) == ["a/net.py"]


def test_without_configuration_the_root_is_where_the_repository_starts(tmp_path: Path) -> None:
    lay(tmp_path, ".git/HEAD", "pkg/net.py")
    assert roots(scope(tmp_path / "pkg"), tmp_path) == ["."]
    assert git_root(str(tmp_path / "pkg/net.py")) == str(tmp_path)


def test_one_configuration_can_be_used_for_every_path(tmp_path: Path) -> None:
    lay(tmp_path, "a/net.py", "b/net.py", a=MODEL)
    fixed = Config(str(tmp_path), src=(str(tmp_path),))
    found = scope(tmp_path / "a", tmp_path / "b", fixed=fixed)
    assert {config for _, config in found.files} == {fixed}
    assert found.projects == (fixed,)


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PathError, match=r"gone\.py: no such file or folder$"):
        scope(tmp_path / "gone.py")


@pytest.mark.parametrize(
    ("path", "pattern", "is_meant"),
    [
        ("a/b.py", "b.py", True),
        ("a/b.py", "a", True),
        ("a/b.py", "a/", True),
        ("a/b.py", "a/*.py", True),
        ("a/c/b.py", "a/**", True),
        ("c/a/b.py", "a/b.py", False),
        ("c/a/b.py", "**/a/b.py", True),
        ("a/b.py", "**/b.py", True),
        ("a/b.py", "*.pyi", False),
        ("ab/b.py", "a", False),
    ],
)
def test_a_pattern_means_a_path_a_folder_above_it_or_a_bare_name(path: str, pattern: str, is_meant: bool) -> None:  # noqa: FBT001  # a table's column
    assert matches(f"/root/{path}", pattern, "/root") is is_meant
