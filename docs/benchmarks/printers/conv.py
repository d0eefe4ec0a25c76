"""The direct sparse convolution, layer by layer: direct-conv.md, from the JSON lines of gpu_conv_bench."""
from statistics import median

from printers.common import read_lines, table

PRECISIONS = {"f16": "fp16", "f32": "fp32, exact", "tf32": "fp32, dense may use TF32"}
GRANULARITIES = {1: "element", 16: "vector16"}
RAGGED, PADDED, BALANCED = ("direct", "independent"), ("direct_ell", "independent"), ("direct", "balanced")
DENSE = ("dense", "independent")


def lines(precision):
    return [line for line in read_lines(f"direct-conv/conv-{precision}.jsonl") if "ms" in line]


def cases(precision):
    """{(layer, batch): {"dense" or (family, masks, vector, sparsity): line}}; "dense" is on any weights."""
    found = {}
    for line in lines(precision):
        row = found.setdefault((line["layer"], line["batch"]), {})
        if line["family"] == "dense":
            row.setdefault("dense", line)
        if "masks" in line:
            row[line["family"], line["masks"], line["vector"], line["sparsity_percent"]] = line
    return found


def dense_ms(row, mask):
    """On the very weights of the mask, if it was timed on them."""
    return row.get(DENSE + mask, row["dense"])["ms"]


def masks(precision):
    """(vector, sparsity) of all sparse lines."""
    return sorted({key[2:] for row in cases(precision).values() for key in row if "dense" not in (key, key[0])})


def speeds(precision):
    def text():
        columns = masks(precision)
        header = ["layer", "batch", "dense us", *(f"{GRANULARITIES[v]} {s:g} %" for v, s in columns)]
        body = []
        for (layer, batch), row in cases(precision).items():
            body.append([layer, str(batch), f"{1e3 * row['dense']['ms']:.1f}",
                         *(f"{dense_ms(row, c) / row[RAGGED + c]['ms']:.2f}x" for c in columns)])
        return table(header, body)
    return text


def gains(precision, batch, mask, form):
    """Time of ragged rows over that of another form, in all layers."""
    return [row[RAGGED + mask]["ms"] / row[form + mask]["ms"] for (_, n), row in cases(precision).items()
            if n == batch and RAGGED + mask in row and form + mask in row]


def spans(found):
    return f"{median(found):.2f} ({min(found):.2f} to {max(found):.2f})" if found else ""


def forms():
    body = []
    for precision in ("f16", "f32"):
        for batch in sorted({n for _, n in cases(precision)}):
            for mask in masks(precision):
                vector, sparsity = mask
                pads = [row[PADDED + mask]["pads_per_block"] for (_, n), row in cases(precision).items()
                        if n == batch and PADDED + mask in row]
                body.append([PRECISIONS[precision].split(",")[0], str(batch), f"{GRANULARITIES[vector]} {sparsity:g} %",
                             f"{median(pads):.2f}", spans(gains(precision, batch, mask, PADDED)),
                             spans(gains(precision, batch, mask, BALANCED))])
    return table(["", "batch", "masks", "pads per block, median", "padded rows", "balanced masks"], body)


def scope():
    every = [case for precision in PRECISIONS for case in cases(precision)]
    layers = list(dict.fromkeys(layer for layer, _ in every))
    batches = sorted({batch for _, batch in every})
    return f"{len(layers)} layers, from {layers[0]} to {layers[-1]}, batch {' and '.join(map(str, batches))}"


def kernels():
    counts = [line["kernels"] for precision in PRECISIONS for line in lines(precision) if line["family"] == "dense"]
    return f"{min(counts)} to {max(counts)}"


def launches():
    counts = sorted({line["launches"] for precision in PRECISIONS for line in lines(precision)})
    return f"{counts[0]} to {counts[-1]}"


def spread():
    spreads = sorted(line["spread"] for precision in PRECISIONS for line in lines(precision))
    return (f"median {100 * median(spreads):.1f} %, nine in ten below {100 * spreads[len(spreads) * 9 // 10]:.1f} %, "
            f"at most {100 * spreads[-1]:.0f} %")


def wins():
    """Of how many layers the ragged sparse kernel beats dense."""
    body = []
    for precision, title in PRECISIONS.items():
        for batch in sorted({n for _, n in cases(precision)}):
            found = {mask: [dense_ms(row, mask) / row[RAGGED + mask]["ms"] for (_, n), row in cases(precision).items()
                            if n == batch] for mask in masks(precision)}
            body.append([title, str(batch), *(f"{sum(g > 1 for g in f)} of {len(f)}, {median(f):.2f}x" for f in found.values())])
    return table(["", "batch", *(f"{GRANULARITIES[v]} {s:g} %" for v, s in masks("f16"))], body)


def errors():
    parts = []
    for precision in PRECISIONS:
        worst = {}
        for line in lines(precision):
            worst[line["family"]] = max(worst.get(line["family"], 0), line["error"])
        parts += [f"{precision} {family} {error:.1e}" for family, error in worst.items()]
    return ", ".join(parts)


BLOCKS = {"conv.scope": scope, "conv.kernels": kernels, "conv.launches": launches, "conv.spread": spread,
          "conv.errors": errors, "conv.forms": forms, "conv.wins": wins,
          **{f"conv.speeds.{p}": speeds(p) for p in PRECISIONS}}
