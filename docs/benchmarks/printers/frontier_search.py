"""What the page frontier.md says of searches of layers."""
import statistics

from printers import frontier
from printers.common import percent
from printers.frontier_runs import as_fast, search_of
from printers.runs import Runs

CASE = "vgg16-cifar10-search-h100-b128"
RUNS = Runs(f"{frontier.FOLDER}/{CASE}")
SHORT = ("evolution", "greedy", "random")  # rows of short trials, from the dense network of 40 epochs


def short_trials():
    """Accuracies of all trials of these rows, a list a search."""
    searches = [search_of(run["place"]) for run in frontier.runs(CASE) if run["name"].partition("-")[0] in SHORT]
    return [[trial["accuracy"] for trial in search["trials"] if "accuracy" in trial] for search in searches]


def best_of_each():
    best = [max(accuracies) for accuracies in short_trials()]
    return f"{percent(min(best))} to {percent(max(best))} %, the median of all trials {percent(statistics.median(sum(short_trials(), [])))} %"


def beside(kind, other):
    return lambda: RUNS.beside(kind, other)


BLOCKS = {
    "search_frontier.short_trials": best_of_each,
    "search_frontier.evolution_random3": beside("evolution-3", "random-3"),
    "search_frontier.evolution_random2.5": beside("evolution-2.5", "random-2.5"),
    "search_frontier.evolution3": beside("evolution-3", "magnitude-3"),
    "search_frontier.evolution2.5": beside("evolution-2.5", "magnitude-2.5"),
    "search_frontier.random3": beside("random-3", "magnitude-3"),
    "search_frontier.random2.5": beside("random-2.5", "magnitude-2.5"),
    "search_frontier.scratch_evolution": beside("scratch-evolution-3", "scratch-magnitude-3"),
    "search_frontier.scratch_random": beside("scratch-random-3", "scratch-magnitude-3"),
    "search_frontier.scratch_evolution_random": beside("scratch-evolution-3", "scratch-random-3"),
    "search_frontier.scratch_dense": beside("scratch-evolution-3", "dense-80"),
    "search_frontier.found_evolution": beside("found-evolution-3", "magnitude-3"),
    "search_frontier.found_evolution_random": beside("found-evolution-3", "found-random-3"),
    "search_frontier.found_evolution_scratch": beside("found-evolution-3", "scratch-magnitude-3"),
    "search_frontier.found_evolution_fresh_random": beside("found-evolution-3", "fresh-random-3"),
    "search_frontier.found_evolution_trained_random": beside("found-evolution-3", "random-3"),
    "search_frontier.found_evolution_hand": beside("found-evolution-3", "found-hand-3"),
    "search_frontier.found_evolution_lottery": beside("found-evolution-3", "lottery2-3"),
    "search_frontier.lottery_spread": lambda: RUNS.spread("lottery2-3"),
    "search_frontier.fresh_evolution": beside("fresh-evolution-3", "magnitude-3"),
    "search_frontier.fresh_evolution_found": beside("fresh-evolution-3", "found-evolution-3"),
    "search_frontier.fresh_evolution_random": beside("fresh-evolution-3", "fresh-random-3"),
    "search_frontier.found_random_fresh": beside("found-random-3", "fresh-random-3"),
    "search_frontier.fresh_short": beside("fresh-evolution-short-3", "fresh-evolution-3"),
    "search_frontier.found_hand": beside("found-hand-3", "found-evolution-3"),
    "search_frontier.found_spread": lambda: RUNS.spread("found-evolution-3"),
    "search_frontier.found_faster": lambda: as_fast(RUNS, "found-evolution-3"),
    "search_frontier.found_hand_faster": lambda: as_fast(RUNS, "found-hand-3"),
    "search_frontier.magnitude_faster": lambda: as_fast(RUNS, "magnitude-3"),
    "search_frontier.magnitude_spread": lambda: RUNS.spread("magnitude-3"),
    "search_frontier.hand2.5": beside("hand-2.5", "magnitude-2.5"),
}
