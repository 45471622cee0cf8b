"""Annotations of shapes against what is traced: contradicted at the marked lines, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from model_samples import HEAD, wrongly_flagged

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

IMPORTS = "from typing import Optional, Union\n\nfrom jaxtyping import Bool, Float, Float32, Int, Shaped\n" + HEAD
MODELS = {
    "a literal size, at the annotation of the parameter": """
        class Net(nn.Module):
            def forward(
                self,
                x: Float[Tensor, "b 4 h w"],  # expect: annotation-mismatch
            ):
                return x
    """,
    "a name stands for one size in a call": """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h h"]:
                return x  # expect: annotation-mismatch
    """,
    "a name may stand for another size in another call": """
        def pooled(x: Float[Tensor, "b c n"]) -> Float[Tensor, "b c"]:
            return x.mean(-1)


        class Net(nn.Module):
            def forward(self, x):
                return pooled(x.flatten(2)) + pooled(x[:, :, 0])
    """,
    "the number of axes": """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c"]:
                return x.mean(-1)  # expect: annotation-mismatch
    """,
    "the class of the dtype, and a precise one": """
        class Net(nn.Module):
            def forward(self, x: Float32[Tensor, "..."]) -> Int[Tensor, "..."]:
                mask: Bool[Tensor, "..."] = x > 0
                other: Float[Tensor, "..."] = mask  # expect: annotation-mismatch
                return (other * mask).long()
    """,
    "any number of axes, bound to a name": """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "*batch h w"]) -> Float[Tensor, "*batch h"]:
                y: Float[Tensor, "... w"] = x
                return y.sum(-1).sum(0, keepdim=True)  # expect: annotation-mismatch
    """,
    "an axis that broadcasts may be 1, arithmetic follows the names": """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h-2 w-2"]:
                scale: Float[Tensor, "#b c #h #w"] = x.mean((2, 3), keepdim=True)
                wrong: Float[Tensor, "b c h-1 w-1"] = x[..., 2:, 2:]  # expect: annotation-mismatch
                return wrong * scale
    """,
    "what has no name or an underscore is anything": """
        class Net(nn.Module):
            def forward(self, x: Shaped[Tensor, "_ c _h width=9"]) -> Float[Tensor, "{self.size} ?c ..."]:
                return x
    """,
    "text, aliases, optional values, one of several": """
        Picture = Float[Tensor, "b 3 h w"]


        class Net(nn.Module):
            def forward(
                self,
                x: "Picture",
                mask: Optional[Bool[Tensor, "b"]] = None,
            ) -> Union[Float[Tensor, "b"], Float[Tensor, "b h w"]]:
                grey: Float[Tensor, "b h w"] | None = x.mean(1)
                return grey
    """,
    "each of a tuple and of a list": """
        def halves(x: Float[Tensor, "b c h w"]) -> tuple[Float[Tensor, "b c h"], Float[Tensor, "b c h"]]:
            return x.sum(-1), x.sum(-2)  # expect: annotation-mismatch


        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b 3 h w"]) -> list[Float[Tensor, "b c h"]]:
                return [one for one in halves(x)][:1]
    """,
    "in a loop each turn has sizes of its own": """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b c h w"]):
                for _ in range(2):
                    y: Float[Tensor, "b c k l"] = F.avg_pool2d(x, 2)
                    x = y
                return x
    """,
    "what follows from a fault is no second one": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(8, 4)

            def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "b c h w"]:
                return self.fc(x)  # expect: matmul-dims
    """,
    "a size that only data could give is not compared with a number": """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b c h w"]) -> Float[Tensor, "5"]:
                chosen: Float[Tensor, "n"] = x[x > 0]
                return chosen
    """,
    "run-time checking that is on says it itself": """
        from jaxtyping import jaxtyped


        class TypeCheckError(TypeError):
            pass


        class Net(nn.Module):
            def forward(self, x):
                if not isinstance(x, Float[Tensor, "b 4 h w"]):
                    raise TypeCheckError("x is no picture")  # expect: annotation-mismatch
                return x
    """,
}


def test_annotations_are_compared_with_what_is_traced(tmp_path: Path) -> None:
    assert wrongly_flagged(tmp_path, MODELS, 'x = "float32[B, 3, H, 9]"', IMPORTS) == {}


def test_annotations_that_are_never_run_are_compared_too(tmp_path: Path) -> None:
    head = "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n" + HEAD.strip()
    head += "\n\nif TYPE_CHECKING:\n    from jaxtyping import Float\n\n\n"
    code = """
        class Net(nn.Module):
            def forward(self, x: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b 4 h w"]:
                return x  # expect: annotation-mismatch
    """
    assert wrongly_flagged(tmp_path, {"only": code}, 'x = "float32[B, 3, H, 9]"', head) == {}
