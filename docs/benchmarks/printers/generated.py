"""What generated challenge data takes and does: docs/challenge-data.md."""
from printers.common import read_lines, table


def lines(what):
    return [line for line in read_lines("graph-challenge/generated.jsonl") if line["what"] == what]


def images():
    found = lines("images")
    return table(["N", *(str(line["neurons"]) for line in found)],
                 [["time of one core (s)", *(f"{line['core_seconds']:.0f}" for line in found)],
                  ["peak memory (MB)", *(str(line["peak_mb"]) for line in found)]])


def live():
    sizes = sorted({(line["neurons"], line["images"]) for line in lines("live")})
    rows = {}
    for line in lines("live"):
        key = ("shuffled" if line["shuffle"] else "classes", line["weights"])
        rows.setdefault(key, {})[line["neurons"]] = f"{100 * line['survivors'] / line['images']:.1f} %"
    return table(["wiring", "weights", *(f"N = {n}, {images:,} images" for n, images in sizes)],
                 [[*key, *(row.get(n, "") for n, _ in sizes)] for key, row in rows.items()])


def only(key):
    def text():
        values = {line[key] for line in lines("live")}
        assert len(values) == 1
        return str(values.pop())
    return text


BLOCKS = {"challenge-data.images": images, "challenge-data.live": live, "challenge-data.layers": only("layers"),
          "challenge-data.seed": only("seed")}
