#!/usr/bin/env python3
"""Networks of torchvision go through import and export and back into torchvision's own classes.

  torchvision_test.py BIN_DIR LIBWINNOW

The weights that `export --safetensors` writes must be loaded strictly and be those that were imported, and the exported
model computes what torchvision does. Needs numpy, torch and torchvision.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torchvision

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
from c_library import Library  # noqa: E402
from checkpoints import read_safetensors, write_safetensors  # noqa: E402

# torchvision's name, ours, side of the pictures
NETWORKS = [("vgg16", "vgg16", 224), ("vgg16_bn", "vgg16", 224), ("resnet18", "resnet18", 64), ("resnet50", "resnet50", 64),
            ("densenet121", "densenet121", 64), ("densenet161", "densenet161", 64)]
TOLERANCE = 1e-4  # of the norm; sums are in another order


def program(bin_dir, name, *arguments):
    done = subprocess.run([os.path.join(bin_dir, name), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"{name} {' '.join(arguments)}: {done.stderr}"


def network_of(name):
    """With statistics as training leaves them, not those of the start."""
    torch.manual_seed(1)
    network = torchvision.models.get_model(name, weights=None, num_classes=10).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(module.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(module.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(module.weight, 0.5, 1.5)
            torch.nn.init.uniform_(module.bias, -0.2, 0.2)
    return network


def difference(library, deployed, network, side):
    values = np.random.default_rng(1).standard_normal((2, 3, side, side)).astype(np.float32)
    with torch.no_grad():
        expected = network(torch.from_numpy(values)).numpy()
    return np.linalg.norm(library.run(deployed, values) - expected) / np.linalg.norm(expected)


def check(bin_dir, library, theirs, ours, side):
    network = network_of(theirs)
    with tempfile.TemporaryDirectory() as folder:
        source, checkpoint, weights, deployed = (os.path.join(folder, file) for file in (
            "source.safetensors", "checkpoint.safetensors", "weights.safetensors", "m.wnw"))
        write_safetensors(source, {name: tensor.numpy() for name, tensor in network.state_dict().items()})
        program(bin_dir, "import", "--weights", source, "--architecture", ours, "--input-shape", f"3,{side},{side}", "-o",
                checkpoint)
        program(bin_dir, "export", "--in", checkpoint, "--safetensors", weights, "-o", deployed)
        state = {name: torch.from_numpy(array.copy()) for name, array in read_safetensors(weights)[0].items()}
        expected = network.state_dict()
        assert sorted(state) == sorted(expected), f"{theirs}: {sorted(set(state) ^ set(expected))}"
        again = torchvision.models.get_model(theirs, weights=None, num_classes=10).eval()
        again.load_state_dict(state, strict=True)
        for name, tensor in again.state_dict().items():
            assert torch.equal(tensor, expected[name]), f"{theirs}: {name} differs"
        found = difference(library, deployed, again, side)
        assert found < TOLERANCE, f"{theirs}: relative difference {found:.1e}"
        print(f"{theirs}: {len(state)} tensors equal, outputs: {found:.1e}", flush=True)


def main():
    bin_dir, library = sys.argv[1:3]
    for network in NETWORKS:
        check(bin_dir, Library(library), *network)


if __name__ == "__main__":
    main()
