#!/usr/bin/env python3
"""Seconds of an epoch of dense training by PyTorch on a GPU, to stand beside `prune`'s: the networks, batches and images of
training-speed/runs.txt. A JSON line on stdout.

  pytorch_epochs.py --network vgg16 --data cifar-10 [--epochs 6] [--compiled] >> training-speed/pytorch.jsonl

As fast as its own means make it: images and labels lie on the GPU and are cropped, flipped and cut out there, bf16 by autocast, channels
last, cuDNN's benchmark mode, fused SGD, and the host waits once an epoch. --compiled: by torch.compile.
"""
import argparse
import json
import pathlib
import sys
import time

import torch
import torchvision

TRAINED, BATCH, PAD, CUTOUT = 45000, 256, 4, 8
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
        order = torch.randperm(len(self.labels), device="cuda")
        for chosen in order.split(BATCH):
            yield self.augmented(chosen), self.labels[chosen]

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


def train(network, batches, optimizer):
    total = torch.zeros((), device="cuda")
    for values, labels in batches.epoch():
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = torch.nn.functional.cross_entropy(network(values), labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total.item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", choices=NETWORKS, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--compiled", action="store_true")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("found no GPU, expected one")
    torch.backends.cudnn.benchmark = True
    network = NETWORKS[options.network]().cuda().to(memory_format=torch.channels_last).train()
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=5e-4, fused=True)
    run = torch.compile(network) if options.compiled else network
    batches, seconds, losses = Batches(*read(options.data)), [], []
    for _ in range(options.epochs):
        torch.cuda.synchronize()
        start = time.perf_counter()
        losses.append(round(train(run, batches, optimizer) / (TRAINED / BATCH), 4))
        seconds.append(round(time.perf_counter() - start, 4))
    print(json.dumps({"network": options.network, "how": "compiled" if options.compiled else "eager", "device": torch.cuda.get_device_name(),
                      "torch": torch.__version__, "images": TRAINED, "batch": BATCH, "seconds": seconds, "losses": losses}))


if __name__ == "__main__":
    main()
