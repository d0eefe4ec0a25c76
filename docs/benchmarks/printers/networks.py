"""cpu-networks.md, from what cpu_peers.py prints."""
import statistics

from printers.common import read_lines, table, three_digits

RAW = "cpu-networks/results.jsonl"
RAW_XEON = "cpu-networks/xeon.jsonl"
RAW_PEAK = "cpu-networks/peak.jsonl"
RAW_WORK = "cpu-networks/multiply-adds.jsonl"
RAW_ONEDNN = "cpu-networks/onednn.jsonl"
ENGINES = {"winnow": "Winnow", "deepsparse": "DeepSparse", "openvino": "OpenVINO", "onnxruntime": "ONNX Runtime"}
NETWORKS = {"resnet50": "ResNet50", "vgg16": "VGG16"}


def results(raw=RAW):
    """{(network, batch, sparsity, vector): {engine: line}}, networks, then batches in order."""
    found = {}
    for line in sorted(read_lines(raw), key=lambda x: (x["network"], x["batch"], x["vector"], x["sparsity_percent"])):
        case = (line["network"], line["batch"], line["sparsity_percent"], line["vector"])
        found.setdefault(case, {})[line["engine"]] = line
    return found


def name_of(case):
    network, batch, sparsity, vector = case
    mask = "elements" if vector == 1 else f"vectors of {vector}"
    return f"{NETWORKS[network]}, batch {batch}, {sparsity} % {mask}"


def median_ms(line):
    return statistics.median(line["ms"])


def cell(line):
    if line is None:
        return ""
    text = three_digits(median_ms(line))
    if len(line["ms"]) == 1:
        return text
    return f"{text} ({three_digits(min(line['ms']))} to {three_digits(max(line['ms']))})"


def sparse_cases():
    return {case: engines for case, engines in results().items() if case[2] != 0}


def dense_line(case):
    return results().get((*case[:2], 0, 1), {}).get("winnow")


def times():
    rows = []
    for case, engines in sparse_cases().items():
        rows.append([name_of(case), *(cell(engines.get(engine)) for engine in ENGINES), cell(dense_line(case))])
    return table(["milliseconds", *ENGINES.values(), "Winnow, no mask"], rows)


def xeon():
    rows = [[name_of(case), *(cell(engines[e]) for e in ENGINES),
             f"{median_ms(engines['deepsparse']) / median_ms(engines['winnow']):.2f}"]
            for case, engines in results(RAW_XEON).items()]
    return table(["milliseconds", *ENGINES.values(), "DeepSparse / Winnow"], rows)


def least():
    rows = []
    for case, engines in sparse_cases().items():
        rows.append([name_of(case), *(three_digits(min(engines[e]["least_ms"])) for e in ENGINES)])
    return table(["least milliseconds", *ENGINES.values()], rows)


def against(engine):
    """{case: how many times as fast as `engine` Winnow is}"""
    return {case: median_ms(engines[engine]) / median_ms(engines["winnow"]) for case, engines in sparse_cases().items()}


def gains():
    columns = {engine: against(engine) for engine in ENGINES if engine != "winnow"}
    rows = [[name_of(case), *(f"{column[case]:.2f}" for column in columns.values())] for case in sparse_cases()]
    return table(["times as fast as", *(ENGINES[engine] for engine in columns)], rows)


def losses():
    slower = []
    for engine in ENGINES:
        if engine != "winnow":
            slower += [f"{name_of(case)}: {gain:.2f} times as fast as {ENGINES[engine]}"
                       for case, gain in against(engine).items() if gain < 1]
    return "; ".join(slower) if slower else "nowhere"


def planning():
    rows = [[name_of(case), *(three_digits(statistics.median(engines[e]["seconds_to_load"])) for e in ENGINES)]
            for case, engines in sparse_cases().items()]
    return table(["seconds until ready", *ENGINES.values()], rows)


def peak():
    """Multiply-adds a second, by the fastest of the processes that measured them."""
    return max(line["multiply_adds_per_second"] for line in read_lines(RAW_PEAK))


def rates():
    work = {(x["network"], x["sparsity_percent"], x["vector"]): x["multiply_adds"] for x in read_lines(RAW_WORK)}
    rows = []
    for case, engines in sparse_cases().items():
        network, batch, sparsity, vector = case
        rate = {e: batch * work[network, sparsity, vector] / (min(engines[e]["least_ms"]) * 1e-3)
                for e in ("winnow", "deepsparse")}
        rows.append([name_of(case), f"{work[network, sparsity, vector] * 1e-9:.2f}", f"{rate['winnow'] * 1e-9:.0f}",
                     f"{rate['winnow'] / peak():.0%}", f"{rate['deepsparse'] / peak():.0%}"])
    return table(["kept multiply-adds", "G an image", "Winnow, G/s", "of the peak", "DeepSparse, of the peak"], rows)


def peak_text():
    return f"{peak() * 1e-9:.0f} G/s"


def onednn():
    """Networks without masks by the version of oneDNN that Winnow was built with."""
    found = {}
    for line in read_lines(RAW_ONEDNN):
        found.setdefault((line["network"], line["batch"]), {}).setdefault(line["version"], []).extend(line["ms"])
    versions = sorted({version for of in found.values() for version in of})
    rows = [[f"{NETWORKS[network]}, batch {batch}", *(cell({"ms": of[version]}) for version in versions)]
            for (network, batch), of in sorted(found.items())]
    return table(["milliseconds, no mask", *versions], rows)


def machine():
    first = next(iter(read_lines(RAW)))
    return f"{first['processor']}, {first['threads']} threads"


def versions():
    found = {line["engine"]: line["version"] for line in read_lines(RAW)}
    return ", ".join(f"{ENGINES[engine]} {version}" for engine, version in sorted(found.items()) if version)


def difference():
    return f"{max(line['difference'] for line in read_lines(RAW)):.0e}"


BLOCKS = {"networks.times": times, "networks.xeon": xeon, "networks.least": least, "networks.gains": gains, "networks.losses": losses,
          "networks.planning": planning, "networks.machine": machine, "networks.versions": versions,
          "networks.difference": difference, "networks.rates": rates, "networks.peak": peak_text, "networks.onednn": onednn}
