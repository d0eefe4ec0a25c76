"""Accuracy against time: of each case the tables and the figure. A time is that measured of the deployed network, and stands beside a dense
network that was measured too; else both are what the table of times predicts, and the page says so. What was measured on one device does not
stand beside what is predicted for another.
"""
from functools import lru_cache

from printers.common import ROOT, percent, table, three_digits
from printers.figure import chart, steps
from printers.frontier_runs import DENSE, FOLDER, ORDER, START, cases, refuse, run_of, search_of
from printers.searches import HEADER, row_of

TITLES = {"channel": "channel (filters alone)"}
NOT_MEASURED = "not measured"
PREDICTED = ", predicted"
LAST = float("inf")  # of runs without a time


def place_in_order(run):
    granularity = run["granularity"].partition(",")[0]
    return (ORDER.index(granularity) if granularity in ORDER else len(ORDER), run["granularity"])


def has_all(group, key):
    return all(run[key] is not None for run in group)


def add_dense_times(found):
    """Dense networks have one time, whatever their weights: where they have no bench.json it is that which was taken beside the others."""
    beside = [run["dense_ms"] for run in found if run["dense_ms"] is not None]
    for run in found:
        if run["granularity"] == DENSE and run["ms"] is None and beside:
            run["ms"], run["beside"] = sum(beside) / len(beside), beside


@lru_cache(maxsize=None)
def runs(case):
    found = [run_of(case, path.name) for path in sorted((ROOT / FOLDER / case).iterdir())
             if (path / "prune.json").exists() and not path.name.startswith(START)]
    if not any(run["granularity"] == DENSE for run in found):
        refuse(f"{FOLDER}/{case}", "no run whose name begins with dense")
    with_times = [run for run in found if run["where"]]
    for run in with_times:
        if run["where"] != with_times[0]["where"]:
            refuse(run["place"], f"measured on {run['where']}, {with_times[0]['name']} on {with_times[0]['where']}")
    add_dense_times(found)
    is_dense_measured = has_all([run for run in found if run["granularity"] == DENSE], "ms")
    for run in found:
        run["is_measured"] = run["ms"] is not None and (is_dense_measured or run["dense_ms"] is not None)
    return sorted(found, key=lambda run: (*place_in_order(run), time_of([run]) if has_time([run]) else LAST))


def mean(group, key):
    return sum(run[key] for run in group) / len(group)


def is_in_a_table(group):
    """Times predicted for a device that is known can stand for measured ones."""
    return has_all(group, "predicted") and has_all(group, "predicted_where")


def measured(group):
    """Its measured runs. None where others have predicted times alone: a group has one kind of times."""
    found = [run for run in group if run["is_measured"]]
    return found if len(found) == len(group) or not is_in_a_table(group) else []


def is_measured(group):
    return bool(measured(group))


def has_time(group):
    return is_measured(group) or is_in_a_table(group)


def time_of(group):
    return mean(measured(group), "ms") if is_measured(group) else mean(group, "predicted")


def if_predicted(group, words=PREDICTED):
    """Nothing where the group's time is a measured one."""
    return "" if is_measured(group) else words


def is_predicted_elsewhere(case, group):
    """Not measured, and predicted for another place than that of the case's measured times."""
    return not is_measured(group) and group[0]["predicted_where"] != places(case)[0]


def groups(case):
    """Runs that differ in the seed alone, dense ones first, each granularity by time."""
    by_config = {}
    for run in runs(case):
        by_config.setdefault((run["granularity"], run["method"], run["target"], run["group"]), []).append(run)
    for group in by_config.values():
        if not has_time(group):
            missing = "no bench.json" if group[0]["ms"] is None else "no bench.json of the dense network"
            refuse(group[0]["place"], f"{missing}, and no table of times in prune.json that could stand for it")
        seeds = [run["seed"] for run in group]
        if len(set(seeds)) < len(seeds):
            refuse(group[-1]["place"], f"a second run of seed {group[-1]['seed']} with one configuration")
    return sorted(by_config.values(), key=lambda group: (*place_in_order(group[0]), time_of(group)))


def dense_of(case):
    """The group that was trained longest: what pruned networks stand beside."""
    return max((group for group in groups(case) if group[0]["granularity"] == DENSE), key=lambda group: mean(group, "batches"))


def ms_text(ms, missing):
    return missing if ms is None else three_digits(ms)


def with_range(group, key, text, note=""):
    values = [run[key] for run in group]
    notes = [f"{text(min(values))} to {text(max(values))}"] if len(values) > 1 else []
    notes += [note] if note else []
    return text(mean(group, key)) + (f" ({', '.join(notes)})" if notes else "")


def measured_ms(group):
    """Of the seeds that were measured, with their number where they are not all."""
    found = [run for run in group if run["ms"] is not None]
    if not found:
        return NOT_MEASURED
    if "beside" in found[0]:
        beside = found[0]["beside"]
        return f"{three_digits(found[0]['ms'])} ({three_digits(min(beside))} to {three_digits(max(beside))}, beside the others)"
    return with_range(found, "ms", three_digits, "" if len(found) == len(group) else f"{len(found)} of {len(group)} seeds")


def title(granularity):
    kind, comma, rest = granularity.partition(",")
    return TITLES.get(kind, kind) + comma + rest


def beside(case, group):
    """Points of accuracy, and how many times as fast as the dense network: the one timed in the same process, if there is one."""
    dense = dense_of(case)
    if not is_measured(group):
        dense_time = mean(group, "predicted_dense")
    else:
        timed = measured(group)
        dense_time = mean(timed, "dense_ms") if has_all(timed, "dense_ms") else mean(dense, "ms")
    return 100 * (mean(group, "accuracy") - mean(dense, "accuracy")), dense_time / time_of(group)


def name_of(group):
    return group[0]["name"].removesuffix(f"-seed{group[0]['seed']}")


def means(case):
    rows = []
    for group in groups(case):
        is_dense = group[0]["granularity"] == DENSE
        points, faster = beside(case, group)
        rows.append([f"`{name_of(group)}`", title(group[0]["granularity"]), group[0]["method"], group[0]["target"], f"{mean(group, 'batches'):,.0f}", str(len(group)),
                     with_range(group, "accuracy", percent), f"{points:+.2f}", "" if is_dense else percent(mean(group, "sparsity")),
                     three_digits(mean(group, "predicted")) if has_all(group, "predicted") else "",
                     measured_ms(group), NOT_MEASURED if is_predicted_elsewhere(case, group) else f"{faster:.2f}x{if_predicted(group)}"])
    return table(["run", "granularity", "method", "asked", "batches trained", "seeds", "accuracy %", "points beside dense", "sparsity %",
                  "predicted ms", "measured ms", "times as fast as dense"], rows)


def at_batch_1(case):
    rows = []
    for group in groups(case):
        timed = measured(group)
        if timed and has_all(timed, "single_ms") and has_all(timed, "single_dense_ms"):
            points, _ = beside(case, group)
            rows.append([f"`{name_of(group)}`", str(len(timed)), f"{points:+.2f}", with_range(timed, "single_ms", three_digits),
                         with_range(timed, "single_dense_ms", three_digits), f"{mean(timed, 'single_dense_ms') / mean(timed, 'single_ms'):.2f}x"])
    return table(["run", "seeds", "points beside dense", "measured ms", "ms of dense", "times as fast as dense"], rows)


def each(case):
    rows = []
    for run in runs(case):
        is_dense = run["granularity"] == DENSE
        deviation = "" if is_dense or run["ms"] is None or run["predicted"] is None else f"{100 * (run['ms'] / run['predicted'] - 1):+.1f}"
        rows.append([f"`{run['name']}`", title(run["granularity"]), run["method"], run["target"], str(run["seed"]), f"{run['batches']:,}",
                     percent(run["accuracy"]), "" if is_dense else percent(run["sparsity"]),
                     ms_text(run["predicted"], ""), ms_text(run["ms"], NOT_MEASURED), deviation, "yes" if run["is_met"] else "no"])
    return table(["run", "granularity", "method", "asked", "seed", "batches trained", "accuracy %", "sparsity %", "predicted ms", "measured ms",
                  "difference %", "target met"], rows)


def found(case):
    """What searches of layers found, run by run."""
    searches = [(run["name"], search_of(run["place"])) for run in runs(case)]
    return table(HEADER, [row_of(name, search) for name, search in searches if search])


def fastest(case, within=0.5):
    """Of the networks that lose no more points than that on average, a measured one where there is one."""
    found = [group for group in groups(case) if group[0]["granularity"] != DENSE and not is_predicted_elsewhere(case, group) and
             beside(case, group)[0] >= -within]
    if not found:
        return f"no pruned network whose time is known is within {within:g} points of dense"
    best = max(found, key=lambda group: (is_measured(group), beside(case, group)[1]))
    points, faster = beside(case, best)
    target = f"asked for {best[0]['target']}" if best[0]["target"] else ""
    what = ", ".join(part for part in (title(best[0]["granularity"]), best[0]["method"], target) if part)
    return f"{faster:.2f}x{if_predicted(best, ' predicted')}, {points:+.2f} points ({what})"


def places(case):
    """Device, precision and batch of the measured times, if there are any, and of the predicted ones."""
    return [run[key] for key in ("where", "predicted_where") for run in runs(case)[::-1] if run[key]]


def where_text(place):
    device, precision, batch = place
    return f"{device}, {precision}, batch {batch}"


def where(case):
    return where_text(places(case)[0])


def predicted_where(case):
    return where_text(places(case)[-1])


def figure(case):
    series = {}
    for group in groups(case):
        if is_predicted_elsewhere(case, group):
            continue
        name = title(group[0]["granularity"]) + if_predicted(group)
        series.setdefault(name, []).append((time_of(group), 100 * mean(group, "accuracy")))
    points = [point for line in series.values() for point in line]
    return chart(f"{case}: accuracy against time ({where(case)})", ("ms of a pass", "accuracy %"), series,
                 x_ticks=steps([0.0, *(ms for ms, _ in points)]), y_ticks=steps([accuracy for _, accuracy in points]))


def blocks_of(case):
    of = {"means": means, "batch1": at_batch_1, "runs": each, "found": found, "predicted_where": predicted_where, "fastest": fastest, "where": where,
          "figure": lambda name: f"![Accuracy against milliseconds, a line for each granularity]({FOLDER}/{name}.svg)"}
    return {f"{FOLDER}.{case}.{name}": (lambda printer=printer: printer(case)) for name, printer in of.items()}


BLOCKS = {name: printer for case in cases() for name, printer in blocks_of(case).items()}
FIGURES = {f"{FOLDER}/{case}.svg": (lambda case=case: figure(case)) for case in cases()}
