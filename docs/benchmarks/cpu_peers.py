#!/usr/bin/env python3
"""Whole networks on a CPU: ours beside the engines that users could take instead, in turns. JSON lines on stdout.

  cpu_peers.py --library libwinnow.so --export export --folder FOLDER [--threads 2] [--rounds 3] [--only resnet50-90-1]
               [--batches 1 16] >> cpu-networks/results.jsonl
  cpu_peers.py --library libwinnow.so --library-note "oneDNN 3.2.0" --only vgg16-0-1 ... >> cpu-networks/onednn.jsonl

Makes the networks (cpu_networks.py) in FOLDER. Each time is taken in a process of its own: a few runs that are not
counted, then runs for a few seconds, input and output in host memory. The engines take turns, so that what else the
machine does hits all alike; where other processes take more than a twentieth of a processor meanwhile the time is
taken anew, up to --tries times, and the one with the least of that counts ("others", in processors). Outputs are
compared with ONNX Runtime's. What a network, batch and engine gave is in one line: the median and the least time of
each round. Without masks only ours runs, by oneDNN: how fast dense layers are.

  python3 -m venv peers && peers/bin/pip install deepsparse==1.8.0 onnxruntime openvino onnx   (Python 3.8 to 3.11)
"""
import argparse
import ctypes
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = ["onnxruntime", "openvino", "deepsparse", "winnow"]
CASES = [(network, *mask) for network in ("resnet50", "vgg16") for mask in ((90, 1), (95, 1), (90, 16), (0, 1))]


MOST_OTHERS = 0.05  # processors that other processes may take while times are taken


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_char_p), ("batch", ctypes.c_int64),
                ("precision", ctypes.c_int), ("threads", ctypes.c_int32), ("max_model_bytes", ctypes.c_uint64)]


def winnow(args, batch):
    library = ctypes.CDLL(args.library)
    library.winnow_last_error.restype = ctypes.c_char_p
    library.winnow_output_size.restype = ctypes.c_int64
    library.winnow_device.restype = ctypes.c_char_p
    engine = ctypes.c_void_p()
    options = Options(ctypes.sizeof(Options), b"cpu", batch, 0, args.threads, 0)
    if library.winnow_load(args.model.encode(), ctypes.byref(options), ctypes.byref(engine)):
        raise SystemExit(library.winnow_last_error().decode())
    output = np.empty((batch, library.winnow_output_size(engine)), np.float32)

    def run(x):
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in (x, output)]
        if library.winnow_run(engine, pointers[0], ctypes.c_int64(batch), pointers[1]):
            raise SystemExit(library.winnow_last_error().decode())
        return output
    return run, library.winnow_device(engine).decode()


def onnxruntime(args, batch):
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = args.threads
    session = ort.InferenceSession(args.model, options, providers=["CPUExecutionProvider"])
    return lambda x: session.run(None, {"input": x})[0], ""


def openvino(args, batch):
    import openvino as ov
    core = ov.Core()
    model = core.read_model(args.model)
    model.reshape([batch, 3, 224, 224])
    compiled = core.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": args.threads, "PERFORMANCE_HINT": "LATENCY",
                                                 "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    return lambda x: next(iter(request.infer({0: x}).values())), ""


def deepsparse(args, batch):
    import deepsparse as ds
    engine = ds.Engine(args.model, batch_size=batch, num_cores=args.threads)
    return lambda x: engine.run([x])[0], ""


def busy_seconds():
    """Of all processors for all processes, and of this process, since some time ago."""
    with open("/proc/stat", encoding="utf-8") as file:
        user, nice, system, _, _, irq, soft, steal = (int(x) for x in file.readline().split()[1:9])
    own = os.times()
    return (user + nice + system + irq + soft + steal) / os.sysconf("SC_CLK_TCK"), own.user + own.system


def measure(args):
    """One engine, network and batch: prints one JSON object."""
    x = np.random.default_rng(0).random((args.batch, 3, 224, 224), dtype=np.float32)
    start = time.perf_counter()
    run, note = globals()[args.engine](args, args.batch)
    ready = time.perf_counter() - start
    for _ in range(3):
        output = run(x)
    before, own_before = busy_seconds()
    times, start = [], time.perf_counter()
    while len(times) < 5 or time.perf_counter() - start < args.seconds:
        begin = time.perf_counter()
        run(x)
        times.append(1e3 * (time.perf_counter() - begin))
    busy, own = busy_seconds()
    others = (busy - before - (own - own_before)) / (time.perf_counter() - start)
    np.save(args.output, np.asarray(output))
    print("RESULT " + json.dumps({"ms": statistics.median(times), "least_ms": min(times), "runs": len(times),
                                  "seconds_to_load": ready, "others": others, "note": note}))


def version(args, engine):
    return args.library_note if engine == "winnow" else importlib.metadata.version(engine)


def one_round(args, case, batch, engine):
    model = args.folder / case / (args.network + (".wnw" if engine == "winnow" else ".onnx"))
    output = args.folder / f"{engine}.npy"
    command = [sys.executable, __file__, "--measure", "--engine", engine, "--model", str(model), "--batch", str(batch),
               "--threads", str(args.threads), "--library", str(args.library), "--output", str(output),
               "--seconds", str(args.seconds)]
    best = None
    for _ in range(args.tries):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = [json.loads(line[7:]) for line in done.stdout.splitlines() if line.startswith("RESULT ")]
        if not found:
            raise SystemExit(f"{engine}, {case}, batch {batch}: {done.stderr[-500:]}")
        if best is None or found[0]["others"] < best["others"]:
            best = found[0]
        if best["others"] < MOST_OTHERS:
            break
    return best, np.load(output)


def make(args, network, sparsity, vector):
    folder = args.folder / f"{network}-{sparsity}-{vector}"
    model = folder / (network + ".wnw")
    if not model.exists():
        subprocess.run([sys.executable, HERE / "cpu_networks.py", network, str(sparsity), str(vector), folder], check=True)
        subprocess.run([args.export, "--in", folder / (network + ".safetensors"), "-o", model], check=True,
                       stdout=subprocess.DEVNULL)
        os.remove(folder / (network + ".safetensors"))
    return folder.name


def processor():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor()


def compare(args):
    for network, sparsity, vector in CASES:
        if args.only and args.only != f"{network}-{sparsity}-{vector}":
            continue
        args.network = network
        case = make(args, network, sparsity, vector)
        engines = ENGINES if sparsity else ["winnow"]
        for batch in args.batches:
            found = {engine: [] for engine in engines}
            errors = {}
            for _ in range(args.rounds):
                reference = None
                for engine in engines:
                    result, output = one_round(args, case, batch, engine)
                    reference = output if reference is None else reference
                    found[engine].append(result)
                    errors[engine] = float(np.abs(output - reference).max() / np.abs(reference).max())
            for engine, rounds in found.items():
                print(json.dumps({
                    "network": network, "sparsity_percent": sparsity, "vector": vector, "batch": batch, "engine": engine,
                    "version": version(args, engine), "processor": processor(), "threads": args.threads,
                    "ms": [round(r["ms"], 3) for r in rounds], "least_ms": [round(r["least_ms"], 3) for r in rounds],
                    "seconds_to_load": [round(r["seconds_to_load"], 2) for r in rounds],
                    "others": [round(r["others"], 3) for r in rounds], "runs": [r["runs"] for r in rounds],
                    "difference": float(f"{errors[engine]:.2g}")}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--library-note", default="", help="what the lines of the library say as its version")
    parser.add_argument("--export", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only")
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 16])
    for name in ("--engine", "--model", "--output"):
        parser.add_argument(name)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--measure", action="store_true")
    args = parser.parse_args()
    measure(args) if args.measure else compare(args)


if __name__ == "__main__":
    main()
