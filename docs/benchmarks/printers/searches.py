"""What a search of layers to leave out found, as rows of a table."""
from printers.common import percent

HEADER = ["run", "search", "trials trained", "batches of each", "accuracy of the best %", "layers left out"]


def row_of(run, search):
    trained = [trial for trial in search["trials"] if "accuracy" in trial]
    best = max(trial["accuracy"] for trial in trained)
    return [f"`{run}`", search["search"], f"{len(trained)} of {len(search['trials'])}", str(search["batches"]), percent(best),
            ", ".join(search["remove_layers"]) or "none"]
