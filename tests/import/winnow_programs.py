"""Winnow's programs and its C library, for the tests in Python beside this file."""
import os
import subprocess
import sys

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "python"))
from c_library import Library  # noqa: E402,F401


class Programs:
    def __init__(self, bin_dir):
        self.bin_dir = bin_dir

    def run(self, name, *arguments):
        return subprocess.run([os.path.join(self.bin_dir, name), *arguments], capture_output=True, text=True)


def relative_difference(found, expected):
    expected = np.asarray(expected, np.float32).reshape(found.shape)
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-6)
