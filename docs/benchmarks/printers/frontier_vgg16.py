"""What the page frontier.md says of VGG16 at batch 128 besides its table and figure."""
from printers import frontier
from printers.common import percent, read, three_digits
from printers.frontier_runs import as_fast, times_as_fast
from printers.runs import Runs, mean

CASE = "vgg16-cifar10-h100-b128"
RUNS = Runs(f"{frontier.FOLDER}/{CASE}")
SAME = {"dense-40": "dense-40", "dense-80": "dense-80", "vector16-2.5": "time-least_loss"}  # runs of sparse-accuracy.md with these settings
VECTOR = 16


def network_times():
    return read("sparse-accuracy/times-h100.json")["batches"][0]["network"]


def vectors_time(density):
    """Predicted of all layers at one density."""
    batch = read("sparse-accuracy/times-h100.json")["batches"][0]
    line = next(one for one in network_times()["granularities"] if one["vector"] == VECTOR)
    points = [next(one for one in layer["granularities"] if one["vector"] == VECTOR)["points"] for layer in batch["layers"]]
    ms = sum(next(point["ms"] for point in layer if point["density"] == density) for layer in points)
    return f"{three_digits(line['constant_ms'] + line['scale'] * ms)} ms"


def sparsity(kind):
    return f"{percent(mean(summary['sparsity'] for summary in RUNS.summaries(kind).values()))} %"


def predicted(kind):
    times = [summary["time"] for summary in RUNS.summaries(kind).values()]
    return f"{mean(time['predicted_speedup'] for time in times):.2f}x, {three_digits(mean(time['predicted_ms'] for time in times))} ms"


def measured():
    return [run for run in frontier.runs(CASE) if run["is_measured"]]


def longer_than_predicted(*beginnings):
    """Of measured runs whose names begin so."""
    found = [100 * (run["ms"] / run["predicted"] - 1) for run in measured() if run["name"].startswith(beginnings)]
    return f"{min(found):.0f} to {max(found):.0f} %"


def dense_between_sparse(kind, layer):
    """ms of a layer that stays dense, in the plan that was chosen and in the dense one; means of seeds."""
    benches = [read(f"{RUNS.folder}/{kind}-seed{seed}/bench.json")[0] for seed in RUNS.seeds(kind)]
    chosen, dense = (mean(next(one for one in bench[plan]["layers"] if one["name"] == layer)["ms"]["median"] for bench in benches)
                     for plan in ("chosen", "dense"))
    return f"{three_digits(chosen)} ms instead of {three_digits(dense)} ms"


def removed_beside_vectors():
    return ", ".join(RUNS.beside(f"cut{layers}-vector16-2.5", "vector16-2.5") for layers in (3, 5, 6))


def same_accuracies():
    """With those of equal settings and seeds on another page."""
    other = Runs("sparse-accuracy")
    found = [accuracy == other.accuracies(theirs).get(seed) for ours, theirs in SAME.items() for seed, accuracy in RUNS.accuracies(ours).items()]
    return f"{sum(found)} of {len(found)}"


BLOCKS = {
    "vgg16_frontier.half": lambda: f"{three_digits(network_times()['channels']['ms'])} ms",
    "vgg16_frontier.whole": lambda: f"{three_digits(network_times()['dense_ms'])} ms",
    "vgg16_frontier.vectors20": lambda: vectors_time(0.2),
    "vgg16_frontier.vectors30": lambda: vectors_time(0.3),
    "vgg16_frontier.fssl": lambda: RUNS.beside("channel-2-fssl", "channel-2"),
    "vgg16_frontier.fssl_sparsity": lambda: sparsity("channel-2-fssl"),
    "vgg16_frontier.beside2": lambda: RUNS.beside("channel-2", "vector16-2"),
    "vgg16_frontier.beside2.5": lambda: RUNS.beside("channel-2.5", "vector16-2.5"),
    "vgg16_frontier.dense2": lambda: RUNS.beside("channel-2", "dense-80"),
    "vgg16_frontier.vector_dense2": lambda: RUNS.beside("vector16-2", "dense-80"),
    "vgg16_frontier.faster": lambda: RUNS.beside("vector16-2.5", "channel-2"),
    "vgg16_frontier.channel_sparsity2": lambda: sparsity("channel-2"),
    "vgg16_frontier.vector_sparsity2": lambda: sparsity("vector16-2"),
    "vgg16_frontier.channel_sparsity2.5": lambda: sparsity("channel-2.5"),
    "vgg16_frontier.vector_sparsity2.5": lambda: sparsity("vector16-2.5"),
    "vgg16_frontier.sparsity4": lambda: sparsity("channel-4"),
    "vgg16_frontier.reached4": lambda: predicted("channel-4"),
    "vgg16_frontier.cut6": lambda: RUNS.beside("cut6-vector16-3", "dense-80"),
    "vgg16_frontier.cut6_faster": lambda: times_as_fast(RUNS, "cut6-vector16-3"),
    "vgg16_frontier.removed2.5": removed_beside_vectors,
    "vgg16_frontier.decay": lambda: RUNS.beside("cut6-vector16-3-decay5", "cut6-vector16-3"),
    "vgg16_frontier.distilled": lambda: RUNS.beside("cut6-vector16-3-distilled", "cut6-vector16-3"),
    "vgg16_frontier.scratch": lambda: RUNS.beside("scratch-cut6-vector16-3", "cut6-vector16-3"),
    "vgg16_frontier.slower": lambda: longer_than_predicted("cut", "scratch"),
    "vgg16_frontier.slower_channels": lambda: longer_than_predicted("channel"),
    "vgg16_frontier.slower_elements": lambda: longer_than_predicted("element"),
    "vgg16_frontier.slower_vectors": lambda: longer_than_predicted("vector", "mixed"),
    "vgg16_frontier.channels_faster": lambda: as_fast(RUNS, "channel-2"),
    "vgg16_frontier.vectors_faster": lambda: as_fast(RUNS, "vector16-2"),
    "vgg16_frontier.wide": lambda: RUNS.beside("vector32-2", "vector16-2"),
    "vgg16_frontier.narrow": lambda: RUNS.beside("vector8-2", "vector16-2"),
    "vgg16_frontier.mixed": lambda: RUNS.beside("mixed-2", "vector16-2"),
    "vgg16_frontier.mixed_narrow": lambda: RUNS.beside("mixed-2", "vector8-2"),
    "vgg16_frontier.conv3_1": lambda: dense_between_sparse("cut6-vector16-3", "conv3_1"),
    "vgg16_frontier.same": same_accuracies,
}
