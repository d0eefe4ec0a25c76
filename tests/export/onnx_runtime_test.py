#!/usr/bin/env python3
"""Exports networks as ONNX and compares ONNX Runtime with Winnow's C library.

  onnx_runtime_test.py BIN_DIR LIBWINNOW [--networks NAME,...]

Networks: small ones that have every operation of a graph, and the built-in ones with random weights. onnx.checker
must accept each file; names, the open batch and the metadata are looked at. Needs numpy, onnx and onnxruntime.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "python"))
from c_library import Library  # noqa: E402
from checkpoints import read_safetensors, write_checkpoint  # noqa: E402

TOLERANCE = 1e-4  # of the norm; sums are in another order
BUILT_IN = {"lenet5": [1, 28, 28], "vgg16": [3, 32, 32], "resnet18": [3, 32, 32], "resnet50": [3, 32, 32],
            "densenet121": [3, 32, 32], "densenet161": [3, 32, 32]}


def pair(value, rank):
    return list(value) if isinstance(value, list) else [value] * rank


class Network:
    """A graph that grows node by node, with random parameters."""

    def __init__(self, name, shape, seed, classes=0, **settings):
        self.random = np.random.default_rng(seed)
        self.classes = [f'class "{i}"' for i in range(classes)]
        self.name, self.tensors, self.mask_vector = name, {}, {}
        self.nodes = [{"name": "input", "op": "input", "shape": shape, **settings}]

    def add(self, op, name, inputs=None, **settings):
        self.nodes.append({"name": name, "op": op, "inputs": inputs or [self.nodes[-1]["name"]], **settings})
        return self

    def parameter(self, name, *shape, scale=1.0):
        self.tensors[name] = (self.random.standard_normal(shape) * scale).astype(np.float32)

    def weighted(self, name, shape, bias):
        self.parameter(name + ".weight", *shape, scale=(2 / np.prod(shape[1:])) ** 0.5)
        if bias:
            self.parameter(name + ".bias", shape[0], scale=0.1)

    def conv(self, name, channels, out, kernel, rank=2, groups=1, bias=True, inputs=None, **settings):
        self.weighted(name, (out, channels // groups, *pair(kernel, rank)), bias)
        return self.add(f"conv{rank}d", name, inputs, in_channels=channels, out_channels=out, kernel=kernel, groups=groups,
                        bias=bias, **settings)

    def linear(self, name, features, out, bias=True):
        self.weighted(name, (out, features), bias)
        return self.add("linear", name, in_features=features, out_features=out, bias=bias)

    def batch_norm(self, name, channels):
        for part in ("weight", "running_var"):
            self.tensors[f"{name}.{part}"] = self.random.uniform(0.5, 1.5, channels).astype(np.float32)
        for part in ("bias", "running_mean"):
            self.parameter(f"{name}.{part}", channels, scale=0.2)
        return self.add("batch_norm", name, channels=channels)

    def embedding(self, name, rows, width):
        self.parameter(name + ".weight", rows, width)
        return self.add("embedding", name, rows=rows, width=width)

    def mask(self, name, vector, density):
        """Keeps blocks of `vector` output channels."""
        weight = self.tensors[name + ".weight"]
        rows = -(-weight.shape[0] // vector)
        mask = (self.random.random((rows, *weight.shape[1:])) < density).astype(np.uint8)
        self.tensors[name + ".weight"] = weight * np.repeat(mask, vector, axis=0)[: weight.shape[0]]
        self.tensors[name + ".weight.mask"] = mask
        self.mask_vector[name] = vector
        return self

    def quantize(self, name):
        """Weights as codes of 16 entries, of which the first is 0."""
        weight = self.tensors.pop(name + ".weight")
        entries = np.concatenate([[0], np.linspace(-1, 1, 15)]).astype(np.float16)
        self.tensors[name + ".weight.codes"] = self.random.integers(0, 16, weight.shape).astype(np.uint8)
        self.tensors[name + ".weight.codebook"] = entries
        return self

    def write(self, path):
        channels = 0 if self.is_tokens() else self.nodes[0]["shape"][0]
        write_checkpoint(path, {"name": self.name, "nodes": self.nodes}, self.tensors, self.mask_vector, classes=self.classes,
                         preprocessing={"mean": [0.5] * channels, "deviation": [0.25] * channels})

    def is_tokens(self):
        return self.nodes[0].get("tokens", False)


def small_networks():
    pictures = Network("pictures", [4, 17, 14], 1, classes=4)
    pictures.batch_norm("norm", 4).conv("conv1", 4, 8, [3, 2], stride=[2, 1], padding=[2, 0], dilation=[2, 1], groups=2,
                                        bias=False).batch_norm("norm1", 8).add("relu", "relu1")
    pictures.add("max_pool", "max", kernel=[3, 2], stride=[1, 2], padding=[1, 0])
    pictures.add("avg_pool", "average", kernel=[2, 3], stride=1, padding=[1, 1])
    pictures.conv("conv2", 8, 8, 3, padding=1).mask("conv2", 1, 0.4).add("dropout", "drop", probability=0.5)
    pictures.add("add", "two", ["drop", "average"]).add("add", "three", ["two", "average", "drop"])
    pictures.add("concat", "joined", ["three", "average", "two"]).conv("conv3", 24, 16, 1).mask("conv3", 8, 0.5)
    pictures.add("global_avg_pool", "mean").add("global_max_pool", "top", ["conv3"])
    pictures.add("concat", "both", ["mean", "top"]).linear("fc1", 32, 12).quantize("fc1")
    pictures.linear("fc2", 12, 4, bias=False).add("softmax", "out")
    pictures.tensors["fc2.weight"] *= 0.05  # a softmax of large numbers is 0 and 1 whatever they are

    sound = Network("sound", [3, 40], 2)
    sound.conv("conv", 3, 6, 3, rank=1, stride=2, padding=1, dilation=2).add("relu", "relu")
    sound.add("max_pool1d", "max", kernel=3, stride=2, padding=1).add("avg_pool1d", "average", kernel=2, stride=1, padding=1)
    sound.add("flatten", "flat").linear("fc", 66, 4)

    words = Network("words", [12], 3, classes=4, tokens=True)
    words.embedding("embed", 20, 5).conv("conv", 5, 7, 3, rank=1).add("global_max_pool", "top").linear("fc", 7, 4)

    # A node may be called as a weight of another is; the output may be of more than two dimensions.
    names = Network("names", [2, 5], 4)
    names.conv("conv", 2, 3, 1, rank=1).add("relu", "conv.weight").add("softmax", "over_positions")
    return [pictures, sound, words, names]


class Comparison:
    def __init__(self, bin_dir, library):
        self.bin_dir, self.library = bin_dir, Library(library)
        self.operations = set()

    def program(self, name, *arguments):
        done = subprocess.run([os.path.join(self.bin_dir, name), *arguments], capture_output=True, text=True)
        assert done.returncode == 0, f"{name} {' '.join(arguments)}: {done.stderr}"

    def built_in(self, folder, name):
        """The graph of a built-in network with random weights, of which most are masked."""
        empty, source = (os.path.join(folder, file) for file in ("empty.safetensors", "source.safetensors"))
        write_checkpoint(empty, {}, {"a.running_mean": np.zeros(1, np.float32)})  # its name asks for batch norms
        shape = BUILT_IN[name]
        self.program("import", "--weights", empty, "--architecture", name, "--input-shape", ",".join(map(str, shape)),
                     "--partial", "-o", source)
        graph = json.loads(read_safetensors(source)[1]["winnow.graph"])
        network = Network(name, shape, 7, classes=10)
        network.nodes = graph["nodes"]
        for about in read_safetensors(source)[0].items():
            self.fill(network, *about)
        return network

    @staticmethod
    def fill(network, name, tensor):
        if name.endswith(".weight") and tensor.ndim > 1:
            scale = (2 / np.prod(tensor.shape[1:]) / 0.3) ** 0.5
            network.parameter(name, *tensor.shape, scale=scale)
            network.mask(name.removesuffix(".weight"), 1, 0.3)
        elif name.endswith((".weight", ".running_var")):
            network.tensors[name] = network.random.uniform(0.5, 1.5, tensor.shape).astype(np.float32)
        else:
            network.parameter(name, *tensor.shape, scale=0.1)

    def check(self, network, batches=(1, 3)):
        with tempfile.TemporaryDirectory() as folder:
            checkpoint, deployed, path = (os.path.join(folder, file) for file in ("c.safetensors", "m.wnw", "m.onnx"))
            network.write(checkpoint)
            self.program("export", "--in", checkpoint, "-o", deployed, "--onnx", path)
            onnx.checker.check_model(path, full_check=True)
            self.check_description(network, onnx.load(path))
            difference = self.difference(network, deployed, path, batches)
        assert difference < TOLERANCE, f"{network.name}: relative difference {difference:.1e}"
        self.operations.update(node["op"] for node in network.nodes)
        print(f"{network.name}: equal: {difference:.1e}")

    @staticmethod
    def check_description(network, model):
        shape = model.graph.input[0].type.tensor_type.shape.dim
        assert shape[0].dim_param == "batch" and [d.dim_value for d in shape[1:]] == network.nodes[0]["shape"]
        assert model.opset_import[0].version == 13 and model.producer_name == "winnow"
        names = {node.name for node in model.graph.node}
        folded = ("input", "batch_norm", "dropout")
        missing = [node["name"] for node in network.nodes if node["op"] not in folded and node["name"] not in names]
        assert not missing, f"{network.name}: nodes {missing} are not called so in ONNX"
        constants = {tensor.name for tensor in model.graph.initializer}
        weights = {name for name in network.tensors if name.endswith(".weight") and network.tensors[name].ndim > 1}
        assert weights <= constants, f"{network.name}: weights {weights - constants} are missing"
        metadata = {entry.key: entry.value for entry in model.metadata_props}
        assert re.fullmatch(r"\d+\.\d+\.\d+", metadata["winnow.version"])
        assert json.loads(metadata["winnow.classes"]) == network.classes
        channels = 0 if network.is_tokens() else network.nodes[0]["shape"][0]
        assert json.loads(metadata["winnow.preprocessing"]) == {"mean": [0.5] * channels, "deviation": [0.25] * channels}

    def difference(self, network, deployed, path, batches):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        shape = network.nodes[0]["shape"]
        largest = 0
        for samples in batches:
            if network.is_tokens():
                values = network.random.integers(0, 20, (samples, *shape))
            else:
                values = network.random.standard_normal((samples, *shape)).astype(np.float32)
            expected = session.run(None, {"input": values})[0].reshape(samples, -1)
            result = self.library.run(deployed, values)
            assert np.isfinite(expected).all() and expected.std() > 1e-3
            if network.nodes[-1]["op"] == "softmax":
                assert expected.max() < 0.99
            largest = max(largest, np.linalg.norm(result - expected) / np.linalg.norm(expected))
        return largest

    def check_page(self, network):
        """The program of docs/embedding.md, as it stands there."""
        with open(os.path.join(ROOT, "docs", "embedding.md")) as page:
            program = [block for block in re.findall(r"```python\n(.*?)```", page.read(), re.DOTALL) if "onnxruntime" in block]
        pictures = network.random.integers(0, 256, (2, *network.nodes[0]["shape"])).astype(np.uint8)
        names = {"pictures": pictures}
        with tempfile.TemporaryDirectory() as folder:
            checkpoint, path = (os.path.join(folder, file) for file in ("c.safetensors", "model.onnx"))
            network.write(checkpoint)
            self.program("export", "--in", checkpoint, "--onnx", path)
            exec(program[0].replace("model.onnx", path), names)
            session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
            expected = session.run(None, {"input": (pictures.astype(np.float32) / 255 - 0.5) / 0.25})[0]
        np.testing.assert_allclose(names["y"], expected, rtol=1e-5)
        assert names["classes"] == network.classes

    def known_operations(self):
        """As export lists them where it meets one that it does not know."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "c.safetensors")
            Network("none", [1], 1).add("qqqqqqqqqqqqqqqqqqqq", "q").write(path)
            done = subprocess.run([os.path.join(self.bin_dir, "export"), "--in", path, "-o", path + ".wnw"],
                                  capture_output=True, text=True)
        return set(re.search(r"; known: (.*)", done.stderr).group(1).split(", "))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("library")
    parser.add_argument("--networks", default=",".join(BUILT_IN))
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    comparison = Comparison(arguments.bin_dir, arguments.library)
    for network in small_networks():
        comparison.check(network)
    comparison.check_page(small_networks()[0])
    # Whoever adds an operation gives it a place in the small networks.
    missing = comparison.known_operations() - comparison.operations
    assert not missing, f"no network of this test has {missing}"
    for name in filter(None, arguments.networks.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            network = comparison.built_in(folder, name)
        comparison.check(network, batches=(3,))


if __name__ == "__main__":
    main()
