"""Safetensors files and checkpoints as prune writes them, made of numpy arrays for tests."""
import json
import struct

import numpy as np

TYPES = {"F16": np.float16, "F32": np.float32, "I64": np.int64, "U8": np.uint8}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}


def write_safetensors(path, tensors, metadata=None):
    """tensors: arrays by name; metadata: texts by name."""
    header = {"__metadata__": metadata} if metadata else {}
    order = sorted(tensors, key=lambda name: (-tensors[name].itemsize, name))
    offset = 0
    for name in order:
        tensor = tensors[name]
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name in order:
            file.write(tensors[name].tobytes())


def read_safetensors(path):
    """Arrays by name, and the metadata."""
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        data = memoryview(file.read())
    metadata = header.pop("__metadata__", {})
    return {name: np.frombuffer(data[slice(*about["data_offsets"])], TYPES[about["dtype"]]).reshape(about["shape"])
            for name, about in header.items()}, metadata


def write_checkpoint(path, graph, tensors, mask_vector=None, **state):
    """graph: {"name", "nodes"}; tensors: arrays by name; mask_vector: by node; state: classes, preprocessing, ..."""
    state = {"activation_bits": 0, "activation_frac": {}, "classes": [], "mask_vector": mask_vector or {},
             "preprocessing": {"mean": [], "deviation": []}, **state}
    write_safetensors(path, tensors, {"winnow.format": "1", "winnow.state": json.dumps(state),
                                      "winnow.graph": json.dumps(graph)})
