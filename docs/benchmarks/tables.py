#!/usr/bin/env python3
"""Prints the tables, numbers and figures of the pages from the raw results beside this file.

  tables.py            rewrites the marked blocks of README.md, docs/results.md, docs/challenge-data.md and docs/benchmarks/*.md,
                       and the figures
  tables.py --check    changes nothing; exit status 1 if a page differs from its raw results
  tables.py PAGE ...   only these pages, as frontier.md, and the figures in the folders of their names; with --check too

A block stands between  <!-- table: NAME -->  and  <!-- end -->  and is replaced as a whole; within a line it is
<!-- value: NAME -->TEXT<!-- end -->. Tables of results.md and docs/benchmarks/*.md may stand in blocks only.
"""
import difflib
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
from printers import challenge, challenge_blocks, challenge_papers, challenge_profile, challenge_truth, challenge_values, conv, convolution, cpu, data_parallel, demo, frontier, frontier_long, frontier_resnet50, frontier_search, frontier_taught, frontier_vgg16, generated, granularity, layer_sets, limits, networks, paper_networks, peers, population, quantized, recipes, sentences, small_network, sparse_accuracy, stack, teachers, time_loop, training_speed, trainings, vgg16  # noqa: E402
from printers.common import ROOT  # noqa: E402

BLOCKS = {}
for module in (challenge, challenge_blocks, challenge_papers, challenge_profile, challenge_truth, challenge_values, conv, convolution, cpu, data_parallel, demo, frontier, frontier_long, frontier_resnet50, frontier_search, frontier_taught, frontier_vgg16, generated, granularity, layer_sets, limits, networks, paper_networks, peers, population, quantized, recipes, sentences, small_network, sparse_accuracy, stack, teachers, time_loop, training_speed, trainings, vgg16):
    BLOCKS.update(module.BLOCKS)
PROJECT = ROOT.parent.parent
README = PROJECT / "README.md"
DATA = PROJECT / "docs" / "challenge-data.md"
PAGES = [README, DATA, PROJECT / "docs" / "results.md", *sorted(ROOT.glob("*.md"))]
HAVE_OTHER_TABLES = (README, DATA)  # of options, for example
FIGURES = {ROOT / path: draw for module in (convolution, frontier) for path, draw in module.FIGURES.items()}
BLOCK = re.compile(r"<!-- (table|value): ([\w.-]+) -->(.*?)<!-- end -->", re.DOTALL)


class PageError(Exception):
    pass


def fill(match):
    kind, name = match.group(1), match.group(2)
    if name not in BLOCKS:
        raise PageError(f"nothing prints the block '{name}'")
    text = BLOCKS[name]()
    if kind == "value" and "\n" in text:
        raise PageError(f"the block '{name}' has several lines, its mark must be 'table'")
    inner = f"\n{text}\n" if kind == "table" else text
    return f"<!-- {kind}: {name} -->{inner}<!-- end -->"


def check_marks(page, text):
    """Marks that no block has, and tables of results outside of blocks."""
    rest = BLOCK.sub("", text)
    if "<!-- table:" in rest or "<!-- value:" in rest or "<!-- end -->" in rest:
        raise PageError("a mark has no end, or an end no mark")
    if re.search(r"^\s*<!-- value:", text, re.MULTILINE):
        raise PageError("a value begins a line, where Markdown takes its mark for a block")
    if page not in HAVE_OTHER_TABLES and re.search(r"^\|", rest, re.MULTILINE):
        raise PageError("a table stands outside of a block")


def printed(page):
    text = page.read_text(encoding="utf-8")
    try:
        check_marks(page, text)
        return text, BLOCK.sub(fill, text)
    except PageError as error:
        sys.exit(f"{page.relative_to(PROJECT)}: {error}")


def drawn(path):
    """The figure as it is, "" if it is not there, and as it should be."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    return old, FIGURES[path]() or ""


def chosen(names):
    """The figures and pages that `names` ask for: all without any."""
    known = [page.name for page in PAGES]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            sys.exit(f"unknown page '{name}'" + (f"; did you mean '{near[0]}'?" if near else f": the pages are {', '.join(known)}"))
    pages = [page for page in PAGES if not names or page.name in names]
    return [figure for figure in FIGURES if not names or f"{figure.parent.name}.md" in names] + pages


def main():
    is_check = "--check" in sys.argv
    names = [argument for argument in sys.argv[1:] if argument != "--check"]
    if any(name.startswith("-") for name in names):
        sys.exit(__doc__)
    differing = []
    for page in chosen(names):
        old, new = drawn(page) if page in FIGURES else printed(page)
        if old == new:
            continue
        name = str(page.relative_to(PROJECT))
        differing.append(name)
        if is_check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), name, "raw results"))
        elif new:
            page.write_text(new, encoding="utf-8")
            print(f"{name}: rewritten")
        else:
            page.unlink()
            print(f"{name}: removed, its raw results are gone")
    if is_check and differing:
        sys.exit(f"{', '.join(differing)}: other than the raw results; run docs/benchmarks/tables.py")


if __name__ == "__main__":
    main()
