"""VGG16 on CIFAR-10 under several budgets, three seeds: sparse-accuracy.md. Each run has a folder
sparse-accuracy/KIND-seedN with config.yaml, prune.json and metrics.jsonl."""
from collections import Counter

from printers.common import ROOT, percent, read_config, read_lines, table, three_digits
from printers.runs import NOT_RUN, SEEDS, Runs, mean, seed_columns

FOLDER = "sparse-accuracy"
DENSE = "dense-80"
LONGEST = "dense-160"  # as many as a pruned network that is taught has with its teacher
METHODS = {
    "magnitude": "magnitude, masks once an epoch",
    "steps": "magnitude, masks every 16 batches",
    "sooner": "magnitude, every 16 batches, at the goal sooner",
    "later": "magnitude, every 16 batches, at the goal later",
    "feedback": "magnitude, every 16 batches, feedback",
    "plain": "evolutionary, every 16 batches, random first pool",
    "whole": "evolutionary, every 16 batches, dense first pool",
    "chain": "evolutionary, every 16 batches, dense first pool, best always chosen",
    "known": "evolutionary, every 16 batches, dense first pool, best always chosen, 8 plans compared",
    "evolved": "evolutionary, every 16 batches, dense first pool, best always chosen, 8 plans compared, from the one chosen before",
    "evolved-more": "evolutionary, every 16 batches, dense first pool, best always chosen, 16 plans compared, from the one chosen before",
    "regrow": "evolutionary, every 16 batches, dense first pool, regrowing",
    "chain-regrow-less": "evolutionary, every 16 batches, dense first pool, best always chosen, regrowing, goal 0.5 %",
    "chain-regrow": "evolutionary, every 16 batches, dense first pool, best always chosen, regrowing",
    "chain-regrow-more": "evolutionary, every 16 batches, dense first pool, best always chosen, regrowing, goal 5 %",
    "chain-regrow-most": "evolutionary, every 16 batches, dense first pool, best always chosen, regrowing, goal 10 %",
    "chain-regrow-rarer": "evolutionary, every 44 batches, dense first pool, best always chosen, regrowing, goal 10 %",
    "chain-regrow-third": "evolutionary, every 16 batches, dense first pool, best always chosen, regrowing, goal 30 %",
    "lottery2": "lottery, 2 rounds of 40 epochs",
    "lottery4": "lottery, 4 rounds of 20 epochs",
    "fssl": "fssl",
    "fssl-within": "fssl, kernel shapes alone",
    "fssl-weak": "fssl, a tenth of the strength",
    "balanced": "magnitude, every 16 batches, rows of equal length",
    "smoothed": "magnitude, every 16 batches, label smoothing 0.1",
    "averaged": "magnitude, every 16 batches, moving average of weights (0.998)",
    "distilled": "magnitude, every 16 batches, distilled",
    "steps-lamp": "magnitude, every 16 batches, `lamp`",
    "steps-erk": "magnitude, every 16 batches, `erk`",
    "fisher": "magnitude, every 16 batches, Fisher criterion",
    "chain-fisher": "evolutionary, every 16 batches, dense first pool, best always chosen, Fisher criterion",
    "chain-regrow-fisher": "evolutionary, every 16 batches, dense first pool, best always chosen, Fisher criterion, regrowing, goal 5 %",
    "taught": "magnitude, every 16 batches, taught by the dense network of 80 epochs",
    "scratch": "magnitude, every 16 batches, 80 epochs of pruning from random weights",
}
SPARSITIES = ("95", "96.2", "98")
PARTS = {
    "parts-98": "all parts",
    "parts-98-population": "smaller population",
    "parts-98-alpha": "without regrowing",
    "parts-98-crossover": "without crossover",
    "parts-98-rewinding": "without rewinding",
}
ALLOCATIONS = ("uniform", "erk", "global", "lamp", "least_loss")
OTHERS = {  # rows of a budget that are no allocation of magnitude pruning
    "macs": {
        "least_loss, evolutionary": "evolution-macs",
        "least_loss, evolutionary, mutations": "evolution-macs-mutated",
        "least_loss, evolutionary, known first pool and plans": "evolution-macs-known",
        "least_loss, evolutionary, dense first pool, known plans": "evolution-macs-known-dense",
        "least_loss, evolutionary, known first pool and 16 plans": "evolution-macs-known-more",
        "least_loss, evolutionary, known first pool and plans, regrowing": "evolution-macs-known-regrow",
    },
    "time": {
        "least_loss, Fisher criterion": "time-fisher",
        "least_loss, evolutionary": "evolution-time",
        "least_loss, evolutionary, mutations": "evolution-time-mutated",
        "least_loss, evolutionary, known plans": "evolution-time-known",
        "least_loss, evolutionary, known first pool and plans": "evolution-time-known-pool",
        "least_loss, evolutionary, 16 known plans": "evolution-time-known-more",
        "least_loss, evolutionary, known plans, regrowing": "evolution-time-known-regrow",
        "least_loss, lottery, 2 rounds of 40 epochs": "lottery2-time",
    },
}
ORIGINS = {"plan": "its own plan", "mutation": "mutations"}  # others are allocations
BY_MAGNITUDE = ("steps-", "macs-", "time-")  # what these runs' names begin with
LITTLE = 0.001  # of the weights: sparsities that differ by less are printed as one


RUNS = Runs(FOLDER)
SIX = Runs(FOLDER, 6)
HEADER = [*SEEDS, "points beside dense, 80 epochs"]


def columns(kind):
    return [*RUNS.columns(kind), "" if kind == DENSE else RUNS.beside(kind, DENSE)]


def results():
    rows = [["dense, 40 epochs, where pruning starts", "", *columns("dense-40")], ["dense, 80 epochs", "", *columns(DENSE)]]
    rows += [["dense, 160 epochs", "", *columns(LONGEST)]] if RUNS.seeds(LONGEST) else []
    for sparsity in SPARSITIES:
        rows += [[name, sparsity, *columns(f"{kind}-{sparsity}")] for kind, name in METHODS.items() if RUNS.seeds(f"{kind}-{sparsity}")]
    return table(["run", "sparsity %", *HEADER], rows)


def six():
    """Of what has as many seeds."""
    groups = [(f"{sparsity} % of the weights", [(name, f"{kind}-{sparsity}") for kind, name in METHODS.items()]) for sparsity in SPARSITIES]
    groups += [("multiply-accumulates", budget_rows("macs")), ("time", budget_rows("time"))]
    rows = []
    for budget, kinds in groups:
        longer = [(name, kind) for name, kind in kinds if len(SIX.seeds(kind)) == SIX.most]
        rows += [[budget, *row] for row in SIX.beside_best(longer, lambda kind: kind.startswith(BY_MAGNITUDE))]
    return table(["budget", "run", *seed_columns(SIX.most), "points beside the best by magnitude"], rows)


def reached(kind):
    """The sparsity of the weights: the mean, or where seeds differ by much that of each."""
    found = [summary["sparsity"] for summary in RUNS.summaries(kind).values()]
    return percent(mean(found)) if max(found) - min(found) < LITTLE else ", ".join(percent(sparsity) for sparsity in found)


def parts():
    return table(["run", "sparsity reached %", *HEADER], [[name, reached(kind), *columns(kind)] for kind, name in PARTS.items()])


def budget_rows(budget):
    known = {allocation: f"{budget}-{allocation}" for allocation in ALLOCATIONS}
    return [(title, kind) for title, kind in (known | OTHERS[budget]).items() if RUNS.seeds(kind)]


def macs():
    rows = [[allocation, reached(kind), *columns(kind)] for allocation, kind in budget_rows("macs")]
    return table(["allocation", "sparsity of weights %", *HEADER], rows)


def time():
    rows = [[allocation, reached(kind), three_digits(mean(s["time"]["predicted_ms"] for s in RUNS.summaries(kind).values())), *columns(kind)]
            for allocation, kind in budget_rows("time")]
    return table(["allocation", "sparsity of weights %", "predicted ms", *HEADER], rows)


def config(key):
    """Of all runs that prune a trained network: one value."""
    values = {read_config(path / "config.yaml")[key] for path in (ROOT / FOLDER).iterdir() if path.is_dir() and
              not path.name.startswith(("dense", "lottery", "scratch"))}
    assert len(values) == 1, (key, values)
    return values.pop()


def setting(kind, key):
    """Of all seeds of a run: one number."""
    values = {float(read_config(f"{FOLDER}/{kind}-seed{seed}/config.yaml")[f"prune.{key}"]) for seed in SIX.seeds(kind)}
    assert len(values) == 1, (kind, key, values)
    return values.pop()


def points_lost(kind):
    """More of them, and an iteration is rejected."""
    return f"{-100 * setting(kind, 'acc_threshold'):g}"


def rounds(*kinds):
    """Of lottery tickets, whose iterations are epochs."""
    found = {(setting(kind, "rounds"), setting(kind, "iter_nr")) for kind in kinds}
    assert len(found) == 1, (kinds, found)
    number, epochs = found.pop()
    return f"{number:g} rounds of {epochs / number:g} epochs"


def iterations(kind, runs=RUNS):
    """{seed: what metrics.jsonl has of each iteration, but for its seconds}"""
    lines = {seed: read_lines(f"{FOLDER}/{kind}-seed{seed}/metrics.jsonl") for seed in runs.seeds(kind)}
    return {seed: [{key: value for key, value in line.items() if key != "seconds"} for line in found if line["stage"] == "prune"]
            for seed, found in lines.items()}


def count(is_counted, *kinds):
    """Of the iterations of all seeds."""
    counted = [is_counted(line) for kind in kinds for lines in iterations(kind).values() for line in lines]
    return f"{sum(counted)} of {len(counted)} iterations" if counted else NOT_RUN


def is_rejected(line):
    return not line["accepted"]


def is_crossover(line):
    return line["action"] == "crossover"


def largest_rate(kind):
    """Of the kept weights, that changed places in an iteration."""
    return f"{100 * max(line['migration']['rate'] for lines in iterations(kind).values() for line in lines):.1f} %"


def goal(kind):
    """The share of a layer's kept weights that shall change places in an iteration."""
    return f"{100 * setting(kind, 'migration_goal'):g} %"


def masks(kind):
    """Of an iteration."""
    return f"{setting(kind, 'batch_nr') / setting(kind, 'mask_interval'):g}"


def largest_alpha(kind):
    return f"{max(line['alpha'] for lines in iterations(kind).values() for line in lines):.2f}"


def origins_of(lines):
    """How often each kind of plan was trained where plans were compared."""
    return Counter(line["origin"] for line in lines if line.get("origin"))


def origin_text(origin):
    return ORIGINS.get(origin, f"`{origin}`")


def plans_chosen(kind):
    """What was trained most often of the plans that were compared, with how often."""
    texts = []
    for seed, lines in iterations(kind).items():
        origins = origins_of(lines)
        origin, times = origins.most_common(1)[0]
        texts.append(f"{origin_text(origin)} in {times} of {sum(origins.values())} with seed {seed}")
    return ", ".join(texts)


def plans_counted(kind, runs):
    """What was trained of the plans that were compared, of all seeds together, most often first."""
    origins = origins_of(line for lines in iterations(kind, runs).values() for line in lines)
    named = [f"{origin_text(origin)} {times}" for origin, times in origins.most_common()]
    return f"{', '.join(named)} of {sum(origins.values())}"


BLOCKS = {
    "sparse.results": results,
    "sparse.six": six,
    "sparse.parts": parts,
    "sparse.macs": macs,
    "sparse.time": time,
    "sparse.steps95": lambda: RUNS.beside("steps-95", DENSE),
    "sparse.steps96": lambda: RUNS.beside("steps-96.2", DENSE),
    "sparse.steps96_mean": lambda: RUNS.mean_accuracy("steps-96.2"),
    "sparse.steps98": lambda: RUNS.beside("steps-98", DENSE),
    "sparse.lamp98": lambda: RUNS.beside("steps-lamp-98", "steps-98"),
    "sparse.erk98": lambda: RUNS.beside("steps-erk-98", "steps-98"),
    "sparse.often95": lambda: RUNS.beside("steps-95", "magnitude-95"),
    "sparse.often98": lambda: RUNS.beside("steps-98", "magnitude-98"),
    "sparse.feedback95": lambda: RUNS.beside("feedback-95", "steps-95"),
    "sparse.feedback98": lambda: RUNS.beside("feedback-98", "steps-98"),
    "sparse.plain95": lambda: RUNS.beside("plain-95", "steps-95"),
    "sparse.plain98": lambda: RUNS.beside("plain-98", "steps-98"),
    "sparse.spread_plain98": lambda: RUNS.spread("plain-98"),
    "sparse.spread_steps98": lambda: RUNS.spread("steps-98"),
    "sparse.first_pool": lambda: f"{100 * setting('plain-98', 'initial_sparsity_max'):g} %",
    "sparse.whole95": lambda: RUNS.beside("whole-95", "steps-95"),
    "sparse.whole98": lambda: RUNS.beside("whole-98", "steps-98"),
    "sparse.whole_plain95": lambda: RUNS.beside("whole-95", "plain-95"),
    "sparse.whole_plain98": lambda: RUNS.beside("whole-98", "plain-98"),
    "sparse.chain95": lambda: RUNS.beside("chain-95", "steps-95"),
    "sparse.chain98": lambda: RUNS.beside("chain-98", "steps-98"),
    "sparse.evolved95": lambda: RUNS.beside("evolved-95", "steps-95"),
    "sparse.evolved98": lambda: RUNS.beside("evolved-98", "steps-98"),
    "sparse.known95": lambda: RUNS.beside("known-95", "steps-95"),
    "sparse.known98": lambda: RUNS.beside("known-98", "steps-98"),
    "sparse.more95": lambda: RUNS.beside("evolved-more-95", "steps-95"),
    "sparse.more98": lambda: RUNS.beside("evolved-more-98", "steps-98"),
    "sparse.more_plans": lambda: f"{setting('evolved-more-98', 'offspring'):g}",
    "sparse.more_images": lambda: f"{setting('evolved-more-98', 'judge_images'):,g}",
    "sparse.sooner98": lambda: RUNS.beside("sooner-98", "steps-98"),
    "sparse.later98": lambda: RUNS.beside("later-98", "steps-98"),
    "sparse.until": lambda: f"{setting('steps-98', 'prune_until'):g}",
    "sparse.sooner_until": lambda: f"{setting('sooner-98', 'prune_until'):g}",
    "sparse.later_until": lambda: f"{setting('later-98', 'prune_until'):g}",
    "sparse.evolved_plans": lambda: f"{setting('evolved-98', 'offspring'):g}",
    "sparse.evolved_images": lambda: f"{setting('evolved-98', 'judge_images'):,g}",
    "sparse.evolved_chosen": lambda: plans_chosen("evolved-98"),
    "sparse.smoothed98": lambda: RUNS.beside("smoothed-98", "steps-98"),
    "sparse.averaged98": lambda: RUNS.beside("averaged-98", "steps-98"),
    "sparse.balanced95": lambda: RUNS.beside("balanced-95", "steps-95"),
    "sparse.lost": lambda: points_lost("whole-98"),
    "sparse.rejected": lambda: count(is_rejected, "plain-95", "plain-98", "whole-95", "whole-98", "chain-95", "chain-98", "regrow-98"),
    "sparse.regrow98": lambda: RUNS.beside("regrow-98", "whole-98"),
    "sparse.regrow_goal": lambda: goal("chain-regrow-98"),
    "sparse.regrow_goal_less": lambda: goal("chain-regrow-less-98"),
    "sparse.regrow_goal_more": lambda: goal("chain-regrow-more-98"),
    "sparse.regrow_goal_most": lambda: goal("chain-regrow-most-98"),
    "sparse.regrow_goal_third": lambda: goal("chain-regrow-third-98"),
    "sparse.regrow_rare": lambda: f"{setting('chain-regrow-rarer-98', 'mask_interval'):g}",
    "sparse.regrow_goal_rare": lambda: goal("chain-regrow-rarer-98"),
    "sparse.regrow_goal_fisher": lambda: goal("chain-regrow-fisher-98"),
    "sparse.macs_regrow_goal": lambda: goal("evolution-macs-known-regrow"),
    "sparse.time_regrow_goal": lambda: goal("evolution-time-known-regrow"),
    "sparse.regrow95": lambda: SIX.beside("chain-regrow-95", "steps-95"),
    "sparse.regrow_six98": lambda: SIX.beside("chain-regrow-98", "steps-98"),
    "sparse.regrow_less98": lambda: RUNS.beside("chain-regrow-less-98", "steps-98"),
    "sparse.regrow_more95": lambda: SIX.beside("chain-regrow-more-95", "steps-95"),
    "sparse.regrow_more98": lambda: SIX.beside("chain-regrow-more-98", "steps-98"),
    "sparse.regrow_most95": lambda: SIX.beside("chain-regrow-most-95", "steps-95"),
    "sparse.regrow_most98": lambda: SIX.beside("chain-regrow-most-98", "steps-98"),
    "sparse.regrow_third95": lambda: RUNS.beside("chain-regrow-third-95", "steps-95"),
    "sparse.regrow_third98": lambda: RUNS.beside("chain-regrow-third-98", "steps-98"),
    "sparse.regrow_rarer98": lambda: RUNS.beside("chain-regrow-rarer-98", "chain-regrow-most-98"),
    "sparse.regrow_fisher95": lambda: RUNS.beside("chain-regrow-fisher-95", "fisher-95"),
    "sparse.regrow_fisher98": lambda: RUNS.beside("chain-regrow-fisher-98", "fisher-98"),
    "sparse.macs_regrow": lambda: RUNS.beside("evolution-macs-known-regrow", "evolution-macs-known"),
    "sparse.time_regrow": lambda: RUNS.beside("evolution-time-known-regrow", "evolution-time-known"),
    "sparse.alpha": lambda: f"{setting('regrow-98', 'alpha'):g}",
    "sparse.alpha_largest": lambda: largest_alpha("regrow-98"),
    "sparse.parts_pool": lambda: f"{setting('parts-98', 'pool_size'):g}",
    "sparse.parts_pool_less": lambda: f"{setting('parts-98-population', 'pool_size'):g}",
    "sparse.parts_lost": lambda: points_lost("parts-98"),
    "sparse.parts_steps": lambda: RUNS.beside("parts-98", "steps-98"),
    "sparse.parts_rate": lambda: largest_rate("parts-98"),
    "sparse.parts_masks": lambda: masks("parts-98"),
    "sparse.parts_population": lambda: RUNS.beside("parts-98-population", "parts-98"),
    "sparse.parts_alpha": lambda: RUNS.beside("parts-98-alpha", "parts-98"),
    "sparse.parts_crossover": lambda: RUNS.beside("parts-98-crossover", "parts-98"),
    "sparse.parts_rewinding": lambda: RUNS.beside("parts-98-rewinding", "parts-98"),
    "sparse.alpha_steps": lambda: RUNS.beside("parts-98-alpha", "steps-98"),
    "sparse.alpha_whole": lambda: RUNS.beside("parts-98-alpha", "whole-98"),
    "sparse.parts_rejected": lambda: count(is_rejected, "parts-98"),
    "sparse.crossovers": lambda: count(is_crossover, "parts-98"),
    "sparse.crossed": lambda: RUNS.beside("crossed-98", "crossed-98-without"),
    "sparse.crossed_mean": lambda: RUNS.mean_accuracy("crossed-98"),
    "sparse.crossed_without_mean": lambda: RUNS.mean_accuracy("crossed-98-without"),
    "sparse.crossed_count": lambda: count(is_crossover, "crossed-98"),
    "sparse.lottery98": lambda: RUNS.beside("lottery2-98", "steps-98"),
    "sparse.lottery95": lambda: RUNS.beside("lottery2-95", "steps-95"),
    "sparse.lottery4_95": lambda: RUNS.beside("lottery4-95", "steps-95"),
    "sparse.lottery4_98": lambda: RUNS.beside("lottery4-98", "steps-98"),
    "sparse.fssl95": lambda: RUNS.beside("fssl-95", "steps-95"),
    "sparse.fssl_within95": lambda: RUNS.beside("fssl-within-95", "fssl-95"),
    "sparse.fssl_weak95": lambda: RUNS.beside("fssl-weak-95", "fssl-95"),
    "sparse.fssl_strength": lambda: f"{setting('fssl-95', 'group_strength'):g}",
    "sparse.fssl_weak": lambda: f"{setting('fssl-weak-95', 'group_strength'):g}",
    "sparse.lottery_rounds": lambda: rounds("lottery2-95", "lottery2-98"),
    "sparse.distilled98": lambda: RUNS.beside("distilled-98", "steps-98"),
    "sparse.taught98": lambda: RUNS.beside("taught-98", "steps-98"),
    "sparse.taught98_dense": lambda: RUNS.beside("taught-98", DENSE),
    "sparse.fisher95": lambda: RUNS.beside("fisher-95", "steps-95"),
    "sparse.fisher_six98": lambda: SIX.beside("fisher-98", "steps-98"),
    "sparse.chain_fisher_six98": lambda: SIX.beside("chain-fisher-98", "fisher-98"),
    "sparse.fisher98": lambda: RUNS.beside("fisher-98", "steps-98"),
    "sparse.scratch98": lambda: RUNS.beside("scratch-98", "steps-98"),
    "sparse.time_fisher": lambda: RUNS.beside("time-fisher", "time-least_loss"),
    "sparse.erk_uniform": lambda: RUNS.beside("macs-erk", "macs-uniform"),
    "sparse.least_uniform": lambda: RUNS.beside("macs-least_loss", "macs-uniform"),
    "sparse.least_erk": lambda: RUNS.beside("macs-least_loss", "macs-erk"),
    "sparse.global_uniform": lambda: RUNS.beside("macs-global", "macs-uniform"),
    "sparse.lamp_uniform": lambda: RUNS.beside("macs-lamp", "macs-uniform"),
    "sparse.macs_known_erk": lambda: RUNS.beside("evolution-macs-known", "macs-erk"),
    "sparse.macs_known_uniform": lambda: RUNS.beside("evolution-macs-known", "macs-uniform"),
    "sparse.macs_known_least": lambda: RUNS.beside("evolution-macs-known", "macs-least_loss"),
    "sparse.macs_known_plain": lambda: RUNS.beside("evolution-macs-known", "evolution-macs"),
    "sparse.macs_known_mutated": lambda: RUNS.beside("evolution-macs-known", "evolution-macs-mutated"),
    "sparse.macs_plain_least": lambda: RUNS.beside("evolution-macs", "macs-least_loss"),
    "sparse.macs_dense_pool": lambda: RUNS.beside("evolution-macs-known-dense", "evolution-macs-known"),
    "sparse.macs_more": lambda: RUNS.beside("evolution-macs-known-more", "evolution-macs-known"),
    "sparse.macs_six_erk": lambda: SIX.beside("evolution-macs-known", "macs-erk"),
    "sparse.macs_six_uniform": lambda: SIX.beside("evolution-macs-known", "macs-uniform"),
    "sparse.macs_images": lambda: f"{setting('evolution-macs-known', 'judge_images'):,g}",
    "sparse.macs_chosen": lambda: plans_chosen("evolution-macs-known"),
    "sparse.time_uniform": lambda: RUNS.beside("time-least_loss", "time-uniform"),
    "sparse.time_global": lambda: RUNS.beside("time-least_loss", "time-global"),
    "sparse.time_evolution": lambda: RUNS.beside("evolution-time", "time-least_loss"),
    "sparse.time_known": lambda: RUNS.beside("evolution-time-known", "time-least_loss"),
    "sparse.time_known_plain": lambda: RUNS.beside("evolution-time-known", "evolution-time"),
    "sparse.time_known_mutated": lambda: RUNS.beside("evolution-time-known", "evolution-time-mutated"),
    "sparse.time_known_pool": lambda: RUNS.beside("evolution-time-known-pool", "evolution-time-known"),
    "sparse.time_more": lambda: RUNS.beside("evolution-time-known-more", "evolution-time-known"),
    "sparse.time_six": lambda: SIX.beside("evolution-time-known", "time-least_loss"),
    "sparse.time_six_plain": lambda: SIX.beside("evolution-time-known", "evolution-time"),
    "sparse.time_lamp": lambda: RUNS.beside("time-lamp", "time-least_loss"),
    "sparse.time_erk": lambda: RUNS.beside("time-erk", "time-least_loss"),
    "sparse.time_lottery": lambda: RUNS.beside("lottery2-time", "time-least_loss"),
    "sparse.known_chosen": lambda: plans_chosen("evolution-time-known"),
    "sparse.rate": lambda: config("prune.learning_rate"),
    "sparse.decay": lambda: config("train.weight_decay"),
    "sparse.cutout": lambda: config("augment.cutout"),
    "sparse.device": SIX.devices,
}
