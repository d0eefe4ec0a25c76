"""Lines in a chart, as SVG text."""
from html import escape
from math import ceil, floor, log2, log10

WIDTH, HEIGHT = 760, 440
LEFT, RIGHT, TOP, BOTTOM = 60, 250, 36, 48  # margins; the legend is on the right
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f",
           "#bcbd22", "#393b79", "#637939")
DASHES = ("", "6 3", "2 3")


def number(x):
    return f"{x:.2f}".rstrip("0").rstrip(".")


class Axis:
    """Numbers to places between `begin` and `end`; logarithmic ones have ticks at powers of 2."""

    def __init__(self, values, begin, end, is_logarithmic, ticks=None):
        self.of = log2 if is_logarithmic else float
        if ticks is None:
            ticks = [2.0 ** e for e in range(floor(log2(min(values))), ceil(log2(max(values))) + 1)]
        self.ticks = ticks
        low, high = (self.of(x) for x in (min([*values, *ticks]), max([*values, *ticks])))
        self.low, self.scale, self.begin = low, (end - begin) / ((high - low) or 1), begin

    def place(self, x):
        return self.begin + (self.of(x) - self.low) * self.scale


def text(x, y, words, anchor="middle", turn=""):
    return f'<text x="{number(x)}" y="{number(y)}" text-anchor="{anchor}"{turn}>{escape(words)}</text>'


def line(x1, y1, x2, y2, style):
    return f'<line x1="{number(x1)}" y1="{number(y1)}" x2="{number(x2)}" y2="{number(y2)}" {style}/>'


def grid(x, y, labels):
    parts = []
    for tick in x.ticks:
        parts += [line(x.place(tick), TOP, x.place(tick), HEIGHT - BOTTOM, 'stroke="#e0e0e0"'),
                  text(x.place(tick), HEIGHT - BOTTOM + 16, number(tick))]
    for tick in y.ticks:
        colour = "#808080" if tick == 1 else "#e0e0e0"  # 1: as fast as dense
        parts += [line(LEFT, y.place(tick), WIDTH - RIGHT, y.place(tick), f'stroke="{colour}"'),
                  text(LEFT - 6, y.place(tick) + 4, number(tick), "end")]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return parts + [text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, labels[0]),
                    text(16, middle, labels[1], turn=f' transform="rotate(-90 16 {number(middle)})"')]


def curve(index, name, points, x, y):
    colour, dash = COLOURS[index % len(COLOURS)], DASHES[index // len(COLOURS) % len(DASHES)]
    style = f'fill="none" stroke="{colour}" stroke-width="2"' + (f' stroke-dasharray="{dash}"' if dash else "")
    places = [(number(x.place(a)), number(y.place(b))) for a, b in points]
    legend = TOP + 10 + 18 * index
    return [f'<polyline points="{" ".join(",".join(p) for p in places)}" {style}/>',
            *(f'<circle cx="{a}" cy="{b}" r="3" fill="{colour}"/>' for a, b in places),
            line(WIDTH - RIGHT + 12, legend - 4, WIDTH - RIGHT + 36, legend - 4, style),
            text(WIDTH - RIGHT + 42, legend, name, "start")]


def steps(values, most=8):
    """Ticks of a linear axis that holds the values: multiples of 1, 2 or 5 times a power of 10."""
    low, high = min(values), max(values)
    size = 10.0 ** floor(log10((high - low) or abs(high) or 1.0))
    size = next(size * factor for factor in (0.1, 0.2, 0.5, 1, 2, 5, 10) if (high - low) / (size * factor) <= most - 1)
    return [round(size * i, 9) for i in range(floor(low / size), ceil(high / size) + 1)]


def chart(title, labels, series, x_ticks=None, is_x_logarithmic=False, y_ticks=None):
    """series: {name: [(x, y), ...]}, y a ratio on a logarithmic axis, or with y_ticks on a linear one; labels: of x and y."""
    points = [p for line_ in series.values() for p in line_]
    x = Axis([p[0] for p in points], LEFT, WIDTH - RIGHT, is_x_logarithmic, x_ticks)
    ys = [p[1] for p in points]
    y = Axis(ys if y_ticks else [*ys, 1.0], HEIGHT - BOTTOM, TOP, not y_ticks, y_ticks)
    height = max(HEIGHT, TOP + 30 + 18 * len(series))
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', text(LEFT, 20, title, "start"), *grid(x, y, labels)]
    for index, (name, line_) in enumerate(series.items()):
        parts += curve(index, name, sorted(line_), x, y)
    return "\n".join([*parts, "</svg>"]) + "\n"
