"""What model files and checkpoints hold."""
from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np

from . import _winnow
from .pictures import PictureForm, form_of


@dataclass
class Network:
    """A graph with its parameters, zeros included.

    graph: as in the file (docs/model-file.md): {"name", "nodes": [{"name", "op", "inputs", ...}]}.
    parameters: "conv1.weight", "conv1.bias", ...: float32.
    masks: by node, True where its weight is kept, in the weight's shape; nodes without are dense.
    """

    graph: dict[str, Any]
    parameters: dict[str, np.ndarray]
    masks: dict[str, np.ndarray] = field(default_factory=dict)
    classes: list[str] = field(default_factory=list)
    mean: list[float] = field(default_factory=list)
    deviation: list[float] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    picture_form: PictureForm = PictureForm()

    @property
    def sparsity(self) -> float:
        """Share of the weights of convolutions and linear layers that a mask removes."""
        weights = [w for name, w in self.parameters.items() if name.endswith(".weight") and w.ndim >= 2]
        removed = sum(int(mask.size - mask.sum()) for mask in self.masks.values())
        return removed / max(1, sum(w.size for w in weights))


def read(path: Union[str, os.PathLike[str]]) -> Network:
    """Reads a deployed model (.wnw) or a checkpoint (.safetensors), by its name's end.

    A deployed model's masks are where its weights are not 0. Raises Error(BAD_FILE).
    """
    name = os.fspath(path)
    is_deployed = not name.endswith(".safetensors")
    facts = _winnow.read_deployed(name) if is_deployed else _winnow.read_checkpoint(name)
    parameters = facts["parameters"]
    if is_deployed:
        masks = {p.removesuffix(".weight"): parameters[p] != 0 for p in facts["sparse"]}
    else:
        masks = {node: _expanded(mask, vector, parameters[node + ".weight"].shape)
                 for node, (mask, vector) in facts["masks"].items()}
    return Network(json.loads(facts["graph"]), parameters, masks, facts["classes"], facts["mean"], facts["deviation"],
                   facts["metadata"], form_of(facts["picture_form"]))


def to_state_dict(checkpoint: Union[str, os.PathLike[str], Network]) -> dict[str, np.ndarray]:
    """The parameters by name, for torch.nn.Module.load_state_dict after torch.from_numpy of each.

    Names are those of the graph's nodes: "conv1.weight", "bn1.running_mean".
    """
    network = checkpoint if isinstance(checkpoint, Network) else read(checkpoint)
    return dict(network.parameters)


def _expanded(mask: np.ndarray, vector: int, shape: tuple[int, ...]) -> np.ndarray:
    """A mask bit for `vector` neighbouring output channels, as one for each weight."""
    return np.repeat(mask.astype(bool), vector, axis=0)[: shape[0]].reshape(shape)
