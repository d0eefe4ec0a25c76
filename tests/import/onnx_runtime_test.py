#!/usr/bin/env python3
"""Imports ONNX models and compares what Winnow's C library computes of them with ONNX Runtime.

  onnx_runtime_test.py BIN_DIR LIBWINNOW [--random N] [--networks] [--verbose]

Models: the node tests that the onnx package has of the supported operators, N random small networks and, with --networks
(a minute), the whole networks of the package. A model may be refused by `import` (exit status 3 with a reason); any other end and any
difference is a failure. Needs numpy, onnx and onnxruntime; without them it prints one line "skipped: ".
"""
import argparse
import collections
import glob
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
from c_library import Library  # noqa: E402

TOLERANCE = 1e-4  # of the norm; sums are in another order
LAYERS = ("conv_", "basic_conv", "gemm_", "matmul_2d", "batchnorm_", "relu", "clip", "maxpool_", "averagepool_",
          "globalaveragepool", "globalmaxpool", "add", "sum_", "sub", "mul", "div", "concat_", "flatten_", "reshape_",
          "identity", "dropout_", "softmax_", "constant_pad", "reduce_mean_", "reduce_max_", "squeeze", "unsqueeze",
          "transpose_")


class Comparison:
    def __init__(self, bin_dir, library, verbose):
        self.bin_dir, self.library, self.verbose = bin_dir, Library(library), verbose
        self.counts = collections.Counter()
        self.failures = []

    def program(self, name, *arguments):
        return subprocess.run([os.path.join(self.bin_dir, name), *arguments], capture_output=True, text=True)

    def check(self, name, model, values, expected):
        with tempfile.TemporaryDirectory() as folder:
            outcome = self.outcome(folder, model, values, expected)
        self.counts[outcome.split(":")[0]] += 1
        if outcome.startswith("failed"):
            self.failures.append(f"{name}: {outcome}")
        if self.verbose or outcome.startswith("failed"):
            print(f"{name}: {outcome}")

    def outcome(self, folder, model, values, expected):
        source, checkpoint, deployed = (os.path.join(folder, file) for file in ("m.onnx", "m.safetensors", "m.wnw"))
        onnx.save(model, source)
        imported = self.program("import", "--onnx", source, "-o", checkpoint)
        if imported.returncode == 3 and not os.path.exists(checkpoint):
            return "refused: " + imported.stderr.strip().split(": ", 2)[-1][:150]
        if imported.returncode != 0:
            return f"failed: import ended with {imported.returncode}: {imported.stderr}"
        exported = self.program("export", "--in", checkpoint, "-o", deployed)
        if exported.returncode != 0:
            return f"failed: export ended with {exported.returncode}: {exported.stderr}"
        try:
            result = self.library.run(deployed, values)
        except RuntimeError as error:
            return f"failed: {error}"
        expected = np.asarray(expected, np.float32).reshape(result.shape)
        difference = np.linalg.norm(result - expected) / max(np.linalg.norm(expected), 1e-6)
        return f"equal: {difference:.1e}" if difference < TOLERANCE else f"failed: relative difference {difference:.1e}"


def load_tensor(path):
    with open(path, "rb") as file:
        tensor = onnx.TensorProto()
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


def node_tests(comparison, data):
    """Inputs but the first become constants, as a network has them."""
    for folder in sorted(glob.glob(os.path.join(data, "node", "test_*")) +
                         glob.glob(os.path.join(data, "pytorch-*", "test_*"))):
        name = os.path.basename(folder)[len("test_"):]
        if "node" in folder.split(os.sep)[-2] and not name.startswith(LAYERS):
            continue
        model = onnx.load(os.path.join(folder, "model.onnx"))
        files = [os.path.join(folder, "test_data_set_0", f"input_{i}.pb") for i in range(len(model.graph.input))]
        if not files or not all(os.path.exists(file) for file in files):
            continue
        if not all(value.type.HasField("tensor_type") for value in model.graph.input):
            continue  # sequences
        inputs = [load_tensor(file) for file in files]
        if inputs[0].dtype != np.float32 or inputs[0].ndim < 2 or inputs[0].shape[0] == 0:
            continue
        for value, array in list(zip(model.graph.input, inputs))[1:]:
            model.graph.initializer.append(numpy_helper.from_array(array, value.name))
            model.graph.input.remove(value)
        comparison.check(name, model, inputs[0], load_tensor(os.path.join(folder, "test_data_set_0", "output_0.pb")))


def by_onnx_runtime(comparison, name, model, values):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    expected = session.run(None, {session.get_inputs()[0].name: values})[0]
    comparison.check(name, model, values, expected)


def network_tests(comparison, data):
    """Whole networks, whose weights the files fill by ConstantOfShape with one number."""
    for path in sorted(glob.glob(os.path.join(data, "light", "*.onnx"))):
        model = onnx.load(path)
        constant = {tensor.name for tensor in model.graph.initializer}
        value = [value for value in model.graph.input if value.name not in constant][0]
        shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        by_onnx_runtime(comparison, os.path.basename(path), model,
                        np.random.default_rng(1).standard_normal(shape).astype(np.float32) * 0.1)


class RandomNetwork:
    """A network as exporters write them, of operators that a checkpoint can hold."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.channels, self.side = int(self.random.integers(1, 5)), int(self.random.integers(9, 20))
        self.opset = int(self.random.integers(11, 19))
        self.is_open = bool(self.random.integers(2))  # the batch size
        self.shape = [self.channels, self.side, self.side]
        self.count = 0
        self.value = "image"

    def constant(self, array, kind=np.float32):
        name = f"c{len(self.constants)}"
        array = np.asarray(array, kind)
        if kind == np.float32 and self.random.random() < 0.2:
            array = array.astype(np.float16).astype(np.float32)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def weights(self, *shape):
        scale = np.sqrt(2 / max(1, int(np.prod(shape[1:]))))
        return self.constant(self.random.standard_normal(shape) * scale)

    def node(self, op, inputs, **attributes):
        self.count += 1
        output = f"v{self.count}"
        self.nodes.append(helper.make_node(op, inputs, [output], name=f"/{op}_{self.count}", **attributes))
        return output

    def conv(self, x, channels, out):
        kernel = [int(k) for k in self.random.integers(1, 4, 2)]
        stride = [int(s) for s in self.random.integers(1, 3, 2)] if self.side > 8 else [1, 1]
        dilation = [int(d) for d in self.random.integers(1, 3, 2)]
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
        mode = self.random.choice(["pads", "same", "uneven", "pad_node", "none"])
        attributes = {"strides": stride, "dilations": dilation}
        groups = channels if channels == out and self.random.random() < 0.3 else 1
        if mode == "same":
            attributes["dilations"] = [1, 1]  # ONNX Runtime has no others with auto_pad
            attributes["auto_pad"] = str(self.random.choice(["SAME_UPPER", "SAME_LOWER"]))
        elif mode == "pads":
            attributes["pads"] = [e // 2 for e in extent] * 2
        elif mode == "uneven":
            attributes["pads"] = [0, 0] + [dilation[0], dilation[1]]
        elif mode == "pad_node":
            pads = [0, 0, 1, 1, 0, 0, 1, 1]
            x = self.node("Pad", [x, self.constant(pads, np.int64)])
        inputs = [x, self.weights(out, channels // groups, *kernel)]
        if self.random.random() < 0.5:
            inputs.append(self.constant(self.random.standard_normal(out) * 0.1))
        return self.node("Conv", inputs, kernel_shape=kernel, group=groups, **attributes)

    def norm(self, x, channels):
        if self.random.random() < 0.3:
            x = self.node("Mul", [x, self.constant(self.random.uniform(0.5, 1.5, (channels, 1, 1)))])
            return self.node("Add", [self.constant(self.random.standard_normal((1, channels, 1, 1))), x])
        return self.node("BatchNormalization", [x, *(self.constant(self.random.uniform(0.5, 1.5, channels))
                                                     for _ in range(4))])

    def relu(self, x):
        if self.random.random() < 0.3:
            return self.node("Clip", [x, self.constant(0.0)])
        return self.node("Relu", [x])

    def block(self, x, channels):
        out = int(self.random.integers(2, 9))
        x = self.conv(x, channels, out)
        if self.random.random() < 0.7:
            x = self.norm(x, out)
        x = self.relu(x)
        join = self.random.choice(["none", "add", "concat"])
        one = [self.node("Conv", [x, self.weights(out, out, 1, 1)]) for _ in range(1 + (join == "concat"))]
        if join == "add":
            x = self.relu(self.node(str(self.random.choice(["Add", "Sum"])), [x, one[0]]))
        if join == "concat":
            x, out = self.node("Concat", [x, *one], axis=int(self.random.choice([1, -3]))), 3 * out
        if self.random.random() < 0.3:
            x = self.node("Dropout", [x])
        return x, out

    def flattened(self, x, out):
        way = self.random.choice(["global", "mean", "pool", "none"])
        if way == "global":
            x = self.node("GlobalAveragePool", [x])
        elif way == "mean" and self.opset < 18:
            x = self.node("ReduceMean", [x], axes=[2, 3], keepdims=int(self.random.integers(2)))
        elif way == "pool":
            x = self.node("MaxPool", [x], kernel_shape=[2, 2], strides=[1, 1])
        kind = self.random.choice(["Flatten", "Reshape", "Shape"])
        if kind == "Flatten":
            return self.node("Flatten", [x])
        if kind == "Reshape":
            return self.node("Reshape", [x, self.constant([0, -1], np.int64)])
        batch = self.node("Gather", [self.node("Shape", [x]), self.constant(0, np.int64)], axis=0)
        zero = self.constant([0], np.int64)
        batch = self.node("Unsqueeze", [batch, zero]) if self.opset >= 13 else self.node("Unsqueeze", [batch], axes=[0])
        minus = self.node("Constant", [], value=numpy_helper.from_array(np.array([-1], np.int64)))
        return self.node("Reshape", [x, self.node("Concat", [batch, minus], axis=0)])

    def features(self, x):
        """How many there are behind `x`, by ONNX Runtime."""
        model = self.model(x)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        return session.run(None, {"image": np.zeros((2, *self.shape), np.float32)})[0].shape[1]

    def head(self, x):
        features, classes = self.features(x), 5
        if self.random.random() < 0.5:
            x = self.node("MatMul", [x, self.weights(features, classes)])
            x = self.node("Add", [x, self.constant(self.random.standard_normal(classes))])
        else:
            is_transposed = int(self.random.integers(2))
            shape = (classes, features) if is_transposed else (features, classes)
            x = self.node("Gemm", [x, self.weights(*shape), self.constant(self.random.standard_normal(classes))],
                          transB=is_transposed, alpha=0.5, beta=2.0)
        return self.node("Softmax", [x], axis=-1) if self.random.random() < 0.3 else x

    def model(self, output):
        batch = "batch" if self.is_open else 2
        graph = helper.make_graph(
            self.nodes, "random", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [batch, *self.shape])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)

    def build(self):
        x, channels = "image", self.channels
        for _ in range(int(self.random.integers(1, 4))):
            x, channels = self.block(x, channels)
        return self.model(self.head(self.flattened(x, channels)))


def random_tests(comparison, count):
    for seed in range(count):
        network = RandomNetwork(seed)
        try:
            model = network.build()
        except Exception as error:  # ONNX Runtime refuses maps that strides and kernels leave empty
            comparison.counts["no network"] += 1
            if comparison.verbose:
                print(f"random {seed}: {error}")
            continue
        values = network.random.standard_normal((2, *network.shape)).astype(np.float32)
        by_onnx_runtime(comparison, f"random {seed}", model, values)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("library")
    parser.add_argument("--random", type=int, default=40)
    parser.add_argument("--networks", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    total = collections.Counter()
    failures = []
    for title, tests in (("node tests", lambda c: node_tests(c, data)), ("networks", lambda c: network_tests(c, data)),
                         ("random networks", lambda c: random_tests(c, arguments.random))):
        if title == "networks" and not arguments.networks:
            continue
        comparison = Comparison(arguments.bin_dir, arguments.library, arguments.verbose)
        tests(comparison)
        print(f"{title}: " + ", ".join(f"{count} {what}" for what, count in sorted(comparison.counts.items())))
        total += comparison.counts
        failures += comparison.failures
    # A test that compares nothing must not pass.
    sys.exit(1 if failures or total["equal"] < 30 else 0)


if __name__ == "__main__":
    main()
