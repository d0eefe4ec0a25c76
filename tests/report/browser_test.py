#!/usr/bin/env python3
"""Opens report pages in a headless Chromium as a reader does, light and dark, wide and narrow.

  browser_test.py RUNTIME IMPORT EXPORT RUN_FOLDER WORK_FOLDER

RUN_FOLDER has results of the programs; the report is that of a copy, with a network, times and answers added. Checked are: nothing
but the file itself is fetched, no message on the console, every chart and table is drawn and has a title, text stands out
from what lies behind it, nothing is cut off. Pages that are wrong in these ways show that the checks find it. Without a browser
(browser.sh) it prints one line "skipped: ".
"""
import json
import math
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from browser import Browser, Picture  # noqa: E402

PARTS = ("Summary", "Training", "Pruning", "Layers", "Network", "Speed", "Deployed against dense")
DRAWN = 0.01  # of a region's pixels differ from its most frequent colour
CONTRAST = 4.5  # WCAG 2, level AA

# Boxes of what is drawn, what readers of the screen need, and text that does not stand out.
FACTS = """
(() => {
  const box = element => { const r = element.getBoundingClientRect();
    return [r.left + scrollX, r.top + scrollY, r.width, r.height]; };
  const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
                      .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const contrast = (a, b) => { const [x, y] = [light(a), light(b)]; return (Math.max(x, y) + .05) / (Math.min(x, y) + .05); };
  const behind = element => {
    const chip = element.previousElementSibling;
    if (element.tagName === 'text' && element.getAttribute('class')?.startsWith('on-')) return rgb(getComputedStyle(chip).fill);
    for (let e = element; e; e = e.parentElement) {
      const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
      canvas.fillStyle = getComputedStyle(document.body).backgroundColor; canvas.fillRect(0, 0, 1, 1);
      const own = getComputedStyle(e).backgroundColor;
      if (own === 'rgba(0, 0, 0, 0)') continue;
      canvas.fillStyle = own; canvas.fillRect(0, 0, 1, 1);
      return [...canvas.getImageData(0, 0, 1, 1).data];
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const e of document.querySelectorAll('text, td, th, p, h1, h2, pre, code, caption')) {
    if (!e.textContent.trim()) continue;
    const style = getComputedStyle(e), own = rgb(e.tagName === 'text' ? style.fill : style.color);
    const ratio = contrast(own, behind(e));
    if (ratio < LEAST) faint.push(e.textContent.trim().slice(0, 40) + ': ' + ratio.toFixed(2));
  }
  const outside = [];
  for (const e of document.querySelectorAll('svg text')) {
    const s = e.closest('svg').getBoundingClientRect(), t = e.getBoundingClientRect();
    if (t.left < s.left - 2 || t.right > s.right + 2 || t.top < s.top - 2 || t.bottom > s.bottom + 2) outside.push(e.textContent);
  }
  return {
    parts: [...document.querySelectorAll('h2, body > table > caption')].map(e => e.textContent),
    missing: document.querySelectorAll('.missing').length,
    charts: [...document.querySelectorAll('svg')].map(e => ({box: box(e), title: e.querySelector(':scope > title')?.textContent || '',
      role: e.getAttribute('role')})),
    tables: [...document.querySelectorAll('table')].map(e => ({box: box(e), caption: e.caption?.textContent || '',
      heads: e.querySelectorAll('th[scope=col]').length, rowHeads: e.querySelectorAll('tbody th[scope=row]').length,
      rows: e.querySelectorAll('tbody tr').length})),
    boxes: [...document.querySelectorAll('.scroll')].map(box),
    unreachable: [...document.querySelectorAll('*')].filter(e => e.tabIndex < 0 && e.scrollWidth > e.clientWidth + 1
      && ['auto', 'scroll'].includes(getComputedStyle(e).overflowX)).length,
    language: document.documentElement.lang, title: document.title,
    background: rgb(getComputedStyle(document.body).backgroundColor),
    wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    faint, outside};
})()
"""


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}: exit status {result.returncode}\n{result.stderr}")


def write_weights(path, seed, zeros):
    """Weights of lenet5, a share of them 0, as safetensors."""
    shapes = {"conv1.weight": (6, 1, 5, 5), "conv2.weight": (16, 6, 5, 5), "fc1.weight": (120, 400), "fc1.bias": (120,),
              "fc2.weight": (84, 120), "fc2.bias": (84,), "fc3.weight": (10, 84), "fc3.bias": (10,)}
    for norm, channels in (("bn1", 6), ("bn2", 16)):
        for name in ("weight", "bias", "running_mean", "running_var"):
            shapes[f"{norm}.{name}"] = (channels,)
    header, data, values, dropped = {}, b"", random.Random(seed), random.Random(seed + 1)
    for name, shape in shapes.items():
        count = math.prod(shape)
        if len(shape) == 1:
            numbers = [1.0 if name.endswith(("weight", "var")) else 0.0] * count
        else:
            numbers = [values.gauss(0, 0.05) * (dropped.random() >= zeros) for _ in range(count)]
        body = struct.pack(f"<{count}f", *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(body)]}
        data += body
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_images(folder, count):
    """Random images with labels, in MNIST's format."""
    values = random.Random(5)
    folder.mkdir()
    pixels = bytes(values.randrange(256) for _ in range(count * 784))
    (folder / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">IIII", 2051, count, 28, 28) + pixels)
    (folder / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">II", 2049, count) + bytes(i % 10 for i in range(count)))


def make_report(runtime, importer, exporter, results, work):
    """A folder with everything that a report shows."""
    folder = work / "run"
    shutil.copytree(results, folder)
    for name, zeros in (("dense", 0.0), ("sparse", 0.5)):
        write_weights(work / f"{name}.weights", 1, zeros)
        run(importer, "--weights", work / f"{name}.weights", "--architecture", "lenet5", "--input-shape", "1,28,28",
            "--masks", "from-zeros", "-o", work / f"{name}.safetensors")
        run(exporter, "--in", work / f"{name}.safetensors", "-o", work / f"{name}.wnw")
    write_images(work / "images", 200)
    model = work / "sparse.wnw"
    run(runtime, "inspect", model, "--quiet", "--json", folder / "inspect.json")
    run(runtime, "bench", model, "--device", "cpu", "--batch", "1,8", "--repeats", "4", "--layer-repeats", "2", "--quiet",
        "--json", folder / "bench.json")
    run(runtime, "run", model, "--device", "cpu", "--quiet", "--data", f"idx:{work / 'images'}", "--against", work / "dense.wnw",
        "--json", folder / "run.json")
    run(runtime, "report", folder)
    return folder / "report.html"


def luminance(colour):
    return (0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]) / 255


def is_drawn(picture, box):
    """Whether a region has more than its background: colours enough, and pixels enough of them."""
    colours = picture.colours(*box)
    all_pixels = sum(colours.values())
    return len(colours) >= 3 and all_pixels > 0 and max(colours.values()) <= (1 - DRAWN) * all_pixels


def clipped(box, boxes):
    """The part of a box that its scroll box shows."""
    left, top, width, height = box
    for outer in boxes:
        if outer[0] - 1 <= left and outer[1] - 1 <= top < outer[1] + outer[3]:
            return [left, top, min(width, outer[0] + outer[2] - left), min(height, outer[1] + outer[3] - top)]
    return box


def problems_of(browser, page, scheme, width, picture_file=None):
    """All that is wrong with a page, a line each."""
    problems = []
    errors, fetched = browser.open(page.as_uri(), scheme, width)
    problems += [f"console: {text}" for text in errors]
    problems += [f"fetches {url}" for url in fetched if url != page.as_uri()]
    facts = browser.evaluate(FACTS.replace("LEAST", str(CONTRAST)))
    png = browser.picture()
    if picture_file:
        picture_file.write_bytes(png)
    picture = Picture(png)
    is_light = luminance(facts["background"]) > 0.5
    if is_light != (scheme == "light"):
        problems.append(f"background {facts['background']} in a {scheme} system")
    common = max(picture.colours(0, 0, 40, 200).items(), key=lambda item: item[1])[0]
    if list(common) != facts["background"][:3]:
        problems.append(f"the picture's background is {common}, the page's {facts['background']}")
    for chart in facts["charts"]:
        if not chart["title"] or chart["role"] != "img":
            problems.append("a chart without a title")
        if not is_drawn(picture, clipped(chart["box"], facts["boxes"])):
            problems.append(f"blank: chart {chart['title']!r}")
    for table in facts["tables"]:
        if not table["caption"] or table["heads"] < 2 or table["rowHeads"] != table["rows"]:
            problems.append(f"a table without caption or heads: {table}")
        if not is_drawn(picture, clipped(table["box"], facts["boxes"])):
            problems.append(f"blank: table {table['caption']!r}")
    problems += [f"faint in {scheme}: {text}" for text in facts["faint"]]
    problems += [f"outside its chart: {text}" for text in facts["outside"]]
    if facts["unreachable"]:
        problems.append(f"{facts['unreachable']} boxes that scroll by mouse only")
    if facts["wider"] > 0:
        problems.append(f"{facts['wider']} pixels wider than a window of {width}")
    if not facts["language"] or not facts["title"]:
        problems.append("no language or no title")
    return problems, facts


def check_report(browser, page, work):
    failures, layouts = [], []
    for scheme, width in (("light", 1000), ("dark", 1000), ("light", 400), ("dark", 400)):
        found, facts = problems_of(browser, page, scheme, width, work / f"{scheme}-{width}.png")
        failures += [f"{scheme}, {width} wide: {problem}" for problem in found]
        failures += [f"no part '{part}'" for part in PARTS if part not in facts["parts"]]
        if facts["missing"]:
            failures.append(f"{facts['missing']} parts are missing")
        if len(facts["charts"]) < 9 or len(facts["tables"]) < 5:
            failures.append(f"{len(facts['charts'])} charts and {len(facts['tables'])} tables")
        layouts.append([chart["box"] for chart in facts["charts"]])
    if layouts[0] != layouts[1]:
        failures.append("light and dark pages place charts differently")
    return failures


# Pages that are wrong, and a word of what the checks must say of them.
WRONG = {
    "blank: chart": "<svg viewBox='0 0 9 9' width='300' height='200' role='img'><title>empty</title></svg>",
    "a chart without a title": "<svg viewBox='0 0 9 9' width='300' role='img'><circle r='5'/></svg>",
    "a table without caption": "<table><tr><td>1</td><td>2</td></tr></table>",
    "console: ": "<script>throw new Error('x')</script>",
    "fetches http": "<img src='http://127.0.0.1:9/x.png' alt=''>",
    "faint": "<p style='color:#888;background:#999'>hard to read</p>",
    "wider": "<div style='width:3000px'>wide</div>",
    "outside its chart": "<svg viewBox='0 0 90 90' width='90' role='img'><title>t</title><text x='80' y='50'>far outside</text></svg>",
    "in a dark system": "<style>body{background:#fff}</style>",
    "scroll by mouse only": "<div style='width:90px;overflow:auto'><p style='width:300px'>wide</p></div>",
}


def check_wrong_pages(browser, work):
    failures = []
    page = work / "wrong.html"
    for expected, body in WRONG.items():
        page.write_text("<!doctype html><html lang='en'><head><meta charset='utf-8'><title>wrong</title></head><body>" + body)
        found, _ = problems_of(browser, page, "dark" if "dark" in expected else "light", 1000)
        if not any(expected in problem for problem in found):
            failures.append(f"a wrong page passes: expected '{expected}', found {found}")
    return failures


def main():
    runtime, importer, exporter, results, work = map(pathlib.Path, sys.argv[1:])
    finder = subprocess.run(["bash", str(HERE / "browser.sh"), str(work / "browser")], capture_output=True, text=True)
    if finder.returncode != 0:
        print("skipped: no browser: " + finder.stderr.strip().replace("\n", "; "))
        return 0
    command = finder.stdout.strip()
    pages = work / "pages"
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    os.environ.pop("WINNOW_CACHE", None)
    page = make_report(runtime, importer, exporter, results, pages)
    browser = Browser(command, pages / "browser.log")
    try:
        failures = check_report(browser, page, pages) + check_wrong_pages(browser, pages)
    finally:
        browser.close()
    for failure in failures:
        print(failure)
    print(f"{len(failures)} failures; pictures are in {pages}; opened by {command}")
    return 1 if failures else 0


sys.exit(main())
