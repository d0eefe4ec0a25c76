"""graph-challenge.md: categories by the engine `reference`, or by `cpu` where that takes too long, and who found the same."""
from printers import challenge
from printers.challenge import MISSING, kept
from printers.common import by_size, table

ALL = 60000  # images


def images(run):
    first, last = run["first_image"], run["last_image"]
    return "all" if last - first == ALL else f"{last - first:,} from {first:,} on"


def work(run):
    """What two runs must have in common for their lists to be comparable."""
    return run["neurons"], run["last_layer"], run["first_image"], run["last_image"]


def firsts():
    """Lists that no other was compared with before: of the reference, or of another engine where that was too slow."""
    found = {}
    for run in sorted(kept("truth"), key=lambda run: run["engine"] != "reference"):
        if "compared_with" not in run:
            found.setdefault(work(run), run)
    order = by_size({challenge.column(run) for run in found.values()})
    return sorted(found.values(), key=lambda run: (order.index(challenge.column(run)), run["first_image"] - run["last_image"]))


def on_gpus():
    """Runs of published networks that name the hash of their list."""
    return [run for run in [*challenge.results(), *kept("streams"), *challenge.runs_on_several(), *kept("tried")] if run.get("categories_sha256")
            and challenge.network(run) == "published" and run["first_layer"] == 0]


def verdicts(found):
    """[(engine, is equal)] as text: "`fused`, `grouped`", or which differ."""
    names = {}
    for engine, is_equal in found:
        names[engine] = names.get(engine, True) and is_equal
    return ", ".join(f"`{engine}`" + ("" if is_equal else " **differs**") for engine, is_equal in names.items())


def categories():
    rows = []
    for run in firsts():
        cpu = [(other["engine"], other["equal"] and other["sha256"] == run["sha256"]) for other in kept("truth")
               if other.get("compared_with") == run["engine"] and work(other) == work(run)]
        gpu = [(other["engine"], other["categories_sha256"] == run["sha256"]) for other in on_gpus()
               if work(other) == work(run)]
        rows.append([challenge.column(run), images(run), f"`{run['engine']}`", f"{run['survivors']:,}", f"`{run['sha256']}`",
                     verdicts(cpu) or "not compared", verdicts(gpu) or "not compared"])
    if not rows:
        return "Not computed."
    return table(["network", "images", "by", "survivors", "SHA-256 of the list", "equal on a CPU", "equal on a GPU"], rows)


def counted():
    """Of the networks that ran on a GPU, how many have the list of all images that a CPU computed, on every run."""
    known = {work(run): run["sha256"] for run in firsts() if images(run) == "all"}
    equal = {}
    for run in on_gpus():
        equal.setdefault(work(run), True)
        equal[work(run)] &= known.get(work(run)) == run["categories_sha256"]
    return f"{sum(equal.values())} of {len(equal)}"


def without_cpu():
    """Networks that no CPU computed: who agrees, and the smaller networks of a CPU that have the same list."""
    known = {challenge.column(run): run for run in firsts() if images(run) == "all"}
    lists = {}
    for run in on_gpus():
        if challenge.column(run) not in known:
            lists.setdefault((challenge.column(run), run["categories_sha256"]), {})[run["engine"]] = run
    parts = []
    for (column, sha256), runs in lists.items():
        same = by_size(name for name, run in known.items() if run["sha256"] == sha256)
        engines = " and ".join(f"`{engine}`" for engine in runs)
        parts.append(f"at {column} {engines} give the list of {' and '.join(same) or 'no other network'}")
    return "; ".join(parts) or MISSING


def sample_without_cpu():
    """Of a network that no CPU computed for all images the reference's sample, and which smaller ones have the same list."""
    whole = {challenge.column(run) for run in firsts() if images(run) == "all"}
    samples = [run for run in firsts() if images(run) != "all"]
    parts = []
    for run in samples:
        if challenge.column(run) in whole:
            continue
        same = by_size(challenge.column(other) for other in samples if other is not run and other["sha256"] == run["sha256"])
        parts.append(f"at {challenge.column(run)} its list of {images(run)} is that of {' and '.join(same) or 'no other network'}")
    return "; ".join(parts) or MISSING


def kernel():
    return " and ".join(dict.fromkeys(run["kernel"] for run in firsts() if run["engine"] == "reference")) or MISSING


BLOCKS = {
    "challenge.truth": categories,
    "challenge.truth.kernel": kernel,
    "challenge.truth.counted": counted,
    "challenge.truth.without-cpu": without_cpu,
    "challenge.truth.sample": sample_without_cpu,
}
