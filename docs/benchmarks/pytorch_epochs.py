#!/usr/bin/env python3
"""Seconds of an epoch of dense training by PyTorch on a GPU, to stand beside `prune`'s: the networks, batches and images of
training-speed/runs.txt. A JSON line on stdout.

  pytorch_epochs.py --network vgg16 --data cifar-10 [--epochs 6] [--compiled] [--graphed] >> training-speed/pytorch.jsonl

Images and labels lie on the GPU and are cropped, flipped and cut out there, bf16 by autocast, channels last, cuDNN's benchmark mode, fused
SGD, and the host waits once an epoch. --compiled: by torch.compile. --graphed: steps of whole batches, augmentation included, as one CUDA
graph; the epoch's last batch, which is smaller, without.
"""
import argparse
import json
import pathlib
import sys
import time

import torch
import torchvision

TRAINED, BATCH, PAD, CUTOUT = 45000, 256, 4, 8
REHEARSALS = 3  # of a step before it becomes a graph
MEAN, DEVIATION = (0.4914, 0.4822, 0.4465), (0.2470, 0.2435, 0.2616)
VGG16 = (64, 64, "M", 128, 128, "M", 256, 256, 256, "M", 512, 512, 512, "M", 512, 512, 512, "M")


def vgg16():
    layers, inputs = [], 3
    for outputs in VGG16:
        if outputs == "M":
            layers.append(torch.nn.MaxPool2d(2))
            continue
        layers += [torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), torch.nn.BatchNorm2d(outputs), torch.nn.ReLU(inplace=True)]
        inputs = outputs
    return torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(512, 10))


def resnet50():
    network = torchvision.models.resnet50(num_classes=10)
    network.conv1 = torch.nn.Conv2d(3, 64, 3, padding=1, bias=False)
    network.maxpool = torch.nn.Identity()
    return network


NETWORKS = {"vgg16": vgg16, "resnet50": resnet50}


def read(folder):
    """Of CIFAR-10's binary files: images [N, 3, 32, 32] u8 and labels [N], on the GPU."""
    parts = [torch.frombuffer(bytearray((folder / f"data_batch_{i}.bin").read_bytes()), dtype=torch.uint8) for i in range(1, 6)]
    rows = torch.cat(parts).view(-1, 3073)[:TRAINED].cuda()
    return rows[:, 1:].reshape(-1, 3, 32, 32).contiguous(), rows[:, 0].long()


class Batches:
    def __init__(self, images, labels):
        self.images = torch.nn.functional.pad(images, (PAD,) * 4)
        self.labels = labels
        self.mean, self.deviation = (torch.tensor(values, device="cuda").view(1, 3, 1, 1) * 255 for values in (MEAN, DEVIATION))
        self.range = torch.arange(32, device="cuda")

    def epoch(self):
        """Places of images, a batch at a time."""
        return torch.randperm(len(self.labels), device="cuda").split(BATCH)

    def augmented(self, chosen):
        n = len(chosen)
        top, left = torch.randint(0, 2 * PAD + 1, (2, n, 1), device="cuda")
        columns = torch.where(torch.rand(n, 1, device="cuda") < 0.5, self.range, 31 - self.range) + left
        rows = self.range + top
        found = self.images[chosen[:, None, None], :, rows[:, :, None], columns[:, None, :]]  # [n, 32, 32, 3]
        values = (found.permute(0, 3, 1, 2) - self.mean) / self.deviation
        y, x = torch.randint(0, 32, (2, n, 1), device="cuda")
        in_rows, in_columns = self.cut_out(y), self.cut_out(x)
        return values.masked_fill((in_rows[:, :, None] & in_columns[:, None, :])[:, None], 0.0)

    def cut_out(self, middle):
        distance = self.range - middle + CUTOUT // 2
        return (distance >= 0) & (distance < CUTOUT)


class Step:
    """A training step on the images at some places; returns its loss."""

    def __init__(self, network, batches, optimizer):
        self.network, self.batches, self.optimizer = network, batches, optimizer

    def __call__(self, chosen):
        self.optimizer.zero_grad(set_to_none=True)
        values, labels = self.batches.augmented(chosen), self.batches.labels[chosen]
        with torch.autocast("cuda", dtype=torch.bfloat16, cache_enabled=False):
            loss = torch.nn.functional.cross_entropy(self.network(values), labels)
        loss.backward()
        self.optimizer.step()
        return loss.detach()


class GraphedStep:
    """The same as a CUDA graph, of whole batches."""

    def __init__(self, step, chosen):
        self.step, self.chosen = step, chosen.clone()
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(REHEARSALS):
                step(self.chosen)
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.loss = step(self.chosen)

    def __call__(self, chosen):
        if len(chosen) < len(self.chosen):
            return self.step(chosen)
        self.chosen.copy_(chosen)
        self.graph.replay()
        return self.loss


def train(step, batches):
    total = torch.zeros((), device="cuda")
    for chosen in batches.epoch():
        total += step(chosen)
    return total.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=NETWORKS, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--graphed", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("found no GPU, expected one")
    torch.backends.cudnn.benchmark = True
    network = NETWORKS[options.network]().cuda().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4, fused=True)
    batches, seconds, losses = Batches(*read(options.data)), [], []
    step = Step(torch.compile(network) if options.compiled else network, batches, optimizer)
    if options.graphed:
        step = GraphedStep(step, batches.epoch()[0])
    how = [name for name, wanted in (("compiled", options.compiled), ("graphed", options.graphed)) if wanted]
    for _ in range(options.epochs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        losses.append(round(train(step, batches) / (TRAINED / BATCH), 4))
        seconds.append(round(time.perf_counter() - start, 4))
    print(json.dumps({"network": options.network, "how": " and ".join(how) or "eager", "device": torch.cuda.get_device_name(),
                      "torch": torch.__version__, "images": TRAINED, "batch": BATCH, "seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
