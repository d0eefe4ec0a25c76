"""Winnow's programs and its C library, for the tests in Python beside this file."""
import ctypes
import os
import subprocess

import numpy as np


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("batch", ctypes.c_int64),
                ("precision", ctypes.c_int32), ("threads", ctypes.c_int32), ("rest", ctypes.c_uint64 * 3)]


class Library:
    """The C library, by ctypes."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.winnow_last_error.restype = ctypes.c_char_p
        self.c.winnow_free.argtypes = [ctypes.c_void_p]
        for name in ("winnow_input_size", "winnow_output_size"):
            getattr(self.c, name).restype = ctypes.c_int64
            getattr(self.c, name).argtypes = [ctypes.c_void_p]

    def run(self, model, values):
        """values: [N, ...] floats -> [N, outputs]"""
        options = Options(ctypes.sizeof(Options), b"cpu", len(values))
        engine = ctypes.c_void_p()
        if self.c.winnow_load(model.encode(), ctypes.byref(options), ctypes.byref(engine)) != 0:
            raise RuntimeError("load: " + self.c.winnow_last_error().decode())
        values = np.ascontiguousarray(values, np.float32)
        assert self.c.winnow_input_size(engine) * len(values) == values.size
        result = np.empty((len(values), self.c.winnow_output_size(engine)), np.float32)
        pointer = ctypes.POINTER(ctypes.c_float)
        status = self.c.winnow_run(engine, values.ctypes.data_as(pointer), ctypes.c_int64(len(values)),
                                   result.ctypes.data_as(pointer))
        self.c.winnow_free(engine)
        if status != 0:
            raise RuntimeError("run: " + self.c.winnow_last_error().decode())
        return result


class Programs:
    def __init__(self, bin_dir):
        self.bin_dir = bin_dir

    def run(self, name, *arguments):
        return subprocess.run([os.path.join(self.bin_dir, name), *arguments], capture_output=True, text=True)


def relative_difference(found, expected):
    expected = np.asarray(expected, np.float32).reshape(found.shape)
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-6)
