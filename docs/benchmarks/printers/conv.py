"""The direct sparse convolution, layer by layer: results.md, from the JSON lines of gpu_conv_bench."""
from printers.common import ROOT, read_lines, table

PRECISIONS = {"f16": "fp16", "f32": "fp32, exact", "tf32": "fp32, dense may use TF32"}
GRANULARITIES = {1: "element", 16: "vector16"}


def lines(precision):
    path = f"direct-conv/conv-{precision}.jsonl"
    return read_lines(path) if (ROOT / path).exists() else []


def cases(precision):
    """{(layer, batch): {family or (vector, sparsity): line}} of the cases that have sparse kernels."""
    found = {}
    for line in lines(precision):
        if "layer" in line:
            key = "dense" if line["family"] == "dense" else (line["vector"], line["sparsity_percent"])
            found.setdefault((line["layer"], line["batch"]), {})[key] = line
    return {case: row for case, row in found.items() if len(row) > 1}


def speeds(precision):
    rows = cases(precision)
    columns = sorted({key for row in rows.values() for key in row if key != "dense"})
    header = ["layer", "batch", "dense us", *(f"{GRANULARITIES[v]} {s:g} %" for v, s in columns)]
    body = []
    for (layer, batch), row in rows.items():
        dense = row["dense"]["ms"]
        body.append([layer, str(batch), f"{1e3 * dense:.1f}",
                     *(f"{dense / row[c]['ms']:.2f}x" if c in row else "" for c in columns)])
    return table(header, body)


def tables():
    return "\n\n".join(f"{title}:\n\n{speeds(precision)}" for precision, title in PRECISIONS.items() if cases(precision))


def scope():
    parts = []
    for precision, title in PRECISIONS.items():
        found = list(cases(precision))
        if found:
            layers = list(dict.fromkeys(layer for layer, _ in found))
            batches = sorted({batch for _, batch in found})
            parts.append(f"{title}: {len(layers)} layers, from {layers[0]} to {layers[-1]}, "
                         f"batch {' and '.join(map(str, batches))}")
    return "; ".join(parts)


def unfinished():
    """Cases that a run was cut in: they lack columns that others have."""
    missing = []
    for precision in PRECISIONS:
        rows = cases(precision)
        widest = max((len(row) for row in rows.values()), default=0)
        missing += [f"{layer} at batch {batch} ({precision})" for (layer, batch), row in rows.items() if len(row) < widest]
        dense_only = [line for line in lines(precision) if "layer" in line and (line["layer"], line["batch"]) not in rows]
        missing += [f"{layer} at batch {batch} ({precision})" for layer, batch in
                    dict.fromkeys((line["layer"], line["batch"]) for line in dense_only)]
    return "The run was cut in " + ", ".join(missing) + "." if missing else "Every case was measured."


def errors():
    parts = []
    for precision in PRECISIONS:
        worst = {}
        for line in lines(precision):
            if "layer" in line:
                worst[line["family"]] = max(worst.get(line["family"], 0), line["error"])
        parts += [f"{precision} {family} {error:.1e}" for family, error in worst.items()]
    return ", ".join(parts)


BLOCKS = {"conv.speeds": tables, "conv.scope": scope, "conv.unfinished": unfinished, "conv.errors": errors}
