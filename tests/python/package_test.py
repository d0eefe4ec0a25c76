"""The Python package as a user has it: `package_test.py MODEL EXPORT FOLDER` in the environment where it is installed.

EXPORT is the program; FOLDER takes what the tests write.
"""
import ctypes
import inspect
import os
import subprocess
import sys
import threading
import time
import unittest

import numpy as np
from checkpoints import write_checkpoint

import winnow

MODEL, EXPORT, FOLDER = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)
CHECKPOINT = os.path.join(FOLDER, "checkpoint.safetensors")

try:
    import torch
except ImportError:
    torch = None
try:
    import onnxruntime
except ImportError:
    onnxruntime = None


def bytes_of(samples):
    return (np.arange(9 * samples) * 37 % 256).astype(np.uint8).reshape(samples, 1, 3, 3)


def normalised(bytes_):
    return (bytes_.astype(np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.25)


def write_network(**state):
    """A convolution of 3 channels with a mask for pairs that 8 channels share, a relu and a linear layer."""
    nodes = [{"name": "input", "op": "input", "shape": [2, 2, 2]},
             {"name": "conv", "op": "conv2d", "inputs": ["input"], "in_channels": 2, "out_channels": 3, "kernel": 1},
             {"name": "relu", "op": "relu", "inputs": ["conv"]},
             {"name": "flat", "op": "flatten", "inputs": ["relu"]},
             {"name": "fc", "op": "linear", "inputs": ["flat"], "in_features": 12, "out_features": 2}]
    mask = np.array([1, 0], np.uint8).reshape(1, 2, 1, 1)
    tensors = {"conv.weight": np.arange(1, 7, dtype=np.float32).reshape(3, 2, 1, 1) * mask, "conv.bias": np.ones(3, np.float32),
               "fc.weight": np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 12), "fc.bias": np.zeros(2, np.float32),
               "conv.weight.mask": mask}
    write_checkpoint(CHECKPOINT, {"name": "net", "nodes": nodes}, tensors, {"conv": 8}, **state)
    return tensors


def exported(**state):
    """The network as a model file and as ONNX."""
    write_network(**state)
    paths = [os.path.join(FOLDER, name) for name in ("net.wnw", "net.onnx")]
    subprocess.run([EXPORT, "--in", CHECKPOINT, "-o", paths[0], "--onnx", paths[1]], check=True, capture_output=True)
    return paths


def times_during(call):
    """When this thread could run while another made the call, as shares of the call's time."""
    span, ticks = [], []

    def work():
        span.append(time.perf_counter())
        call()
        span.append(time.perf_counter())

    thread = threading.Thread(target=work)
    thread.start()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    begin, end = span
    return [(tick - begin) / (end - begin) for tick in ticks if begin < tick < end], end - begin


class Models(unittest.TestCase):
    def setUp(self):
        self.model = winnow.load(MODEL, device="cpu", batch=2, threads=1)

    def test_what_a_model_says_of_itself(self):
        model = self.model
        self.assertEqual((model.input_shape, model.output_shape, model.batch), ((1, 3, 3), (2,), 2))
        self.assertEqual((model.classes, model.mean, model.deviation), (["no", "yes"], [0.5], [0.25]))
        self.assertTrue(model.device.startswith("cpu ("))
        self.assertEqual(model.notice, "")
        self.assertEqual([layer["name"] for layer in model.plan["layers"]], ["conv", "flat", "fc"])
        self.assertLess(model.verify(), 1e-5)
        self.assertIn("(1, 3, 3) -> (2,) on cpu", repr(model))

    def test_what_becomes_of_pictures(self):
        self.assertEqual(self.model.picture_form, winnow.PictureForm(None, None, "bilinear"))
        for (resize, crop, interpolation), expected in (
                (("3", "2x2", "bicubic"), winnow.PictureForm(3, (2, 2), "bicubic")),
                (("4x5", "2x2", "box"), winnow.PictureForm((4, 5), (2, 2), "box")),
                (("2x2", "", "nearest"), winnow.PictureForm((2, 2), None, "nearest"))):
            pictures = {"resize": resize, "crop": crop, "interpolation": interpolation}
            model, _ = exported(preprocessing={"mean": [], "deviation": [], "pictures": pictures})
            self.assertEqual(winnow.load(model, device="cpu").picture_form, expected)
            self.assertEqual(winnow.read(model).picture_form, expected)
            self.assertEqual(winnow.read(CHECKPOINT).picture_form, expected)

    def test_known_outputs(self):
        # docs/model-file.md: conv gives its biases, fc adds to 1 and 2.
        np.testing.assert_array_equal(self.model(np.zeros((1, 1, 3, 3), np.float32)), [[0.796875, 2.046875]])

    def test_any_number_of_samples_and_one_alone(self):
        x = normalised(bytes_of(5))
        y = self.model(x)
        self.assertEqual((y.shape, y.dtype), ((5, 2), np.float32))
        np.testing.assert_array_equal(self.model(x[3]), y[3])
        self.assertEqual(self.model(x[:0]).shape, (0, 2))

    def test_bytes_are_normalised_as_in_training(self):
        np.testing.assert_array_equal(self.model(bytes_of(3)), self.model(normalised(bytes_of(3))))

    def test_other_floats_strides_and_lists_are_converted(self):
        x = normalised(bytes_of(2))
        y = self.model(x)
        np.testing.assert_array_equal(self.model(x.astype(np.float64)), y)
        np.testing.assert_array_equal(self.model(np.asfortranarray(x)), y)
        np.testing.assert_array_equal(self.model(x.astype(np.float64).tolist()), y)

    def test_bytes_of_a_file_are_a_model_too(self):
        with open(MODEL, "rb") as file:
            again = winnow.load(file.read(), device="cpu", batch=2, threads=1)
        np.testing.assert_allclose(again(bytes_of(2)), self.model(bytes_of(2)), rtol=1e-6)

    def test_threads_may_call_one_model(self):
        x = [normalised(bytes_of(4)) * np.float32(i) for i in range(4)]
        expected = [self.model(one) for one in x]
        wrong = []

        def work(i):
            for _ in range(50):
                if not np.array_equal(self.model(x[i]), expected[i]):
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_other_threads_run_meanwhile(self):
        samples = 1024
        while True:  # until the call takes long enough to be interrupted by the system's clock
            ticks, seconds = times_during(lambda: self.model(np.zeros((samples, 1, 3, 3), np.float32)))
            if seconds > 0.3:
                break
            samples *= 2
        self.assertTrue(any(0.25 < tick < 0.75 for tick in ticks), f"{len(ticks)} ticks in {seconds} s")
        # A call that keeps Python's lock lets nothing through: the measure above can fail.
        ticks, _ = times_during(lambda: ctypes.PyDLL(None).usleep(300000))
        self.assertFalse(any(0.25 < tick < 0.75 for tick in ticks))

    @unittest.skipIf(onnxruntime is None, "onnxruntime is not installed")
    def test_same_as_onnx_runtime(self):
        model, onnx = exported()
        x = np.random.default_rng(1).standard_normal((5, 2, 2, 2)).astype(np.float32)
        session = onnxruntime.InferenceSession(onnx, providers=["CPUExecutionProvider"])
        np.testing.assert_allclose(winnow.load(model, device="cpu", batch=2)(x), session.run(None, {"input": x})[0],
                                   rtol=1e-5, atol=1e-5)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_same_as_torch(self):
        model, _ = exported()
        module = torch.nn.Sequential()
        for name, layer in (("conv", torch.nn.Conv2d(2, 3, 1)), ("relu", torch.nn.ReLU()), ("flat", torch.nn.Flatten()),
                            ("fc", torch.nn.Linear(12, 2))):
            module.add_module(name, layer)
        state = winnow.to_state_dict(CHECKPOINT)
        module.load_state_dict({name: torch.from_numpy(values) for name, values in state.items()}, strict=True)
        x = torch.from_numpy(np.random.default_rng(1).standard_normal((5, 2, 2, 2)).astype(np.float32))
        with torch.no_grad():
            expected = module(x)
        torch.testing.assert_close(winnow.load(model, device="cpu", batch=2)(x), expected, rtol=1e-5, atol=1e-5)

    @unittest.skipIf(torch is None, "torch is not installed")
    def test_torch_in_torch_out(self):
        x = torch.from_numpy(normalised(bytes_of(3)))
        y = self.model(x)
        self.assertIsInstance(y, torch.Tensor)
        np.testing.assert_array_equal(y.numpy(), self.model(x.numpy()))
        np.testing.assert_array_equal(self.model(x.requires_grad_()).numpy(), y.numpy())

    @unittest.skipUnless(torch is not None and torch.cuda.is_available(), "torch has no GPU")
    def test_torch_on_a_gpu_stays_there(self):
        model = winnow.load(MODEL, device="cuda", batch=2)
        x = torch.from_numpy(normalised(bytes_of(5))).cuda()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            y = model(x)
            of_bytes = model(torch.from_numpy(bytes_of(5)).cuda())
        stream.synchronize()
        self.assertEqual(y.device, x.device)
        np.testing.assert_allclose(y.cpu().numpy(), self.model(normalised(bytes_of(5))), rtol=1e-5)
        np.testing.assert_allclose(of_bytes.cpu().numpy(), y.cpu().numpy(), rtol=1e-6)
        other = model.share()
        np.testing.assert_array_equal(other(x).cpu().numpy(), y.cpu().numpy())


class Refusals(unittest.TestCase):
    def refused(self, code, text, call, *arguments, **named):
        with self.assertRaises(winnow.Error) as caught:
            call(*arguments, **named)
        self.assertEqual(caught.exception.code, code)
        self.assertIn(text, str(caught.exception))

    def test_errors_have_the_programs_code(self):
        self.refused(winnow.Code.BAD_FILE, "no-such.wnw: cannot open", winnow.load, "no-such.wnw")
        self.refused(winnow.Code.BAD_FILE, "model in memory: ", winnow.load, b"nothing")
        self.refused(winnow.Code.USAGE, "did you mean 'cuda'?", winnow.load, MODEL, device="gpu")
        self.refused(winnow.Code.USAGE, "precision is 'f64', expected 'f32' or 'f16'", winnow.load, MODEL, precision="f64")
        self.refused(winnow.Code.USAGE, "batch is 0, expected 1 or more", winnow.load, MODEL, batch=0)

    def test_inputs_that_do_not_fit(self):
        model = winnow.load(MODEL, device="cpu")
        self.refused(winnow.Code.USAGE, "input of shape (2, 9), expected ('n', 1, 3, 3)", model, np.zeros((2, 9), np.float32))
        self.refused(winnow.Code.USAGE, "input of int64, expected floats or uint8", model, np.zeros((1, 1, 3, 3), np.int64))
        self.refused(winnow.Code.USAGE, "sharing needs a GPU", model.share)


class Files(unittest.TestCase):
    def test_a_deployed_model(self):
        network = winnow.read(MODEL)
        self.assertEqual([node["op"] for node in network.graph["nodes"]][:2], ["input", "conv2d"])
        self.assertEqual(network.parameters["conv.weight"].shape, (2, 1, 2, 2))
        self.assertEqual(list(network.masks), ["conv"])
        self.assertEqual(int(network.masks["conv"].sum()), 3)
        self.assertEqual(network.classes, ["no", "yes"])
        self.assertAlmostEqual(network.sparsity, 5 / 24)

    def test_a_checkpoint_and_its_state_dict(self):
        tensors = write_network()
        network = winnow.read(CHECKPOINT)
        expected = np.array([True, False] * 3).reshape(3, 2, 1, 1)
        np.testing.assert_array_equal(network.masks["conv"], expected)
        self.assertAlmostEqual(network.sparsity, 3 / 30)
        self.assertEqual([node["name"] for node in network.graph["nodes"]], ["input", "conv", "relu", "flat", "fc"])
        for state in (winnow.to_state_dict(CHECKPOINT), winnow.to_state_dict(network)):
            self.assertEqual(sorted(state), ["conv.bias", "conv.weight", "fc.bias", "fc.weight"])
            for name, values in state.items():
                np.testing.assert_array_equal(values, tensors[name])


class Interface(unittest.TestCase):
    """What editors and help() show."""

    def test_everything_public_has_a_docstring_and_types(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(winnow.__file__), "py.typed")))
        for name in winnow.__all__:
            self.assertTrue(inspect.getdoc(getattr(winnow, name)), name)
        functions = {"load": winnow.load, "read": winnow.read, "to_state_dict": winnow.to_state_dict}
        for owner in (winnow.Model, winnow.Network):
            for name, member in vars(owner).items():
                if isinstance(member, property):
                    functions[f"{owner.__name__}.{name}"] = member.fget
                elif inspect.isfunction(member) and (name == "__call__" or not name.startswith("_")):
                    functions[f"{owner.__name__}.{name}"] = member
        self.assertIn("Model.verify", functions)
        self.assertIn("Network.sparsity", functions)
        for name, function in functions.items():
            self.assertTrue(function.__doc__, f"{name} has no docstring")
            hints = inspect.signature(function)
            self.assertIsNot(hints.return_annotation, inspect.Signature.empty, f"{name} does not say what it returns")
            for parameter in hints.parameters.values():
                is_typed = parameter.name == "self" or parameter.annotation is not inspect.Parameter.empty
                self.assertTrue(is_typed, f"{name}: {parameter.name} has no type")


if __name__ == "__main__":
    unittest.main(verbosity=2)
