"""Models whose findings hang on a detail: each is flagged at its marked lines alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from model_samples import wrongly_flagged

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

MODELS = {
    "what a shared layer does counts for both its names": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(16, 16)
                self.second = self.first

            def forward(self, x):
                return self.first(x)
    """,
    "a container whose parts are picked by index is used": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(3))

            def forward(self, x):
                return self.layers[0](x)
    """,
    "a whole container that nothing picks from is flagged once": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(16, 16)
                self.norms = nn.ModuleList(nn.LayerNorm(16) for _ in range(3))  # expect: unused-submodule

            def forward(self, x):
                return self.fc(x)
    """,
    "a head that an argument asks for is optional": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(16, 16)
                self.aux = nn.Linear(16, 2)

            def forward(self, x, aux=False):
                return self.aux(x) if aux else self.fc(x)
    """,
    "layers found by a name that is put together are not judged": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                for i in range(3):
                    setattr(self, f"conv{i}", nn.Linear(16, 16))
                self.conv3 = nn.Linear(16, 16)

            def forward(self, x):
                return getattr(self, f"conv{0}")(x)
    """,
    "what only the setting up of weights names is not used": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(16, 16)
                self.gate = nn.Linear(16, 16)  # expect: unused-submodule
                self.init_weights()

            def init_weights(self):
                nn.init.zeros_(self.gate.weight)

            def forward(self, x):
                return self.fc(x)
    """,
    "the same name in another class is another thing": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm2 = nn.LayerNorm(16)

            def forward(self, x):
                return self.norm2(x)


        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block()
                self.norm2 = nn.LayerNorm(16)  # expect: unused-submodule

            def forward(self, x):
                return self.block(x)
    """,
    "layers without parameters cost nothing": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout()

            def forward(self, x):
                return x
    """,
    "a transformer layer uses its parts inside torch": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.TransformerEncoderLayer(16, 2, batch_first=True)
                self.attend = nn.MultiheadAttention(16, 2, batch_first=True)

            def forward(self, x):
                x = self.layer(x.unsqueeze(1))
                return self.attend(x, x, x)[0]
    """,
    "a padding mask in an encoder is no shape that can't be known": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.encode = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 2, batch_first=True), 1)

            def forward(self, x):
                steps = x.unsqueeze(1).expand(-1, 3, -1)
                return self.encode(steps, src_key_padding_mask=steps[..., 0] > 0)
    """,
    "a softmax over a named axis that is 1 in one probe is none of ours": """
        class Net(nn.Module):
            def forward(self, x):
                return x - x.std(0)
    """,
    "dropout between a softmax and its product changes nothing": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.drop = nn.Dropout(0.1)

            def forward(self, x):
                key = x.view(-1, 1, 16)
                weights = self.drop(torch.softmax(x.view(-1, 4, 4) @ key.view(-1, 4, 4)[..., :1], dim=-1))
                return torch.einsum("bqk,bkd->bqd", weights, key)
    """,
    "a query axis of size 1 is not what a softmax over keys runs along": """
        class Net(nn.Module):
            def forward(self, x):
                keys = x.view(-1, 4, 4)
                scores = torch.bmm(keys[:, :1], keys.transpose(1, 2))
                weights = F.softmax(scores, dim=1)  # expect: singleton-axis
                return torch.bmm(weights, keys)
    """,
}


def test_each_model_is_flagged_where_it_is_marked_and_nowhere_else(tmp_path: Path) -> None:
    assert wrongly_flagged(tmp_path, MODELS, 'x = "float32[B, 16]"') == {}
