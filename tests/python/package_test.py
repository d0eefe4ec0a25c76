"""The Python package as a user has it: `package_test.py MODEL CHECKPOINT` in the environment where it is installed."""
import json
import struct
import sys
import threading
import unittest

import numpy as np

import winnow

MODEL, CHECKPOINT = sys.argv.pop(1), sys.argv.pop(1)  # the latter is written

try:
    import torch
except ImportError:
    torch = None


def bytes_of(samples):
    return (np.arange(9 * samples) * 37 % 256).astype(np.uint8).reshape(samples, 1, 3, 3)


def normalised(bytes_):
    return (bytes_.astype(np.float32) / np.float32(255) - np.float32(0.5)) / np.float32(0.25)


def write_checkpoint(path):
    """A convolution of 3 channels with a mask for pairs that 8 channels share, and a linear layer."""
    nodes = [{"name": "input", "op": "input", "shape": [2, 2, 2]},
             {"name": "conv", "op": "conv2d", "inputs": ["input"], "in_channels": 2, "out_channels": 3, "kernel": 1},
             {"name": "flat", "op": "flatten", "inputs": ["conv"]},
             {"name": "fc", "op": "linear", "inputs": ["flat"], "in_features": 12, "out_features": 2}]
    mask = np.array([1, 0], np.uint8).reshape(1, 2, 1, 1)
    tensors = {"conv.weight": np.arange(1, 7, dtype=np.float32).reshape(3, 2, 1, 1) * mask, "conv.bias": np.ones(3, np.float32),
               "fc.weight": np.ones((2, 12), np.float32), "fc.bias": np.zeros(2, np.float32), "conv.weight.mask": mask}
    state = {"activation_bits": 0, "activation_frac": {}, "classes": [], "mask_vector": {"conv": 8},
             "preprocessing": {"mean": [], "deviation": []}}
    header = {"__metadata__": {"winnow.format": "1", "winnow.state": json.dumps(state),
                               "winnow.graph": json.dumps({"name": "net", "nodes": nodes})}}
    offset = 0
    for name, tensor in tensors.items():
        kind = "U8" if tensor.dtype == np.uint8 else "F32"
        header[name] = {"dtype": kind, "shape": list(tensor.shape), "data_offsets": [offset, offset + tensor.nbytes]}
        offset += tensor.nbytes
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.tobytes())
    return tensors


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
        tensors = write_checkpoint(CHECKPOINT)
        network = winnow.read(CHECKPOINT)
        expected = np.array([True, False] * 3).reshape(3, 2, 1, 1)
        np.testing.assert_array_equal(network.masks["conv"], expected)
        self.assertAlmostEqual(network.sparsity, 3 / 30)
        state = winnow.to_state_dict(CHECKPOINT)
        self.assertEqual(sorted(state), ["conv.bias", "conv.weight", "fc.bias", "fc.weight"])
        for name, values in state.items():
            np.testing.assert_array_equal(values, tensors[name])
        if torch is not None:
            module = torch.nn.ModuleDict({"conv": torch.nn.Conv2d(2, 3, 1), "fc": torch.nn.Linear(12, 2)})
            module.load_state_dict({name: torch.from_numpy(values) for name, values in state.items()})


if __name__ == "__main__":
    unittest.main(verbosity=2)
