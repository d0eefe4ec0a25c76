"""Models that run."""
from __future__ import annotations

import json
import os
import sys
from typing import Any, Optional, Union

import numpy as np

from . import _winnow
from .errors import Code, Error
from .pictures import PictureForm, form_of


def load(
    model: Union[str, os.PathLike[str], bytes],
    device: str = "auto",
    *,
    batch: int = 1,
    precision: str = "f32",
    threads: int = 0,
    max_model_bytes: int = 0,
    cache: Union[str, os.PathLike[str], None] = None,
    fixed_batch: bool = False,
) -> Model:
    """Loads a model file, or the bytes of one, and plans it.

    device: "auto", "cpu", "cuda" or "cuda:1". batch: samples that run at a time; any number can be given to the model.
    precision: "f32", or on a GPU "f16". threads: of a CPU, 0 takes all cores. max_model_bytes: memory that weights and
    activations may take, 0: 8 GiB. cache: folder that keeps measured times, so that a later start takes none.
    fixed_batch: plan for whole batches alone, which takes less time.

    Raises Error: BAD_FILE for a file that is none, DEVICE where there is no such device.
    """
    options = _winnow.Options(device, batch, precision, threads, max_model_bytes,
                              None if cache is None else os.fspath(cache), fixed_batch)
    if isinstance(model, (bytes, bytearray, memoryview)):
        return Model(_winnow.load_bytes(bytes(model), options))
    return Model(_winnow.load_file(os.fspath(model), options))


class Model:
    """A network on a device; load() makes them. Threads may call one at the same time: its runs follow each other."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __call__(self, x: Any) -> Any:
        """Runs samples.

        x: [n, *input_shape], or one sample without the n. A numpy array, a torch tensor, or anything on a CPU that numpy
        takes (DLPack, lists). Of floats that are normalised already, or uint8, which the model normalises as in
        training; floats other than float32 are converted. A torch tensor on the model's GPU stays there: the run is
        enqueued on torch's current stream, and nothing is copied but batches of bytes, which become floats.

        Returns [n, *output_shape] of the same kind, in the same place.
        """
        torch = sys.modules.get("torch")  # whoever has a tensor has imported it
        if torch is None or not isinstance(x, torch.Tensor):
            return self._run_array(np.asarray(x) if isinstance(x, np.ndarray) or not hasattr(x, "__dlpack__")
                                   else np.from_dlpack(x))
        if x.device.type == "cpu":
            return torch.from_numpy(self._run_array(x.detach().numpy()))
        return self._run_on_gpu(torch, x.detach())

    def verify(self) -> float:
        """Compares each layer with plain loops on a batch of random inputs, which takes long.

        Returns the largest relative error of a layer. Raises Error(QUALITY) if one differs by more than rounding.
        """
        return self._engine.verify()

    def share(self) -> Model:
        """Another model on the same GPU that shares plan and weights, so that both can run at the same time."""
        return Model(self._engine.share())

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Of a sample: (channels, height, width) of pictures."""
        return tuple(self._engine.input_shape)

    @property
    def output_shape(self) -> tuple[int, ...]:
        """Of a sample: (classes,) as a rule."""
        return tuple(self._engine.output_shape)

    @property
    def batch(self) -> int:
        """Samples that run at a time; more are run one batch after another."""
        return self._engine.batch

    @property
    def classes(self) -> list[str]:
        """Names, one for each output, or none."""
        return self._engine.classes

    @property
    def mean(self) -> list[float]:
        """x = (byte / 255 - mean[c]) / deviation[c]; empty: 0."""
        return self._engine.mean

    @property
    def deviation(self) -> list[float]:
        """See mean; empty: 1."""
        return self._engine.deviation

    @property
    def picture_form(self) -> PictureForm:
        """What becomes of a picture before it is uint8 for the model."""
        return form_of(self._engine.picture_form)

    @property
    def device(self) -> str:
        """'cuda:0 (NVIDIA H200)'."""
        return self._engine.device

    @property
    def notice(self) -> str:
        """What was wrong with the cache of timings; empty if nothing was."""
        return self._engine.notice

    @property
    def plan(self) -> dict[str, Any]:
        """What runs where and why: the layers' kernels, and what they were chosen from."""
        return json.loads(self._engine.plan)

    def __repr__(self) -> str:
        return f"<winnow.Model {self.input_shape} -> {self.output_shape} on {self.device}>"

    def _is_single(self, shape: tuple[int, ...]) -> bool:
        if tuple(shape) == self.input_shape:
            return True
        if len(shape) == 0 or tuple(shape[1:]) != self.input_shape:
            raise Error(f"input of shape {tuple(shape)}, expected {('n', *self.input_shape)}", Code.USAGE)
        return False

    def _run_array(self, x: np.ndarray) -> np.ndarray:
        is_single = self._is_single(x.shape)
        if x.dtype == np.uint8:
            y = self._engine.run_bytes(np.ascontiguousarray(x))
        elif np.issubdtype(x.dtype, np.floating):
            y = self._engine.run(np.ascontiguousarray(x, dtype=np.float32))
        else:
            raise Error(f"input of {x.dtype}, expected floats or uint8", Code.USAGE)
        return y.reshape(self.output_shape if is_single else (x.shape[0], *self.output_shape))

    def _run_on_gpu(self, torch: Any, x: Any) -> Any:
        is_single = self._is_single(x.shape)
        if x.dtype == torch.uint8:
            x = self._normalised(torch, x)
        elif not x.dtype.is_floating_point:
            raise Error(f"input of {x.dtype}, expected floats or uint8", Code.USAGE)
        x = x.to(torch.float32).contiguous()
        samples = 1 if is_single else x.shape[0]
        y = torch.empty((samples, *self.output_shape), dtype=torch.float32, device=x.device)
        stream = torch.cuda.current_stream(x.device).cuda_stream
        inputs, outputs = x.reshape(samples, -1), y.reshape(samples, -1)
        for first in range(0, samples, self.batch):
            count = min(self.batch, samples - first)
            self._engine.run_device(inputs[first:].data_ptr(), count, outputs[first:].data_ptr(), stream)
        return y[0] if is_single else y

    def _normalised(self, torch: Any, x: Any) -> Any:
        """In float and rounded after each of the three steps, as in training."""
        sizes = (-1, *([1] * (len(self.input_shape) - 1)))
        x = x.to(torch.float32) / 255
        if self.mean:
            x = x - torch.tensor(self.mean, device=x.device).reshape(sizes)
        if self.deviation:
            x = x / torch.tensor(self.deviation, device=x.device).reshape(sizes)
        return x
