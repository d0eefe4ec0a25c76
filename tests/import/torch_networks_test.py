#!/usr/bin/env python3
"""Imports networks of PyTorch and compares what Winnow computes of them with PyTorch.

  torch_networks_test.py BIN_DIR LIBWINNOW [--images FOLDER] [--folders PROGRAM] [--verbose]

Networks of torchvision with random weights, as weights and as ONNX files, by their outputs; and a small network that is
trained here on Fashion-MNIST (Debian's dataset-fashion-mnist), by its accuracy in `runtime run`. The scripts of docs/import.md are
run. PROGRAM (picture_pixels) says which numbers the classes of a folder get, as torchvision's ImageFolder does. What cannot
be had is named in a line "skipped: ".
"""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    import torchvision
    from safetensors.torch import save_file

    from import_page import NETWORK, page_tests
    from winnow_programs import Library, Programs, relative_difference
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "import.md")
TOLERANCE = 1e-4  # of the norm; sums are in another order
# Network, side of its input: small ones, but vgg16's linear layers expect 224.
STATE_DICTS = [("resnet18", 64), ("resnet50", 64), ("densenet121", 64), ("vgg16_bn", 224)]
# relu6 and convolutions of one channel each; pools that round up.
ONNX_FILES = [("mobilenet_v2", 64), ("squeezenet1_0", 62), ("googlenet", 70)]


def random_network(name, side):
    """With statistics of its batch norms that random images give, so that values stay in range."""
    torch.manual_seed(1)
    options = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
    network = torchvision.models.get_model(name, weights=None, **options)
    norms = [module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # the mean of all batches
    if norms:
        with torch.no_grad():
            network.train()(torch.randn(4, 3, side, side))
    return network.eval()


def outputs(network, values):
    with torch.no_grad():
        return network(torch.from_numpy(values)).numpy()


class Tests:
    def __init__(self, bin_dir, library, verbose):
        self.programs, self.library, self.verbose = Programs(bin_dir), Library(library), verbose
        self.equal, self.failures = 0, []

    def report(self, name, failure, details):
        if failure:
            self.failures.append(name)
            print(f"{name}: failed: {failure}")
        else:
            self.equal += 1
            if self.verbose:
                print(f"{name}: equal: {details}")

    def deployed(self, folder, *arguments):
        """Imports and exports: the model's path, or why not."""
        checkpoint, model = os.path.join(folder, "checkpoint.safetensors"), os.path.join(folder, "model.wnw")
        for program, options in (("import", [*arguments, "-o", checkpoint]),
                                 ("export", ["--in", checkpoint, "-o", model])):
            ended = self.programs.run(program, *options)
            if ended.returncode != 0:
                return None, f"{program} ended with {ended.returncode}: {ended.stderr.strip()[:500]}"
        return model, None

    def compare(self, name, network, shape, arguments_for):
        """`arguments_for(folder)` writes what import reads and gives its options."""
        values = np.random.default_rng(2).standard_normal((1, *shape)).astype(np.float32)
        expected = outputs(network, values)
        with tempfile.TemporaryDirectory() as folder:
            model, failure = self.deployed(folder, *arguments_for(folder))
            details = ""
            if not failure:
                difference = relative_difference(self.library.run(model, values), expected)
                details = f"relative difference {difference:.1e}"
                failure = None if difference < TOLERANCE else details
        self.report(name, failure, details)

    def state_dict(self, name, side):
        network = random_network(name, side)

        def arguments(folder):
            path = os.path.join(folder, "weights.safetensors")
            save_file({key: value.contiguous() for key, value in network.state_dict().items()}, path)
            return ["--weights", path, "--architecture", name.removesuffix("_bn"), "--input-shape", f"3,{side},{side}"]

        self.compare(f"{name} (weights)", network, (3, side, side), arguments)

    def onnx_file(self, name, side):
        network = random_network(name, side)
        self.compare(f"{name} (ONNX)", network, (3, side, side), lambda folder: ["--onnx", onnx_of(network, side, 3, folder)])


def onnx_of(network, side, channels, folder):
    path = os.path.join(folder, "network.onnx")
    torch.onnx.export(network, torch.zeros(1, channels, side, side), path, input_names=["image"],
                      dynamic_axes={"image": [0]}, dynamo=False)
    return path


def idx(folder, name):
    with gzip.open(os.path.join(folder, name)) as file:
        data = file.read()
    dimensions = data[3]
    shape = [int.from_bytes(data[4 + 4 * d:8 + 4 * d], "big") for d in range(dimensions)]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def images(folder, part):
    pixels = idx(folder, f"{part}-images-idx3-ubyte.gz").astype(np.float32) / 255
    labels = idx(folder, f"{part}-labels-idx1-ubyte.gz").astype(np.int64)
    return torch.from_numpy((pixels[:, None] - 0.25) / 0.5), torch.from_numpy(labels)


class SmallNetwork(torch.nn.Module):
    def __init__(self):
        super().__init__()
        nn = torch.nn
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU6(),
            nn.Conv2d(16, 32, 3), nn.ReLU6(), nn.MaxPool2d(3, 2, padding=1, ceil_mode=True),
            nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
            nn.AvgPool2d(3, 2, padding=1, ceil_mode=True, count_include_pad=False))
        self.head = nn.Linear(32 * 4 * 4, 10)

    def forward(self, x):
        return self.head(self.features(x).flatten(1))


GRAPH = """
name: small
nodes:
  - {name: image, op: input, shape: [1, 28, 28]}
  - {name: features.0, op: conv2d, out_channels: 16, kernel: 3, stride: 2, padding: 1, bias: false}
  - {name: features.1, op: batch_norm}
  - {name: features.2, op: relu, max_value: 6}
  - {name: features.3, op: conv2d, out_channels: 32, kernel: 3}
  - {name: features.4, op: relu, max_value: 6}
  - {name: features.5, op: max_pool, kernel: 3, stride: 2, padding: 1, ceil_mode: true}
  - {name: features.6, op: conv2d, out_channels: 32, kernel: 3, padding: 1}
  - {name: features.7, op: relu}
  - {name: features.8, op: avg_pool, kernel: 3, stride: 2, padding: 1, ceil_mode: true, count_include_pad: false}
  - {name: flat, op: flatten}
  - {name: head, op: linear, out_features: 10}
"""


def trained_network(folder):
    """One pass over the training images."""
    torch.manual_seed(3)
    pictures, labels = images(folder, "train")
    network = SmallNetwork()
    steps = torch.optim.Adam(network.parameters(), 2e-3)
    for batch in torch.randperm(len(labels)).split(128):
        steps.zero_grad()
        torch.nn.functional.cross_entropy(network(pictures[batch]), labels[batch]).backward()
        steps.step()
    return network.eval()


def trained_tests(tests, folder):
    """The same accuracy on all test images; of sums in another order an image or two may change."""
    network = trained_network(folder)
    pictures, labels = images(folder, "t10k")
    with torch.no_grad():
        expected = 100 * (network(pictures).argmax(1) == labels).double().mean().item()
    with tempfile.TemporaryDirectory() as place:
        weights, graph = os.path.join(place, "weights.safetensors"), os.path.join(place, "graph.yaml")
        save_file(network.state_dict(), weights)
        with open(graph, "w", encoding="utf-8") as file:
            file.write(GRAPH)
        for name, arguments in (("trained (weights)", ["--weights", weights, "--graph", graph]),
                                ("trained (ONNX)", ["--onnx", onnx_of(network, 28, 1, place)])):
            model, failure = tests.deployed(place, *arguments, "--mean", "0.25", "--std", "0.5")
            details = ""
            if not failure:
                ended = tests.programs.run("runtime", "run", model, "--device", "cpu", "--data", "idx:" + folder,
                                           "--json", "-")
                found = json.loads(ended.stdout)["accuracy"] if ended.returncode == 0 else None
                details = f"accuracy {found}, {expected} by PyTorch" if found is not None else ended.stderr
                is_equal = found is not None and abs(found - expected) < 0.021 and expected > 75
                failure = None if is_equal else details
            tests.report(name, failure, details)


def folder_test(tests, program):
    """Classes have the numbers that torchvision's ImageFolder gives them; files that are no pictures do not count."""
    with tempfile.TemporaryDirectory() as place:
        train = os.path.join(place, "train")
        for name in ("n02", "n01", "Zebra", "ant", "ant 2", "10", "9", "\u00e4", "_x", "a.b"):
            os.makedirs(os.path.join(train, name, "deeper"))
            for picture in ("deeper/1.png", "2.JPEG", "notes.txt"):
                open(os.path.join(train, name, picture), "wb").close()
        expected = torchvision.datasets.ImageFolder(train)
        ended = subprocess.run([program, "classes", place], capture_output=True, text=True)
        found = ended.stdout.splitlines()
        failure = None if found == expected.classes else f"{found} {ended.stderr}, {expected.classes} by torchvision"
        tests.report("classes of a folder", failure, f"{len(found)} as ImageFolder has them")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("library")
    parser.add_argument("--images", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--folders")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    tests = Tests(arguments.bin_dir, arguments.library, arguments.verbose)
    for name, side in STATE_DICTS:
        tests.state_dict(name, side)
    for name, side in ONNX_FILES:
        tests.onnx_file(name, side)
    if os.path.isdir(arguments.images):
        trained_tests(tests, arguments.images)
    else:
        print(f"{arguments.images} is not there: no network was trained")
    torch.manual_seed(4)
    page_tests(tests, PAGE, random_network(NETWORK, 64), SmallNetwork().eval(), GRAPH)
    if arguments.folders:
        folder_test(tests, arguments.folders)
    print(f"networks of PyTorch: {tests.equal} equal, {len(tests.failures)} failed")
    # A test that compares nothing must not pass.
    sys.exit(1 if tests.failures or tests.equal < len(STATE_DICTS) + len(ONNX_FILES) else 0)


if __name__ == "__main__":
    main()
