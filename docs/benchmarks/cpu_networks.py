#!/usr/bin/env python3
"""Makes a network with random weights and a random mask, for timing only.

  cpu_networks.py NETWORK SPARSITY VECTOR FOLDER
  cpu_networks.py NETWORK SPARSITY VECTOR --count >> cpu-networks/multiply-adds.jsonl

NETWORK: resnet50 or vgg16 at 224 x 224. SPARSITY: percent of the weights of every layer but the first; 0: no masks. VECTOR:
output channels that share a mask (1: elements). Writes NETWORK.safetensors, which export takes, and NETWORK.onnx,
the same weights with their zeros; or prints how many multiply-adds an image takes, on weights that are kept and of outputs
that exist, padding counted. Needs numpy and onnx.
"""
import json
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Nodes and weights, once for each of the two files."""

    def __init__(self, name, sparsity, vector):
        self.name, self.sparsity, self.vector = name, sparsity, vector
        self.random = np.random.default_rng(1)
        self.nodes, self.tensors, self.masks, self.onnx_nodes = [], {}, {}, []
        self.channels, self.side, self.multiply_adds = {}, {}, 0

    def input(self, channels, side):
        self.nodes.append({"name": "input", "op": "input", "shape": [channels, side, side]})
        self.channels["input"], self.side["input"] = channels, side
        return "input"

    def _add(self, name, op, inputs, onnx_op, channels, settings=None, attributes=None, weights=()):
        self.nodes.append({"name": name, "op": op, "inputs": list(inputs), **(settings or {})})
        self.onnx_nodes.append(helper.make_node(onnx_op, [*inputs, *weights], [name], **(attributes or {})))
        self.channels[name] = channels
        self.side[name] = self._side_after(inputs[0], settings or {})
        return name

    def _side_after(self, x, settings):
        if "kernel" not in settings:
            return self.side[x]
        return (self.side[x] + 2 * settings["padding"] - settings["kernel"]) // settings["stride"] + 1

    def _weights(self, name, shape, gain):
        """He's scale for the weights that are kept, so that activations keep their size."""
        rows, columns = shape[0], int(np.prod(shape[1:]))
        is_first = not self.masks
        kept = 1.0 if is_first else 1 - self.sparsity / 100
        mask = np.ones((rows, columns), np.uint8)
        if not is_first:
            blocks = -(-rows // self.vector)
            mask = (self.random.random((blocks, columns)) < kept).astype(np.uint8)
        every = np.repeat(mask, 1 if is_first else self.vector, axis=0)[:rows]
        weight = self.random.standard_normal((rows, columns)) * np.sqrt(gain / (columns * kept)) * every
        self.tensors[name + ".weight"] = weight.reshape(shape).astype(np.float32)
        self.tensors[name + ".bias"] = (self.random.standard_normal(rows) * 0.01).astype(np.float32)
        self.masks[name] = mask.reshape(-1, *shape[1:])
        return int(every.sum())

    def conv(self, x, out, kernel, stride=1, relu=True, gain=2.0):
        name = f"conv{len(self.masks)}"
        kept = self._weights(name, (out, self.channels[x], kernel, kernel), gain)
        pad = kernel // 2
        y = self._add(name, "conv2d", [x], "Conv", out,
                      {"in_channels": self.channels[x], "out_channels": out, "kernel": kernel, "stride": stride,
                       "padding": pad},
                      {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4},
                      [name + ".weight", name + ".bias"])
        self.multiply_adds += kept * self.side[y] ** 2
        return self.relu(y) if relu else y

    def linear(self, x, features, out, relu=False):
        name = f"linear{len(self.masks)}"
        self.multiply_adds += self._weights(name, (out, features), 2.0 if relu else 1.0)
        y = self._add(name, "linear", [x], "Gemm", out, {"in_features": features, "out_features": out},
                      {"transB": 1}, [name + ".weight", name + ".bias"])
        return self.relu(y) if relu else y

    def relu(self, x):
        return self._add(x + "_relu", "relu", [x], "Relu", self.channels[x])

    def add(self, a, b):
        return self.relu(self._add(f"add{len(self.nodes)}", "add", [a, b], "Add", self.channels[a]))

    def max_pool(self, x, kernel, stride, padding):
        return self._add(f"pool{len(self.nodes)}", "max_pool", [x], "MaxPool", self.channels[x],
                         {"kernel": kernel, "stride": stride, "padding": padding},
                         {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [padding] * 4})

    def global_average(self, x):
        return self._add("average", "global_avg_pool", [x], "GlobalAveragePool", self.channels[x])

    def flatten(self, x):
        return self._add("flatten", "flatten", [x], "Flatten", self.channels[x])

    def write_safetensors(self, path):
        tensors = dict(self.tensors)
        vectors = {}
        for name, mask in self.masks.items():
            if name == next(iter(self.masks)) or self.sparsity == 0:
                continue  # dense
            tensors[name + ".weight.mask"] = mask
            vectors[name] = self.vector
        state = {"activation_bits": 0, "activation_frac": {}, "classes": [], "mask_vector": vectors,
                 "preprocessing": {"mean": [], "deviation": []}}
        header = {"__metadata__": {"winnow.format": "1", "winnow.state": json.dumps(state),
                                   "winnow.graph": json.dumps({"name": self.name, "nodes": self.nodes})}}
        offset = 0
        for name, tensor in tensors.items():
            kind = "U8" if tensor.dtype == np.uint8 else "F32"
            header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [offset, offset + tensor.nbytes]}
            offset += tensor.nbytes
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(path, "wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            for tensor in tensors.values():
                file.write(np.ascontiguousarray(tensor).tobytes())

    def write_onnx(self, path, output):
        shape = self.nodes[0]["shape"]
        graph = helper.make_graph(
            self.onnx_nodes, self.name,
            [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["batch", *shape])],
            [helper.make_tensor_value_info(output, TensorProto.FLOAT, ["batch", self.channels[output]])],
            [numpy_helper.from_array(tensor, name) for name, tensor in self.tensors.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)])
        model.ir_version = 7
        onnx.checker.check_model(model)
        onnx.save(model, path)


def resnet50(net):
    """He et al. 2016 with the stride in the 3 x 3 convolution; batch norm folded."""
    x = net.max_pool(net.conv(net.input(3, 224), 64, 7, 2), 3, 2, 1)
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for block in range(blocks):
            step = stride if block == 0 else 1
            y = net.conv(net.conv(x, width, 1), width, 3, step)
            y = net.conv(y, 4 * width, 1, relu=False, gain=0.3)
            x = net.add(y, net.conv(x, 4 * width, 1, step, relu=False, gain=1.0) if block == 0 else x)
    return net.linear(net.flatten(net.global_average(x)), 2048, 1000)


def vgg16(net):
    """Simonyan and Zisserman 2014, configuration D."""
    x = net.input(3, 224)
    for width, layers in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(layers):
            x = net.conv(x, width, 3)
        x = net.max_pool(x, 2, 2, 0)
    x = net.linear(net.flatten(x), 512 * 7 * 7, 4096, relu=True)
    return net.linear(net.linear(x, 4096, 4096, relu=True), 4096, 1000)


def main():
    name, sparsity, vector, folder = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    net = Network(name, sparsity, vector)
    output = {"resnet50": resnet50, "vgg16": vgg16}[name](net)
    if folder == "--count":
        print(json.dumps({"network": name, "sparsity_percent": round(sparsity), "vector": vector,
                          "multiply_adds": net.multiply_adds}))
        return
    os.makedirs(folder, exist_ok=True)
    net.write_safetensors(os.path.join(folder, name + ".safetensors"))
    net.write_onnx(os.path.join(folder, name + ".onnx"), output)


if __name__ == "__main__":
    main()
