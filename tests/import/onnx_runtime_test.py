#!/usr/bin/env python3
"""Imports ONNX models and compares what Winnow's C library computes of them with ONNX Runtime.

  onnx_runtime_test.py BIN_DIR LIBWINNOW [--random N] [--verbose]

Models: the tests that the onnx package has of single operators, N random small networks, and the
whole networks of the package (a minute). A model may be refused by `import` (exit status 3 with a reason); any other end and any
difference is a failure. Needs numpy, onnx and onnxruntime; without them it prints one line "skipped: ".
"""
import argparse
import collections
import glob
import os
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import onnx.backend.test.loader
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    from winnow_programs import Library, Programs, relative_difference
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(0)

TOLERANCE = 1e-4  # of the norm; sums are in another order
# The package has tests of these, of which at least one must be equal.
OPERATORS = ("Conv", "Gemm", "MatMul", "BatchNormalization", "Relu", "Clip", "MaxPool", "AveragePool", "GlobalAveragePool",
             "GlobalMaxPool", "Add", "Concat", "Flatten", "Reshape", "Identity", "Dropout", "Softmax")
# All of the package's are of a kind that a graph cannot have: Pad by 1.2, constants of any shape, means over any axes.
OTHERS = ("Pad", "Sub", "Mul", "Div", "Sum", "ReduceMean", "Squeeze", "Unsqueeze", "Transpose")
# Pools may be refused for nothing else.
POOL_REFUSALS = ("dilation ", "found 5 dimensions", "its output of indices")


class Comparison:
    def __init__(self, bin_dir, library, verbose):
        self.programs, self.library, self.verbose = Programs(bin_dir), Library(library), verbose
        self.counts = collections.Counter()
        self.equal = set()  # operators
        self.failures = []

    def check(self, name, model, values, expected, tolerance=TOLERANCE):
        with tempfile.TemporaryDirectory() as folder:
            outcome = self.outcome(folder, model, values, expected, tolerance)
        operator = model.graph.node[-1].op_type
        if operator in ("MaxPool", "AveragePool") and outcome.startswith("refused") and not any(
                reason in outcome for reason in POOL_REFUSALS):
            outcome = "failed: " + outcome
        if outcome.startswith("equal"):
            self.equal |= {node.op_type for node in model.graph.node}
        self.counts[outcome.split(":")[0]] += 1
        if outcome.startswith("failed"):
            self.failures.append(f"{name}: {outcome}")
        if self.verbose or outcome.startswith("failed"):
            print(f"{name}: {outcome}")

    def outcome(self, folder, model, values, expected, tolerance):
        source, checkpoint, deployed = (os.path.join(folder, file) for file in ("m.onnx", "m.safetensors", "m.wnw"))
        onnx.save(model, source)
        imported = self.programs.run("import", "--onnx", source, "-o", checkpoint)
        if imported.returncode == 3 and not os.path.exists(checkpoint):
            return "refused: " + imported.stderr.strip().split(": ", 2)[-1][:150]
        if imported.returncode != 0:
            return f"failed: import ended with {imported.returncode}: {imported.stderr}"
        exported = self.programs.run("export", "--in", checkpoint, "-o", deployed)
        if exported.returncode != 0:
            return f"failed: export ended with {exported.returncode}: {exported.stderr}"
        try:
            result = self.library.run(deployed, values)
        except RuntimeError as error:
            return f"failed: {error}"
        difference = relative_difference(result, expected)
        return f"equal: {difference:.1e}" if difference < tolerance else f"failed: relative difference {difference:.1e}"


def initialize(model, name, array):
    """Makes an input a constant, as a network has its weights."""
    model.graph.initializer.append(numpy_helper.from_array(array, name))
    for value in list(model.graph.input):
        if value.name == name:
            model.graph.input.remove(value)


def select_inputs(model, arrays):
    """Several inputs become one, behind which layers with weights of 0 and 1 take them apart again. Returns it."""
    first, ranks = arrays[0], {array.ndim for array in arrays}
    joined = np.concatenate(arrays, axis=1)
    nodes = []
    for i, array in enumerate(arrays):
        begin = sum(other.shape[1] for other in arrays[:i])
        rows = np.eye(joined.shape[1], dtype=np.float32)[begin:begin + array.shape[1]]
        is_matrix = ranks == {2}
        weight = rows.T if is_matrix else rows.reshape(rows.shape + (1,) * (first.ndim - 2))
        name = model.graph.input[0].name
        initialize(model, f"selection_{i}", np.ascontiguousarray(weight))
        nodes.append(helper.make_node("MatMul" if is_matrix else "Conv", ["joined", f"selection_{i}"], [name]))
        model.graph.input.remove(model.graph.input[0])
    model.graph.input.append(helper.make_tensor_value_info("joined", TensorProto.FLOAT, joined.shape))
    for node in reversed(nodes):
        model.graph.node.insert(0, node)
    return joined


def add_layer(model, output):
    """Puts a layer behind what only moves values, for which a checkpoint has no layer. Returns what it gives."""
    node = model.graph.node[0]
    name = model.graph.output[0].name
    node.output[0] = "moved"
    if node.op_type == "Pad":
        channels = output.shape[1]
        weight = np.eye(channels, dtype=np.float32).reshape((channels, channels) + (1,) * (output.ndim - 2))
        initialize(model, "identity", weight)
        model.graph.node.append(helper.make_node("Conv", ["moved", "identity"], [name]))
        return output
    model.graph.node.append(helper.make_node("Relu", ["moved"], [name]))
    return np.maximum(output, 0)


def node_tests(comparison):
    """Inputs but the first become constants; sums and Concat get all of theirs from layers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = onnx.backend.test.loader.load_node_model_tests()
    for case in cases:
        model, (inputs, outputs) = case.model, case.data_sets[0]
        node = model.graph.node[0]
        if len(model.graph.node) > 1 or node.op_type not in OPERATORS + OTHERS:
            continue
        if not inputs or any(not isinstance(array, (np.ndarray, np.generic)) for array in inputs):
            continue
        inputs = [np.asarray(array) for array in inputs]
        if inputs[0].dtype != np.float32 or inputs[0].ndim < 2 or inputs[0].shape[0] == 0:
            continue
        values, output = inputs[0], outputs[0]
        name = case.name.removeprefix("test_")
        shapes = {array.shape[:1] + array.shape[2:] for array in inputs}
        if node.op_type in ("Add", "Sum", "Concat") and len(inputs) > 1 and len(shapes) == 1:
            values = select_inputs(model, inputs)
        else:
            for value, array in list(zip(model.graph.input, inputs))[1:]:
                initialize(model, value.name, array)
        if node.op_type in ("Identity", "Dropout", "Pad", "Reshape", "Squeeze", "Unsqueeze") and output.ndim > 1:
            output = add_layer(model, output)
        comparison.check(name, model, values, output, case.rtol)
    missing = sorted(set(OPERATORS) - comparison.equal)
    if missing:
        comparison.failures.append("no test is equal of " + ", ".join(missing))
        print(comparison.failures[-1])


def load_tensor(path):
    with open(path, "rb") as file:
        tensor = onnx.TensorProto()
        tensor.ParseFromString(file.read())
    return numpy_helper.to_array(tensor)


def converted_tests(comparison, data):
    """What PyTorch wrote of single modules, of the operator sets that import knows."""
    for folder in sorted(glob.glob(os.path.join(data, "pytorch-*", "test_*"))):
        model = onnx.load(os.path.join(folder, "model.onnx"))
        place = os.path.join(folder, "test_data_set_0")
        if model.opset_import[0].version < 7 or len(glob.glob(os.path.join(place, "input_*.pb"))) != 1:
            continue
        values = load_tensor(os.path.join(place, "input_0.pb"))
        if values.dtype == np.float32:
            comparison.check(os.path.basename(folder), model, values, load_tensor(os.path.join(place, "output_0.pb")))


def by_onnx_runtime(model, values):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: values})[0]


def network_tests(comparison, data):
    """Whole networks, whose weights the files fill by ConstantOfShape with one number."""
    for path in sorted(glob.glob(os.path.join(data, "light", "*.onnx"))):
        model = onnx.load(path)
        constant = {tensor.name for tensor in model.graph.initializer}
        value = [value for value in model.graph.input if value.name not in constant][0]
        shape = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        values = np.random.default_rng(1).standard_normal(shape).astype(np.float32) * 0.1
        comparison.check(os.path.basename(path), model, values, by_onnx_runtime(model, values))
    if comparison.counts["equal"] < 5:  # densenet121, inception_v2, resnet50, squeezenet, vgg19
        comparison.failures.append(f"{comparison.counts['equal']} networks are equal, expected 5")
        print(comparison.failures[-1])


class RandomNetwork:
    """A network as exporters write them, of operators that a checkpoint can hold."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.channels, self.side = int(self.random.integers(1, 5)), int(self.random.integers(9, 20))
        self.opset = int(self.random.integers(11, 27))
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
        if self.random.random() < 0.2:
            return self.node("Clip", [x, self.constant(0.0)])
        if self.random.random() < 0.3:
            return self.node("Clip", [x, self.constant(0.0), self.constant(self.random.choice([0.5, 1.0, 6.0]))])
        return self.node("Relu", [x])

    def pool(self, x):
        kernel = [int(k) for k in self.random.integers(1, 4, 2)]
        attributes = {"strides": [int(s) for s in self.random.integers(1, 3, 2)],
                      "ceil_mode": int(self.random.integers(2))}
        if self.random.random() < 0.7:
            attributes["pads"] = [int(self.random.integers(k)) for k in kernel * 2]
        else:
            attributes["auto_pad"] = str(self.random.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
            attributes["ceil_mode"] = 0  # ONNX Runtime and the standard differ on both
        op = str(self.random.choice(["MaxPool", "AveragePool"]))
        if op == "AveragePool":
            attributes["count_include_pad"] = int(self.random.integers(2))
            if self.opset < 19:  # which says what windows divide by that reach beyond the padding
                attributes["ceil_mode"] = 0
        return self.node(op, [x], kernel_shape=kernel, **attributes)

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
        if self.random.random() < 0.4:
            x = self.pool(x)
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
            values = network.random.standard_normal((2, *network.shape)).astype(np.float32)
            expected = by_onnx_runtime(model, values)
        # ONNX Runtime refuses maps that strides and kernels leave empty, and infers another size than it computes where
        # ceil_mode would begin a window in the padding.
        except Exception as error:
            comparison.counts["no network"] += 1
            if comparison.verbose:
                print(f"random {seed}: {error}")
            continue
        comparison.check(f"random {seed}", model, values, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin_dir")
    parser.add_argument("library")
    parser.add_argument("--random", type=int, default=40)
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    onnxruntime.set_default_logger_severity(3)
    data = os.path.join(os.path.dirname(onnx.__file__), "backend", "test", "data")
    total = collections.Counter()
    failures = []
    for title, tests in (("node tests", node_tests), ("modules of PyTorch", lambda c: converted_tests(c, data)),
                         ("networks", lambda c: network_tests(c, data)),
                         ("random networks", lambda c: random_tests(c, arguments.random))):
        comparison = Comparison(arguments.bin_dir, arguments.library, arguments.verbose)
        tests(comparison)
        print(f"{title}: " + ", ".join(f"{count} {what}" for what, count in sorted(comparison.counts.items())))
        total += comparison.counts
        failures += comparison.failures
    # A test that compares nothing must not pass.
    sys.exit(1 if failures or total["equal"] < 30 else 0)


if __name__ == "__main__":
    main()
