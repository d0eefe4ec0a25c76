"""Sparse convolutions against everything else: convolution.md, from the JSON lines of gpu_conv_bench and gpu_rival_bench
and what `runtime bench` writes, all in docs/benchmarks/convolution. What is not there prints NONE."""
from statistics import median

from printers.common import ROOT, card_of, read, read_lines, table
from printers.figure import chart
from printers.paper003 import DROPS, LAYERS

FOLDER = "convolution"
NONE = "Not measured."
BATCH = 128  # of the tables of single layers


def lines(name):
    path = f"{FOLDER}/{name}.jsonl"
    return [line for line in read_lines(path) if "layer" in line] if (ROOT / path).exists() else []


def mask_of(line):
    return line["masks"], line["vector"], line["sparsity_percent"]


def cases(name, batch=BATCH, precision="f16"):
    """{layer: {mask: {family, or (family, sub-batch): line}}}; the dense weights' mask has sparsity 0. Sparse kernels
    are the same with TF32."""
    found = {}
    for line in lines(name):
        wanted = "f32" if precision == "tf32" and line["family"] != "dense" else precision
        if (line["batch"], line["precision"]) != (batch, wanted):
            continue
        key = (line["family"], line["sub_batch"]) if "sub_batch" in line else line["family"]
        row = found.setdefault(line["layer"], {}).setdefault(mask_of(line), {})
        if key not in row or line.get("ms", 0) < row[key].get("ms", 0):
            row[key] = line
    return found


def or_none(block):
    return lambda: block() or NONE


def us(line):
    return f"{1e3 * line['ms']:.1f}" if line["ms"] < 0.1 else f"{1e3 * line['ms']:.0f}"


def fastest(row, family):
    """Of all sub-batches."""
    found = [line for key, line in row.items() if "ms" in line and (key == family or key[0] == family)]
    return min(found, key=lambda line: line["ms"]) if found else None


def speed_up(row, family):
    line = fastest(row, family)
    return row["dense"]["ms"] / line["ms"] if line and "dense" in row else None


def random_dense(masks):
    return next((row["dense"] for mask, row in masks.items() if mask[2] == 0), None)


# ---- targets

def targets(vector, name="targets"):
    """Cells: dense on those very weights, ours, and their ratio."""
    def text():
        found = cases(name)
        sparsities = sorted({mask[2] for masks in found.values() for mask in masks if mask[1] == vector and mask[2] > 0})
        body = []
        for layer, masks in found.items():
            cells = []
            for sparsity in sparsities:
                row = masks.get(("independent", vector, sparsity), {})
                ours = fastest(row, "gathered")
                cells.append(f"{us(row['dense'])} / {us(ours)} = {speed_up(row, 'gathered'):.2f}x" if ours else "")
            if any(cells):
                dense = random_dense(masks)
                body.append([layer, us(dense) if dense else "", *cells])
        return table(["layer", "dense, random weights", *(f"{s:g} %" for s in sparsities)], body) if body else ""
    return or_none(text)


FORMS = {"ring": "ring tile", "maps": "resident map", "points": "resident point"}


def form_of(line):
    """The key of FORMS, with " codes" where weights are such."""
    name = next(name for name, words in FORMS.items() if f"gathered {words}=" in line["kernel"])
    return name + (" codes" if line["kernel"].endswith(" codes") else "")


def linear():
    """Linear layers: dense, each form of the gathered kernel, and codes of four bits."""
    found = {}
    for line in lines("linear"):
        form = "dense" if line["family"] == "dense" else form_of(line)
        found.setdefault((line["layer"], line["batch"], line["sparsity_percent"]), {})[form] = line
    body = []
    for (layer, batch, sparsity), row in found.items():
        half = min(row[form]["ms"] for form in FORMS if form in row)
        body.append([layer, str(batch), f"{sparsity:g} %", us(row["dense"]),
                     *(us(row[form]) if form in row else "" for form in FORMS), times(row["dense"]["ms"] / half),
                     us(row["points codes"]) if "points codes" in row else ""])
    return table(["layer", "batch", "", "dense", *FORMS, "dense / fastest", "points, codes"], body) if body else ""


def speed_ups():
    """Figure: {layer: [(sparsity, speed-up)]}."""
    series = {}
    for layer, masks in cases("targets").items():
        for (_, vector, sparsity), row in masks.items():
            found = speed_up(row, "gathered") if sparsity > 0 else None
            if found:
                name = layer.replace(" 3x3", "") + ("" if vector == 16 else ", elements")
                series.setdefault(name, []).append((sparsity, found))
    if not series:
        return None
    return chart("Speed-up of sparse over dense convolutions, fp16, batch 128", ("% of weights that are zero", "times faster"),
                 series, x_ticks=[75, 80, 85, 90, 95, 100])


def measured(block):
    """A value over all lines of the sets that have one."""
    def text():
        every = [line for name in ("targets", "paper", "resnet50", "rivals", "linear") for line in lines(name) if "ms" in line]
        return block(every) if every else "not measured"
    return text


def spread(every):
    spreads = sorted(line["spread"] for line in every)
    return f"median {100 * median(spreads):.1f} %, nine in ten below {100 * spreads[len(spreads) * 9 // 10]:.1f} %"


def clocks(every):
    found = sorted(line["sm_mhz"] for line in every if "sm_mhz" in line)
    return f"{found[0]} to {found[-1]} MHz, median {median(found):.0f}" if found else "not known"


def kernels(every):
    counts = [line["kernels"] for line in every if line["family"] == "dense"]
    return f"{min(counts)} to {max(counts)}" if counts else "not measured"


def errors(every):
    worst = {}
    for line in every:
        if line["family"] in ("dense", "gathered", "direct", "direct_ell"):
            key = f"{line['precision']} {line['family']}"
            worst[key] = max(worst.get(key, 0), line["error"])
    return ", ".join(f"{key} {error:.1e}" for key, error in sorted(worst.items()))


# ---- the paper

def times(value):
    return f"{value:.2f}x" if value else ""


def milliseconds(line):
    return f"{line['ms']:.3f}" if line else ""


def paper(precision, families, with_tf32=False):
    def text():
        found, tf32 = cases("paper", precision=precision), cases("paper", precision="tf32")
        body = []
        for (layer, sparsity), theirs in LAYERS.items():
            mask = ("independent", 1, sparsity)
            row = found.get(layer, {}).get(mask, {})
            if "dense" not in row:
                continue
            dense, sparse = theirs[precision]
            cells = [f"{layer}, {sparsity:g} %", theirs["table"], f"{dense:g}" if dense else "", f"{sparse:g}",
                     times(dense / sparse if dense else None), milliseconds(row["dense"])]
            for family in families:
                cells += [milliseconds(fastest(row, family)), times(speed_up(row, family))]
            if with_tf32:
                cells.append(milliseconds(tf32.get(layer, {}).get(mask, {}).get("dense")))
            body.append(cells)
        header = ["layer", "table", "its cuDNN", "its kernel", "", "dense", *(h for f in families for h in (f, ""))]
        return table([*header, *(["dense, TF32"] if with_tf32 else [])], body) if body else ""
    return or_none(text)


def batches():
    """Of how many layers each form beats dense, and the median speed-up."""
    body = []
    for precision in ("f16", "f32", "tf32"):
        for batch in (64, 128, 256):
            rows = [row for masks in cases("paper", batch, precision).values() for mask, row in masks.items()
                    if mask[2] > 0 and "dense" in row]
            cells = []
            for family in ("direct_ell", "direct", "gathered"):
                found = [s for s in (speed_up(row, family) for row in rows) if s]
                cells.append(f"{sum(s > 1 for s in found)} of {len(found)}, {median(found):.2f}x" if found else "")
            if any(cells):
                body.append([precision, str(batch), *cells])
    return table(["", "batch", "direct_ell", "direct", "gathered"], body) if body else ""


def kind_of(layer):
    return {"vgg224": "VGG16", "point": "1 x 1"}.get(layer.split()[0]) or f"text, {layer.split()[1]}"


def by_kind(ratios_of):
    """{kind: all ratios of its layers at both precisions}."""
    found = {}
    for precision in ("f16", "f32"):
        for layer, masks in cases("paper", precision=precision).items():
            for mask, row in masks.items():
                if mask[2] > 0:
                    found.setdefault(kind_of(layer), []).extend(ratios_of(row))
    return {kind: ratios for kind, ratios in found.items() if ratios}


def spans(ratios):
    return f"{100 * (median(ratios) - 1):+.0f} % ({100 * (min(ratios) - 1):+.0f} to {100 * (max(ratios) - 1):+.0f})"


def sub_batches():
    """Time with a fixed sub-batch over that with the best one."""
    columns = {}
    for size in (1, 2, 4, 8):
        def ratios(row, size=size):
            found = [(row.get((family, size)), fastest(row, family)) for family in ("direct_ell", "direct")]
            return [fixed["ms"] / best["ms"] for fixed, best in found if best and "ms" in (fixed or {})]
        columns[size] = by_kind(ratios)
    body = [[kind, *(DROPS[key].get(kind.split(",")[0], "") for key in ("sub_batch", "k_blocks")),
             *(spans(columns[size][kind]) if kind in columns[size] else "" for size in columns)] for kind in columns[1]]
    return table(["layers", "its loss, 1", "its loss, K blocks", *(f"{size}" for size in columns)], body) if body else ""


def rows_of_length():
    """Time with rows of different lengths over that with equally long ones."""
    def ratios(row):
        ragged, equal = fastest(row, "direct"), fastest(row, "direct_ell")
        return [ragged["ms"] / equal["ms"]] if ragged and equal else []
    body = [[kind, DROPS["rows"].get(kind.split(",")[0], ""), spans(found)] for kind, found in by_kind(ratios).items()]
    return table(["layers", "its loss", "ours"], body) if body else ""


# ---- rivals

RIVALS = ("cublaslt f16", "cublaslt fp8", "cublaslt int8", "cudnn int8", "cusparselt 2:4", "cusparse by pixel",
          "cusparse by column")
GATHERINGS = ("im2col by pixel, 2 bytes", "im2col by pixel, 1 bytes", "im2col by column, 2 bytes")


def weights_of(mask):
    _, vector, sparsity = mask
    return "dense" if sparsity == 0 else f"{sparsity:g} %, {'elements' if vector == 1 else f'vectors of {vector}'}"


def rivals():
    families = ("dense", "gathered", *RIVALS, *GATHERINGS)
    body = [[layer, weights_of(mask), *("" if f not in row else us(row[f]) if "ms" in row[f] else "refused" for f in families)]
            for layer, masks in cases("rivals").items() for mask, row in masks.items()]
    return table(["layer", "weights", "cuDNN", *families[1:]], body) if body else ""


def costs():
    """What a rival's numbers cost: the outputs' relative error, and what refuses."""
    found, refused = {}, {}
    for line in lines("rivals"):
        if "refused" in line:
            refused.setdefault(line["family"], line["refused"])
        elif "accuracy_cost" in line:
            found.setdefault(line["family"], []).append(line["accuracy_cost"])
    body = [[f, f"{100 * median(found[f]):.2g} % ({100 * min(found[f]):.2g} to {100 * max(found[f]):.2g})" if f in found else "",
             refused.get(f, "").replace("|", "/")] for f in RIVALS if f in found or f in refused]
    return table(["", "relative error of the outputs, median", "refused"], body) if body else ""


# ---- whole networks

def networks():
    """(name, result of a batch size) of every file that `runtime bench` wrote."""
    for path in sorted((ROOT / FOLDER).glob("networks/*.json")):
        for result in sorted(read(path.relative_to(ROOT)), key=lambda r: r["batch"]):
            yield path.stem, result


def plan_ms(result, plan):
    return result[plan].get("network_ms", {}).get("median")


def network_table():
    body = []
    for name, result in networks():
        dense, sparse, chosen = (plan_ms(result, plan) for plan in ("dense", "sparse", "chosen"))
        body.append([name, card_of(result["device"]), result["precision"], str(result["batch"]), *(f"{ms:.4f}" if ms else "" for ms in (dense, sparse, chosen)),
                     times(dense / chosen if dense and chosen else None)])
    return table(["network", "GPU", "", "batch", "dense ms", "sparse ms", "chosen ms", "dense / chosen"], body) if body else ""


def network_figure():
    series = {}
    for name, result in networks():
        dense, chosen = plan_ms(result, "dense"), plan_ms(result, "chosen")
        if dense and chosen:
            series.setdefault(f"{name}, {result['precision']}", []).append((result["batch"], dense / chosen))
    if not series:
        return None
    return chart("Speed-up of whole networks over the dense one", ("batch", "times faster"), series, is_x_logarithmic=True)


FIGURES = {f"{FOLDER}/speed-ups.svg": speed_ups, f"{FOLDER}/networks.svg": network_figure}


def image(path, words):
    return or_none(lambda: f"![{words}]({path})" if FIGURES[path]() else "")


BLOCKS = {"convolution.targets.vector": targets(16), "convolution.targets.element": targets(1),
          "convolution.resnet50.vector": targets(16, "resnet50"), "convolution.resnet50.element": targets(1, "resnet50"),
          "convolution.linear": or_none(linear), "convolution.spread": measured(spread), "convolution.clocks": measured(clocks),
          "convolution.kernels": measured(kernels), "convolution.errors": measured(errors),
          "convolution.paper.f32": paper("f32", ("direct_ell", "direct"), with_tf32=True),
          "convolution.paper.f16": paper("f16", ("direct_ell", "direct", "gathered")),
          "convolution.paper.batches": or_none(batches), "convolution.paper.sub_batch": or_none(sub_batches),
          "convolution.paper.rows": or_none(rows_of_length), "convolution.rivals": or_none(rivals),
          "convolution.rivals.costs": or_none(costs), "convolution.networks": or_none(network_table),
          "convolution.figure.layers": image(f"{FOLDER}/speed-ups.svg", "Speed-up against sparsity, a line for each layer"),
          "convolution.figure.networks": image(f"{FOLDER}/networks.svg", "Speed-up of whole networks against batch size")}
