"""Models and their inputs, found in a project that has no configuration."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from shapelint.source.discovery import Discovered, discover
from shapelint.source.files import SourceCache
from shapelint.specs import parse_input

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nfrom torch import nn\n\n\n"


def found(tmp_path: Path, context: tuple[str, ...] = (), **files: str) -> dict[str, Discovered]:
    """What is found in files given by name (``pkg__net`` is pkg/net.py), by the name of the class."""
    paths = []
    for name, text in files.items():
        path = tmp_path / (name.replace("__", "/").replace("/init", "/__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        paths.append(str(path))
    looked = [p for p in paths if not p.endswith(context)] if context else paths
    all_found = discover(looked, [str(tmp_path)], SourceCache(), context=paths)
    for one in all_found:
        for case in one.cases:
            for _, value in case:
                parse_input(value)  # what is found is what the configuration takes
    return {one.target.rpartition(":")[2]: one for one in all_found}


def one(tmp_path: Path, text: str) -> Discovered:
    (only,) = found(tmp_path, net=HEAD + textwrap.dedent(text)).values()
    return only


def test_a_comment_above_the_class_states_the_inputs(tmp_path: Path) -> None:
    text = """\
        # shapelint: inputs(x="float32[B, 3, 8, 8]", n=2)
        # the small one
        class Net(nn.Module):
            def forward(self, x, n):
                return x
    """
    made = one(tmp_path, text)
    assert (made.target, made.line, made.inferred) == ("net:Net", 7, ("comment",))
    assert made.cases == ((("x", "float32[B, 3, 8, 8]"), ("n", 2)),)


def test_comments_on_the_method_are_one_case_each(tmp_path: Path) -> None:
    text = '''\
        class Net(nn.Module):
            def forward(self, x):
                """Docs."""
                # shapelint: inputs(x="float32[B, 4]")
                # shapelint: inputs(x=["float32[B, T, 4]", {"a": "int64[B]"}])
                return "# shapelint: inputs(y=1)"
    '''
    assert [dict(case)["x"] for case in one(tmp_path, text).cases] == [
        "float32[B, 4]",
        ["float32[B, T, 4]", {"a": "int64[B]"}],
    ]


@pytest.mark.parametrize("comment", ["inputs", "inputs()", "inputs(x=", 'inputs("float32[B]")', "inputs(x=y)"])
def test_a_comment_that_cannot_be_read_is_told(tmp_path: Path, comment: str) -> None:
    made = one(tmp_path, f"# shapelint: {comment}\nclass Net(nn.Module):\n    def forward(self, x): return x\n")
    assert "comment" in made.reason
    assert made.hint == '# shapelint: inputs(x="float32[B, 3, 224, 224]")'
    assert made.line == 5


@pytest.mark.parametrize(
    ("annotation", "spec"),
    [
        ('Float[torch.Tensor, "batch 3 h w"]', "float32[B, 3, h, w]"),
        ("\"Float16[Tensor, 'b t d=8']\"", "float16[B, t, 8]"),
        ('Int[Tensor, "b seq_len"]', "int64[B, seq_len]"),
        ('Bool[Tensor, "*batch t"]', "bool[B, t]"),
        ('Float[Tensor, "n h//2 _"]', "float32[B, h//2, d2]"),
        ('Float[Tensor, ""]', "float32[]"),
    ],
)
def test_a_jaxtyping_annotation_is_read(tmp_path: Path, annotation: str, spec: str) -> None:
    made = one(tmp_path, f"class Net(nn.Module):\n    def forward(self, x: {annotation}):\n        return x\n")
    assert made.cases == ((("x", spec),),)
    assert made.inferred == ("annotation",)


MAIN = """\
    class Net(nn.Module):
        def __init__(self, width, depth=2):
            super().__init__()

        def forward(self, x, mask=None):
            return x


    WIDTH = 8
    if __name__ == "__main__":
        batch = 4
        net = Net(WIDTH * 2, depth=3).to("cpu").eval()
        x = {tensor}
        with torch.no_grad():
            print(net(x).shape)
"""


@pytest.mark.parametrize(
    ("tensor", "spec"),
    [
        ("torch.randn(2, 3, 224, 224)", "float32[B, 3, 224, 224]"),
        ("torch.randn((batch, WIDTH), device='cpu')", "float32[B, 8]"),
        ("torch.randint(0, 100, (2, 16))", "int64[B, 16]"),
        ("torch.zeros(2, 5, dtype=torch.long).to('cuda')", "int64[B, 5]"),
        ("torch.rand(2, 5).double()", "float64[B, 5]"),
        ("torch.ones(size=[2, 5])", "float32[B, 5]"),
        ("torch.randn(3, 32, 32)", "float32[3, 32, 32]"),
        ("torch.randn(16)", "float32[16]"),
    ],
)
def test_the_main_block_gives_arguments_and_inputs(tmp_path: Path, tensor: str, spec: str) -> None:
    made = one(tmp_path, MAIN.replace("{tensor}", tensor))
    assert (made.args, made.kwargs) == ((16,), (("depth", 3),))
    assert made.cases == ((("x", spec),),)
    assert made.inferred == ("call",)


def test_a_test_nearby_gives_what_the_file_does_not(tmp_path: Path) -> None:
    net = HEAD + "class Net(nn.Module):\n    def __init__(self, n): ...\n    def forward(self, x, y): return x\n"
    test = "import torch\nfrom pkg.net import Net as N\ndef test_it():\n    N(4)(torch.randn(2, 4), y=torch.rand(2))\n"
    made = found(tmp_path, ("test_net.py",), pkg__net=net, tests__test_net=test)["Net"]
    assert made.target == "pkg.net:Net"
    assert made.args == (4,)
    assert made.cases == ((("x", "float32[B, 4]"), ("y", "float32[B]")),)


def test_a_sequence_first_layer_leaves_the_batch_unnamed(tmp_path: Path) -> None:
    text = """\
        class Net(nn.Module):
            def __init__(self):
                self.rnn = nn.LSTM(8, 16)

            def forward(self, x):
                return self.rnn(x)


        if __name__ == "__main__":
            Net()(torch.randn(7, 4, 8))
    """
    assert one(tmp_path, text).cases == ((("x", "float32[7, 4, 8]"),),)


@pytest.mark.parametrize(
    ("docs", "spec"),
    [
        ("x: (B, T, 8)", "float32[B, T, 8]"),
        ("x (Tensor): tokens of shape [batch_size, seq_len]", "int64[B, seq_len]"),
        (":param x: features `(N, width, H, W)`", "float32[B, 12, H, W]"),
        ("Input: (N, 3, H, W)", "float32[B, 3, H, W]"),
        ("x: (Tensor, optional)", ""),
        ("x: (B, C)", ""),
        ("the max: (B, 4)", ""),
    ],
)
def test_a_docstring_that_states_a_shape_is_read(tmp_path: Path, docs: str, spec: str) -> None:
    text = f"""\
        class Net(nn.Module):
            def __init__(self, width=12): ...
            def forward(self, x):
                '''Result.

                {docs}
                '''
                return x
    """
    made = one(tmp_path, text)
    assert made.cases == (((("x", spec),),) if spec else ())
    assert bool(made.reason) == (not spec)


LAYERS = [
    ("nn.Conv2d(c, 8, 3)", "self.a(x)", "float32[B, 3, H, W]"),
    ("nn.Conv1d(in_channels=c * 2, out_channels=8, kernel_size=3)", "self.a(x)", "float32[B, 6, L]"),
    ("nn.Sequential(nn.Dropout(), nn.Conv2d(c, 8, 3, stride=2))", "self.a(x / 255.0)", "float32[B, 3, 224, 224]"),
    ("nn.Linear(16, 4)", "self.a(torch.relu(x))", "float32[B, 16]"),
    ("nn.Linear(784, 4)", "self.a(x.view(x.size(0), -1))", "float32[B, 784]"),
    ("nn.Sequential(nn.Flatten(), nn.Linear(784, 4))", "self.a(x)", "float32[B, 784]"),
    ("nn.Embedding(100, 8)", "self.a(x)", "int64[B, T]"),
    ("nn.Sequential(OrderedDict([('a', nn.Linear(7, 4))]))", "self.a(x)", "float32[B, 7]"),
    ("nn.Conv2d(c, 8, img_size // 8)", "nn.Linear(9, 9)(self.a(x).flatten(1))", "float32[B, 3, 32, 32]"),
    ("nn.LSTM(8, 16, batch_first=True)", "self.a(x)", "float32[B, T, 8]"),
    ("nn.GRU(8, 16)", "self.a(x)", "float32[T, B, 8]"),
    ("nn.ModuleList([nn.Linear(5, 5)])", "[l for l in self.a]", ""),
    ("Block(c)", "self.a(x)", "float32[B, 3, H, W]"),
    ("nn.Linear(16, 4)", "self.a(x.permute(1, 0))", ""),
    ("nn.Linear(c_unknown, 4)", "self.a(x)", ""),
    ("nn.Conv2d(c, 8, 3)", "nn.Linear(9, 9)(self.a(x).flatten(1).mean(1))", ""),
    ("nn.Conv2d(c, 8, 3)", "nn.Linear(9, 9)(self.a(x).mean((2, 3)))", "float32[B, 3, H, W]"),
]


@pytest.mark.parametrize(("layer", "use", "spec"), LAYERS)
def test_the_first_layer_tells_the_shape(tmp_path: Path, layer: str, use: str, spec: str) -> None:
    extent = ", img_size=32" if "img_size" in layer else ""
    text = f"""\
        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                self.conv = nn.Conv2d(width, width, 3)

            def forward(self, y):
                return self.conv(y)


        class Net(nn.Module):
            def __init__(self, c=3{extent}):
                super().__init__()
                self.a = {layer}

            def forward(self, x):
                b = x.shape[0]
                return {use}
    """
    made = found(tmp_path, net=HEAD + textwrap.dedent(text))["Net"]
    assert made.cases == (((("x", spec),),) if spec else ())
    assert made.inferred == (("first layer",) if spec else ())


def test_an_unpacked_shape_gives_a_linear_layer_its_rank(tmp_path: Path) -> None:
    text = """\
        class Net(nn.Module):
            def __init__(self):
                self.fc = nn.Linear(16, 4)

            def forward(self, x):
                b, t, c = x.shape
                return self.fc(x)
    """
    assert one(tmp_path, text).cases == ((("x", "float32[B, T, 16]"),),)


def test_modules_are_found_through_aliases_reexports_and_own_bases(tmp_path: Path) -> None:
    classes = found(
        tmp_path,
        pkg__init="from .base import Base as Root\n",
        pkg__base="import torch.nn as n\nclass Base(n.Module):\n    def forward(self, x): raise NotImplementedError\n",
        pkg__deep="from pkg import Root\nclass Deep(Root):\n    def forward(self, x):\n        return x\n",
        pkg__star="from .deep import *\nclass Star(Deep):\n    pass\n",
        pkg__lit="import lightning as L\nclass Lit(L.LightningModule):\n    def training_step(self, b): ...\n",
        pkg__other="class Plain:\n    pass\nclass Module: ...\nclass Mine(Module):\n    def forward(self, x): ...\n",
    )
    assert sorted(classes) == ["Base", "Deep", "Lit", "Star"]
    assert classes["Base"].reason == "it has no forward of its own: it is a base of Deep and Star"
    assert classes["Lit"].reason == "it has no forward of its own: it is not complete"
    assert classes["Star"].reason == "nothing tells the shape of x"
    assert classes["Star"].hint == '# shapelint: inputs(x="float32[B, ...]")'


def test_parts_are_checked_with_what_they_are_parts_of(tmp_path: Path) -> None:
    text = """\
        class Block(nn.Module):
            def forward(self, x: "Other"):
                return x


        class Other(nn.Module):
            def __init__(self, make=Block):
                self.part = make()
                self.fc = nn.Linear(3, 3)

            def forward(self, x):
                return self.part(self.fc(x))
    """
    classes = found(tmp_path, net=HEAD + textwrap.dedent(text))
    assert classes["Block"].reason == "it is a part of Other, and checked with it"
    assert classes["Block"].hint == ""
    assert classes["Other"].cases == ((("x", "float32[B, 3]"),),)


def test_a_factory_stands_for_a_class_that_needs_arguments(tmp_path: Path) -> None:
    text = """\
        class Net(nn.Module):
            def __init__(self, layers):
                self.fc = nn.Linear(3, 3)

            def forward(self, x):
                return self.fc(x)


        def net18(pretrained=False):
            net = Net([make() for _ in range(2)])
            return net
    """
    made = found(tmp_path, net=HEAD + textwrap.dedent(text))["net18"]
    assert made.cases == ((("x", "float32[B, 3]"),),)
    assert made.line == 5


def test_a_class_that_cannot_be_built_says_what_it_needs(tmp_path: Path) -> None:
    made = one(
        tmp_path, "class Net(nn.Module):\n    def __init__(self, cfg): ...\n    def forward(self, x): return x\n"
    )
    assert made.reason == "its constructor needs cfg, and nothing was found that builds it"
    assert made.hint == (
        'models = [{ target = "net:Net", kwargs = { cfg = ... }, inputs = { x = "float32[B, ...]" } }]'
    )


def test_a_file_that_cannot_be_imported_says_so(tmp_path: Path) -> None:
    path = tmp_path / "my-net.py"
    path.write_text(HEAD + "class Net(nn.Module):\n    def forward(self, x): return x\n", encoding="utf-8")
    (made,) = discover([str(path)], [str(tmp_path)], SourceCache())
    assert "can't be imported" in made.reason


def test_broken_files_and_circular_imports_end(tmp_path: Path) -> None:
    assert (
        found(tmp_path, a="from b import *\nfrom b import X\nclass A(X): ...\n", b="from a import X\n", c="class (")
        == {}
    )
