"""What `make demo` ends with: results.md, from the files of its run folder."""
from printers.common import ROOT, percent, read, table

FOLDER = "fashion-lenet"


def comparisons():
    return read(f"{FOLDER}/bench.json") if (ROOT / FOLDER / "bench.json").exists() else []


def bench_row(result):
    batch = result["batch"]
    dense, sparse, chosen = (result[plan]["network_ms"]["median"] / batch for plan in ("dense", "sparse", "chosen"))
    name = f"batch {batch}, dense / sparse / chosen" + (", an image" if batch > 1 else "")
    return [name, f"{dense:.4f} / {sparse:.4f} / {chosen:.4f} ms ({dense / chosen:.2f}x)"]


def summary():
    prune, quantize, export, run = (read(f"{FOLDER}/{name}.json") for name in ("prune", "quantize", "export", "run"))
    rows = [
        ["accuracy, dense", f"{percent(prune['dense_accuracy'])} %"],
        ["accuracy, pruned", f"{percent(prune['accuracy'])} %"],
        [f"accuracy, quantized {quantize['scheme']}", f"{quantize['accuracy_after']:.2f} %"],
        [f"accuracy, deployed ({run['samples']:,} test images)", f"{run['accuracy']:.2f} %"],
        ["weight sparsity", f"{percent(prune['sparsity'])} %"],
        ["weights as dense fp32", f"{export['dense_f32_bytes']:,} bytes"],
        ["model file", f"{export['bytes']:,} bytes ({export['dense_f32_bytes'] / export['bytes']:.1f}x smaller)"],
        *map(bench_row, comparisons())]
    return table(["", ""], rows)


def device():
    return read(f"{FOLDER}/run.json")["device"]


BLOCKS = {"demo.summary": summary, "demo.device": device}
