"""Runs networks that Winnow has pruned and exported, and reads its files.

    import winnow
    model = winnow.load("model.wnw", device="cuda", batch=128, precision="f16")
    y = model(x)  # x: numpy, or torch on a CPU or GPU: the result is of the same kind, in the same place
"""
from ._winnow import version
from .errors import Code, Error
from .files import Network, read, to_state_dict
from .model import Model, load
from .pictures import PictureForm

__version__ = version().split(" ")[0]
__all__ = ["Code", "Error", "Model", "Network", "PictureForm", "load", "read", "to_state_dict", "version"]
