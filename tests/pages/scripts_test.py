"""Tests of docs/benchmarks/tables.py and condense.py; the folder is the argument. Results in convolution/ are made up."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

BENCHMARKS = pathlib.Path(sys.argv.pop(1)).resolve()
PROJECT = BENCHMARKS.parent.parent
MADE_UP = pathlib.Path(__file__).resolve().parent / "convolution"


class Copy:
    """The pages and their raw results in a folder of their own. With `pages` only these are printed, from the raw results in
    the folders of their names: the others, which are thousands of files, are left out."""

    def __init__(self, *pages):
        self.pages = pages
        self.folders = {"printers", *(page.removesuffix(".md") for page in pages)}

    def left_out(self, folder, names):
        is_top = pathlib.Path(folder) == BENCHMARKS
        return [name for name in names if self.pages and is_top and (BENCHMARKS / name).is_dir() and name not in self.folders]

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        shutil.copytree(BENCHMARKS, self.root / "docs" / "benchmarks", ignore=self.left_out)
        shutil.copy(PROJECT / "README.md", self.root)
        for page in ("results.md", "challenge-data.md"):
            shutil.copy(PROJECT / "docs" / page, self.root / "docs")
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def edit(self, name, old, new):
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        assert old in text, (name, old)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def tables(self, *arguments):
        return subprocess.run([sys.executable, "-B", self.root / "docs/benchmarks/tables.py", *arguments, *self.pages],
                              capture_output=True, text=True)


class Tables(unittest.TestCase):
    def test_a_changed_page_is_found_and_printed_anew(self):
        with Copy() as copy:
            page = copy.root / "docs/benchmarks/cpu-conv.md"
            before = page.read_text(encoding="utf-8")
            copy.edit("docs/benchmarks/cpu-conv.md", "1.6 (1.5 to 1.7)", "9.9 (1.5 to 1.7)")
            check = copy.tables("--check")
            self.assertEqual(check.returncode, 1)
            self.assertIn("-| batch 1, 64 -> 64, 32 x 32 | 9.9", check.stdout)
            self.assertIn("docs/benchmarks/cpu-conv.md: other than the raw results", check.stderr)
            self.assertEqual(copy.tables().returncode, 0)
            self.assertEqual(page.read_text(encoding="utf-8"), before)

    def test_only_the_pages_that_are_named_are_printed(self):
        with Copy("cpu-networks.md") as copy:
            copy.edit("docs/benchmarks/cpu-conv.md", "1.6 (1.5 to 1.7)", "9.9 (1.5 to 1.7)")
            self.assertEqual(copy.tables("--check").returncode, 0)
            self.assertEqual(copy.tables("--check", "cpu-conv.md").returncode, 1)
            self.assertIn("unknown page 'cpu-con.md'; did you mean 'cpu-conv.md'?", copy.tables("cpu-con.md").stderr)

    def test_a_changed_raw_result_is_found_in_readme_too(self):
        with Copy() as copy:
            path = copy.root / "docs/benchmarks/graph-challenge/runs.jsonl"
            lines = path.read_text(encoding="utf-8").splitlines()
            run = json.loads(lines[0])
            run["tera_edges_per_second"] = 777.0
            path.write_text("\n".join([json.dumps(run), *lines[1:]]) + "\n", encoding="utf-8")
            check = copy.tables("--check")
            self.assertEqual(check.returncode, 1)
            self.assertIn("README.md, docs/benchmarks/graph-challenge.md", check.stderr)
            self.assertIn("777", check.stdout)

    def test_marks_that_nothing_prints_and_tables_without_marks_are_refused(self):
        page = "docs/benchmarks/cpu-conv.md"
        for old, new, message in [
                ("table: cpu.gains", "table: cpu.gain", "nothing prints the block 'cpu.gain'"),
                ("`make bench`", "See <!-- value: cpu.gains -->?<!-- end -->", "its mark must be 'table'"),
                ("`make bench`", "<!-- value: cpu.machine -->?<!-- end -->", "a value begins a line"),
                ("table: cpu.gains", "table cpu.gains", "an end no mark"),
                ("`make bench`", "\n| by | hand |\n\n`make bench`", "a table stands outside of a block")]:
            with Copy("cpu-conv.md") as copy:
                copy.edit(page, old, new)
                check = copy.tables("--check")
                self.assertEqual(check.returncode, 1)
                self.assertIn(f"{page}: ", check.stderr)
                self.assertIn(message, check.stderr)


class Challenge(unittest.TestCase):
    """The tables of the challenge beside papers, from results that are made up."""

    PAGE = "docs/benchmarks/graph-challenge.md"

    def result(self, engine, neurons, layers, ms, survivors, **more):
        return {"network": f"{neurons} neurons in data", "neurons": neurons, "first_layer": 0, "last_layer": layers, "first_image": 0,
                "engine": engine, "device": "cuda:0 (made up)", "kernel": "k", "discovery": "", "warm_up": 1, "repeats": 5, "truth": None,
                "survivors": survivors, "live": [], "ranks": [], "options": {"gpus": [0], "streams": 1}, "prepare_ms": 1, "load_ms": 2,
                "inference_ms": {"min": ms, "median": ms, "max": ms},
                "tera_edges_per_second": 60000 * 32 * neurons * layers / ms / 1e9, **more}

    def printed(self, copy, name, runs):
        path = copy.root / "docs/benchmarks/graph-challenge" / f"{name}.jsonl"
        path.write_text("".join(json.dumps(run) + "\n" for run in runs), encoding="utf-8")
        run = copy.tables()
        self.assertEqual(run.returncode, 0, run.stderr)
        return (copy.root / self.PAGE).read_text(encoding="utf-8")

    def test_sizes_have_times_memory_and_what_memory_does_not_hold(self):
        with Copy("graph-challenge.md") as copy:
            page = self.printed(copy, "sizes", [
                self.result("cusparse", 1024, 120, 250.0, 1812, peak_gpu_bytes=2**29),
                self.result("cusparse", 4096, 480, 5000.0, 1801, peak_gpu_bytes=3 * 2**30, warm_up=0),
                self.result("cusparse", 16384, 120, 9000.0, 1918, peak_gpu_bytes=2**30, kernel="k, 7 images at a time"),
                self.result("cusparse", 4096, 120, 1000.0, 7, peak_gpu_bytes=2**30),
                {"network": "data", "neurons": 16384, "last_layer": 1920, "engine": "cusparse", "error": "out of memory"}])
            missing = " | ".join(["not measured"] * 2)
            self.assertIn(f"| `cusparse` | 0.25 | {missing} | 1 (!) | 5 | not measured | 9 | not measured | / |", page)
            self.assertIn(f"| `cusparse` | 0.5 | {missing} | 1 (!) | 3 | not measured | 1 | not measured | / |", page)
            self.assertIn("`sizes.jsonl` is of <!-- value: challenge.nine.device -->cuda:0 (made up)<!--", page)
            self.assertIn("challenge.nine.in-parts -->`cusparse` at 16384x120<!--", page)
            self.assertIn("challenge.nine.without-warm-up -->`cusparse` at 4096x480<!--", page)

    def test_a_run_of_sizes_goes_before_others_and_another_card_has_rows(self):
        with Copy("graph-challenge.md") as copy:
            other = {"device": "cuda:0 (NVIDIA H200)"}
            self.printed(copy, "runs", [
                self.result("fused", 1024, 120, 7.0, 1812),
                self.result("tiled", 1024, 120, 9.0, 1812, **other), self.result("fused", 1024, 120, 3.0, 1812, **other)])
            page = self.printed(copy, "sizes", [self.result(engine, 1024, 120, ms, 1812) for engine, ms in [("grouped", 8.0), ("fused", 5.0)]])
            self.assertIn("| `fused` | 47.2 (5) |", page)
            self.assertIn("| `tiled`, H200 | 26.2 (9) |", page)
            self.assertIn("| `tiled`, H200 | 0.009 (26.2) | not measured |", page)
            self.assertNotIn("| `fused`, H200", page)

    def test_several_gpus_stand_beside_one_of_their_host(self):
        with Copy("graph-challenge.md") as copy:
            ranks = [{"inference_ms": {"median": ms}} for ms in (1.0, 2.0, 3.0, 2.0)]
            page = self.printed(copy, "four", [
                *(self.result(engine, 1024, 120, ms, 1812, options={"gpus": list(range(gpus)), "streams": 1})
                  for engine, gpus, ms in [("grouped", 1, 8.0), ("grouped", 4, 2.0), ("fused", 1, 6.0), ("fused", 2, 4.0), ("fused", 4, 3.0)]),
                self.result("grouped", 1024, 120, 4.0, 7, ranks=ranks, kernel="k, categories gathered by sockets")])
            self.assertIn("| engine | network | processes | 1 GPU | 2 GPUs | 4 GPUs | times as fast on 2 | times as fast on 4 |", page)
            self.assertIn("| `grouped` | 1024x120 | one | 29.5 (8) |  | 118 (2) |  | 4.00 |", page)
            self.assertIn("| `fused` | 1024x120 | one | 39.3 (6) | 59 (4) | 78.6 (3) | 1.50 | 2.00 |", page)
            self.assertIn("| `grouped` | 1024x120 | one for each GPU |  |  | 59 (4) (!) |  | 2.00 |", page)
            self.assertIn("challenge.gpus.grouped -->4.00 at 1024x120<!--", page)
            self.assertIn("challenge.gpus.fused -->2.00 at 1024x120 (less than 3.6)<!--", page)
            self.assertIn("-->1, 2, 3 and 2 ms at 1024x120; the slowest 1.50 times their mean, all together 1.00 times what one process", page)
            self.assertIn("challenge.gpus.ranks.fused -->not measured<!--", page)
            self.assertIn("challenge.gpus.transport -->sockets<!--", page)

    def test_kernels_that_were_tried_are_compared_where_their_ranges_are_apart(self):
        with Copy("graph-challenge.md") as copy:
            page = self.printed(copy, "tried", [
                self.result("fused", neurons, 120, ms, survivors, tried=kernel, categories_sha256=sha256, network=network, last_image=60000)
                for neurons, survivors, network, kernel, times, sha256 in [
                    (1024, 9, "1024 neurons in shuffled-random-1024x120", "before", (4.0, 5.0, 6.0), "aa"),
                    (1024, 9, "1024 neurons in shuffled-random-1024x120", "16 loads ahead", (2.0, 2.5, 3.0), "aa"),
                    (4096, 1801, "4096 neurons in data", "before", (20.0, 30.0), "bb"),
                    (4096, 1801, "4096 neurons in data", "16 loads ahead", (24.0, 25.0), "bc")] for ms in times])
            self.assertIn("| 1024x120 `--shuffle --weights random` | 47.2 (39.3 to 59.0) | 94.4 (78.6 to 118.0) |  | equal |", page)
            self.assertRegex(page, r"\n\| 4096x120 \|[^\n]*\| \*\*differ\*\* \|")
            self.assertIn("-->100.0 % faster at 1024x120 `--shuffle --weights random`; the ranges overlap at 4096x120<!--", page)
            self.assertIn("challenge.tried.24bit -->not measured<!--", page)
            self.assertIn("challenge.tried.processes -->2 or 3<!--", page)
            self.assertIn("challenge.profile.reached -->94.4 TeraEdges/s: reached<!--", page)

    def test_a_baseline_stands_among_the_runs_of_its_network(self):
        with Copy("graph-challenge.md") as copy:
            base = {"engine": "cusparse-spmm", "inference_ms": {"median": 50.0}, "tera_edges_per_second": 4.7, "survivors": 9,
                    "speed_up": 10.0, "equal_categories": True}
            page = self.printed(copy, "sizes", [
                self.result("fused", 1024, 960, 5.0, 9, network="1024 neurons in shuffled-random-1024x960", baseline=base)])
            self.assertIn("| 1024x960 `--shuffle --weights random` | `fused` | 5 | `cusparse-spmm` | 50 | 10.0 | equal |", page)
            self.assertRegex(page, r"\| `cusparse-spmm` \|[^\n]* 4.7 \(50\) \|")

    def test_the_fastest_number_of_streams_is_bold(self):
        with Copy("graph-challenge.md") as copy:
            page = self.printed(copy, "streams", [
                self.result(engine, 1024, 120, ms, 1812, options={"gpus": [0], "streams": n}, max_connections=32)
                for engine, n, ms in [("tiled", 1, 900.0), ("tiled", 64, 700.0), ("fused", 1, 2.5)]])
            self.assertIn("| streams | `tiled` 1024x120, 32 queues | `fused` 1024x120, 32 queues |", page)
            self.assertIn("| 1 | 900 | **2.5** |", page)
            self.assertIn("| 64 | **700** | not measured |", page)
            self.assertIn("| `tiled` 1024x120, 32 queues | 64 | 22.2 % |  | 0.778 |", page)

    def test_lists_of_categories_are_compared_by_their_hashes(self):
        with Copy("graph-challenge.md") as copy:
            work = {"neurons": 4096, "last_layer": 60, "first_image": 0, "last_image": 60000, "survivors": 3, "kernel": "k"}
            part = {**work, "first_image": 7, "last_image": 1007}
            mine = {"compared_with": "reference", "engine": "cpu"}
            truth = [{**work, "engine": "reference", "sha256": "aa"}, {**work, **mine, "sha256": "aa", "equal": True},
                     {**work, "engine": "cpu", "sha256": "ac"}, {**work, "last_layer": 240, "engine": "cpu", "sha256": "dd"},
                     {**part, "engine": "reference", "sha256": "bb"}, {**part, **mine, "sha256": "bc", "equal": False}]
            (copy.root / "docs/benchmarks/graph-challenge/truth.jsonl").write_text(
                "".join(json.dumps(line) + "\n" for line in truth), encoding="utf-8")
            page = self.printed(copy, "sizes", [
                self.result(engine, 4096, 60, 250.0, 1801, peak_gpu_bytes=1, first_image=0,
                            last_image=60000, categories_sha256=sha256)
                for engine, sha256 in [("cusparse", "aa"), ("cusparse-filter", "ab")]])
            self.assertIn("| 4096x60 | all | `reference` | 3 | `aa` | `cpu` | `cusparse`, `cusparse-filter` **differs** |", page)
            self.assertIn("| 4096x60 | 1,000 from 7 on | `reference` | 3 | `bb` | `cpu` **differs** | not compared |", page)
            self.assertIn("| 4096x240 | all | `cpu` | 3 | `dd` | not compared | not compared |", page)


class Convolution(unittest.TestCase):
    """The page of convolutions, printed from results that are made up."""

    def printed(self, copy, *names):
        folder = copy.root / "docs/benchmarks/convolution"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name in names:
            (folder / name).parent.mkdir(exist_ok=True)
            shutil.copy(MADE_UP / name, folder / name)
        run = copy.tables()
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(copy.tables("--check").returncode, 0)
        return (copy.root / "docs/benchmarks/convolution.md").read_text(encoding="utf-8")

    def test_what_was_not_measured_is_said_to_be_so(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy)
            self.assertEqual(page.count("\nNot measured.\n"), 16)
            self.assertFalse((copy.root / "docs/benchmarks/convolution/speed-ups.svg").exists())

    def test_cells_of_targets_have_dense_on_the_same_weights_ours_and_the_ratio(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy, "targets.jsonl")
            self.assertIn("| layer | dense, random weights | 80 % | 90 % |", page)
            self.assertIn("| vgg224 3x3 512x28x28->512 | 600 | 500 / 250 = 2.00x | 480 / 160 = 3.00x |", page)
            self.assertIn("| vgg224 3x3 64x224x224->64 + pool | 1200 | 1000 / 800 = 1.25x |  |", page)
            self.assertIn("| vgg224 3x3 512x28x28->512 | 600 | 470 / 940 = 0.50x |", page)
            self.assertIn("1755 to 1980 MHz, median 1980", page)
            self.assertIn("f16 dense 1.0e-04, f16 gathered 1.0e-04", page)
            self.assertIn("](convolution/speed-ups.svg)", page)
            figure = (copy.root / "docs/benchmarks/convolution/speed-ups.svg").read_text(encoding="utf-8")
            self.assertEqual(len(ElementTree.fromstring(figure).findall("{http://www.w3.org/2000/svg}polyline")), 3)
            for name in ("vgg224 512x28x28-&gt;512", "vgg224 512x28x28-&gt;512, elements", "vgg224 64x224x224-&gt;64 + pool"):
                self.assertIn(f">{name}</text>", figure)

    def test_forms_of_linear_layers_have_columns_and_codes_are_not_in_the_ratio(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy, "linear.jsonl")
            self.assertIn("| linear 512->512 | 1 | 90 % | 8.0 | 16.0 | 4.0 | 2.0 | 4.00x | 1.0 |", page)
            self.assertIn("| linear 512->512 | 8 | 90 % | 8.0 | 16.0 |  |  | 0.50x |  |", page)

    def test_the_busiest_resource_binds_from_60_percent_on(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy, "limits.jsonl")
            self.assertIn("| a | 90 % | 106.0 | 1780 | 90 | 55 | 84 | 24 | 11 | 28 | shared memory |", page)
            self.assertIn("| a | 90 %, elements | 106.0 | 1780 | 90 | 55 | 60 | 24 | 11 | 28 | latency |", page)

    def test_the_papers_tables_stand_beside_ours(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy, "paper.jsonl")
            self.assertIn("| vgg224 3x3 512x14x14->512, 90 % | 9 | 4.84 | 4.31 | 1.12x | 2.000 | 2.000 | 1.00x | 1.000 | 2.00x | 0.750 |", page)
            self.assertIn("| text k=2 300x64->100, 77 % | 13 | 0.192 | 0.176 | 1.09x | 2.000 | 2.000 | 1.00x | 1.000 | 2.00x |  |", page)
            self.assertIn("| vgg224 3x3 512x14x14->512, 90 % | 9 | 4.66 | 4.18 | 1.11x | 2.000 | 2.000 | 1.00x | 1.000 | 2.00x | 0.500 | 4.00x |", page)
            self.assertIn("| f32 | 64 |  | 0 of 1, 0.50x |  |", page)
            self.assertIn("| f16 | 128 | 0 of 2, 1.00x | 2 of 2, 2.00x | 1 of 1, 4.00x |", page)
            self.assertIn("| tf32 | 128 | 0 of 1, 0.38x | 0 of 1, 0.75x |  |", page)
            self.assertIn("| VGG16 | 10 % | 38 to 45 % | +50 % (+50 to +50) | +25 % (+25 to +25) | +0 % (+0 to +0) | +10 % (+10 to +10) |", page)
            self.assertIn("| text, k=2 | 26 % | -50 % (-50 to -50) |", page)

    def test_rivals_have_their_gathering_their_cost_and_their_refusals(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy, "rivals.jsonl")
            self.assertIn("| vgg224 3x3 512x14x14->512 | 90 %, vectors of 16 | 200 | 100 |  |  |  |  |  | 400 | 300 | 50.0 |  |  |", page)
            self.assertIn("| vgg224 3x3 512x14x14->512 | dense | 210 |  |  | 120 |  | refused | 150 |", page)
            self.assertIn("| cublaslt fp8 | 3 % (3 to 3) |  |", page)
            self.assertIn("| cudnn int8 |  | a / b |", page)

    def test_networks_are_sorted_by_batch_and_drawn(self):
        with Copy("convolution.md") as copy:
            page = self.printed(copy, "networks/made-up.json")
            self.assertIn("| made-up | H100 | f16 | 1 | 4.0000 | 3.0000 | 2.0000 | 2.00x |\n| made-up | H100 | f16 | 128 |", page)
            self.assertTrue((copy.root / "docs/benchmarks/convolution/networks.svg").exists())

    def test_a_figure_whose_raw_results_are_gone_is_removed(self):
        with Copy("convolution.md") as copy:
            self.printed(copy, "targets.jsonl")
            (copy.root / "docs/benchmarks/convolution/targets.jsonl").unlink()
            check = copy.tables("--check")
            self.assertEqual(check.returncode, 1)
            self.assertIn("docs/benchmarks/convolution/speed-ups.svg", check.stderr)
            self.assertIn("removed, its raw results are gone", copy.tables().stdout)
            self.assertEqual(copy.tables("--check").returncode, 0)


class Frontier(unittest.TestCase):
    """Accuracy against measured time, printed from run folders that are made up."""

    BLOCKS = ("where", "predicted_where", "means", "batch1", "runs", "found", "fastest", "figure")

    def write_run(self, copy, name, granularity="element", seed=1, accuracy=0.9, ms=2.0, speedup=2.0, rounds=1, **changes):
        """Dense trained 30 batches, pruned 40 in each round; predicted 2 ms."""
        folder = copy.root / "docs/benchmarks/frontier/net" / name
        folder.mkdir(parents=True)
        is_dense = name.startswith("dense")
        summary = {"seed": seed, "dense_accuracy": accuracy if is_dense else 0.5, "accuracy": 0.1 if is_dense else accuracy,
                   "sparsity": changes.get("sparsity", 0.8), "granularity": granularity, "method": "magnitude", "target_met": ms <= 2.2}
        if not is_dense and changes.get("has_time", True):
            summary["time"] = {"batch": 128, "predicted_ms": 2.0, **changes.get("time", {})}
        (folder / "prune.json").write_text(json.dumps(summary), encoding="utf-8")
        config = (f"name: {name}\nseed: {seed}\noutput: runs/{name}\ntrain:\n  epochs: 3\nprune:\n"
                  f"  granularity: {granularity}\n  target_speedup: {speedup}\n  target_ms: 0\n  target_sparsity: {changes.get('target_sparsity', 0.95)}\n"
                  f"model:\n  weights: {changes.get('weights', chr(34) * 2)}\n  remove_layers: {changes.get('removed', '[]')}\n")
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        lines = [{"stage": "run"}, *({"stage": "dense", "batches": 10 * i} for i in (1, 2, 3))]
        if not is_dense:
            lines += [{"stage": "time", "network": "rehearsal"}]
            lines += [{"stage": "prune", "batches": batches} for _ in range(rounds) for batches in (20, 40)]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        if "single" in changes:
            plans = dict(zip(("chosen", "against"), ({"network_ms": {"median": ms}} for ms in changes["single"])))
            (folder / "bench-b1.json").write_text(json.dumps([{"batch": 1, **plans}]), encoding="utf-8")
        if "found" in changes:
            trials = [{"removed": [], "accuracy": 0.4}, {"removed": ["a"], "not_trained": "too slow"}, {"removed": changes["found"], "accuracy": 0.6}]
            search = {"search": "evolution", "batches": 5, "trials": trials, "remove_layers": changes["found"]}
            (folder / "search.json").write_text(json.dumps(search), encoding="utf-8")
        if not changes.get("is_measured", True):
            return
        bench = [{"batch": batch, "device": changes.get("device", "gpu (made up)"), "precision": "f16",
                  "chosen": {"network_ms": {"median": median}}} for batch, median in ((1, 0.5), (128, ms))]
        if "against" in changes:
            bench[1]["against"] = {"network_ms": {"median": changes["against"]}}
        (folder / "bench.json").write_text(json.dumps(bench[1:] if is_dense else bench), encoding="utf-8")

    def write_runs(self, copy):
        self.write_run(copy, "dense-seed1", accuracy=0.93, ms=4.1)
        self.write_run(copy, "dense-seed2", accuracy=0.95, ms=3.9, seed=2)
        self.write_run(copy, "mixed-seed1", "mixed", accuracy=0.936, ms=2.1)
        self.write_run(copy, "mixed-seed2", "mixed", accuracy=0.94, ms=1.9, seed=2)
        self.write_run(copy, "mixed-4x", "mixed", accuracy=0.91, ms=1.0, speedup=4.0)
        self.write_run(copy, "channel", "channel", accuracy=0.92, ms=2.5, rounds=2)

    def page(self, copy):
        path = copy.root / "docs/benchmarks/frontier.md"
        blocks = [f"<!-- table: frontier.net.{name} -->\n<!-- end -->\n" for name in self.BLOCKS]
        path.write_text("# Frontier\n\n" + "\n".join(blocks), encoding="utf-8")
        run = copy.tables()
        return run, path.read_text(encoding="utf-8")

    def test_runs_stand_beside_dense_and_filters_with_mean_and_range_of_seeds(self):
        with Copy("frontier.md") as copy:
            self.write_runs(copy)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(copy.tables("--check").returncode, 0)
            self.assertIn("gpu (made up), f16, batch 128", page)
            rows = [line for line in page.splitlines() if line.startswith("| ")]
            means = [
                "| `dense` | dense |  |  | 30 | 2 | 94.00 (93.00 to 95.00) | +0.00 |  |  | 4 (3.9 to 4.1) | 1.00x |",
                "| `channel` | channel (filters alone) | magnitude | 2x | 110 | 1 | 92.00 | -2.00 | 80.00 | 2 | 2.5 | 1.60x |",
                "| `mixed-4x` | mixed | magnitude | 4x | 70 | 1 | 91.00 | -3.00 | 80.00 | 2 | 1 | 4.00x |",
                "| `mixed` | mixed | magnitude | 2x | 70 | 2 | 93.80 (93.60 to 94.00) | -0.20 | 80.00 | 2 | 2 (1.9 to 2.1) | 2.00x |"]
            self.assertEqual(rows[1:5], means)
            self.assertIn("| `channel` | channel (filters alone) | magnitude | 2x | 1 | 110 | 92.00 | 80.00 | 2 | 2.5 | +25.0 | no |", rows)
            self.assertIn("| `mixed-seed2` | mixed | magnitude | 2x | 2 | 70 | 94.00 | 80.00 | 2 | 1.9 | -5.0 | yes |", rows)
            self.assertIn("2.00x, -0.20 points (mixed, magnitude, asked for 2x)", page)

    def test_layers_left_out_are_a_kind_of_their_own_and_starts_are_not_shown(self):
        with Copy("frontier.md") as copy:
            self.write_runs(copy)
            self.write_run(copy, "start-cut", accuracy=0.5, ms=4.0, removed="[a, b]")
            self.write_run(copy, "cut", "mixed", accuracy=0.93, ms=1.5, removed="[a, b]")
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `cut` | mixed, 2 layers left out | magnitude | 2x | 70 | 1 | 93.00 | -1.00 | 80.00 | 2 | 1.5 | 2.67x |", page)
            self.assertNotIn("start-cut", page)

    def test_runs_whose_searches_found_other_layers_are_one_row_and_trials_count(self):
        with Copy("frontier.md") as copy:
            self.write_runs(copy)
            for seed, found in ((1, ["b", "c"]), (2, ["c"])):
                self.write_run(copy, f"search-seed{seed}", "vector16", seed=seed, accuracy=0.93, ms=1.5, removed=f"[{','.join(found)}]", found=found)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `search` | vector16, layers left out by evolution | magnitude | 2x | 80 | 2 | 93.00 (93.00 to 93.00) | -1.00 |", page)
            self.assertIn("| `search-seed1` | evolution | 2 of 3 | 5 | 60.00 | b, c |\n| `search-seed2` | evolution | 2 of 3 | 5 | 60.00 | c |", page)

    def test_the_dense_network_of_the_same_process_is_the_baseline(self):
        with Copy("frontier.md") as copy:
            self.write_runs(copy)
            self.write_run(copy, "cut", "vector16", accuracy=0.93, ms=1.5, against=3.0)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `cut` | vector16 | magnitude | 2x | 70 | 1 | 93.00 | -1.00 | 80.00 | 2 | 1.5 | 2.00x |", page)

    def test_the_figure_has_a_line_for_each_granularity(self):
        with Copy("frontier.md") as copy:
            self.write_runs(copy)
            self.page(copy)
            figure = ElementTree.fromstring((copy.root / "docs/benchmarks/frontier/net.svg").read_text(encoding="utf-8"))
            space = "{http://www.w3.org/2000/svg}"
            lines = figure.findall(f"{space}polyline")
            self.assertEqual([len(line.get("points").split()) for line in lines], [1, 1, 2])  # means of seeds
            texts = [text.text for text in figure.findall(f"{space}text")]
            for text in ("dense", "channel (filters alone)", "mixed", "91", "94", "0", "4"):
                self.assertIn(text, texts)
            places = [(float(c.get("cx")), float(c.get("cy"))) for c in figure.findall(f"{space}circle")]
            for x, y in places:
                self.assertTrue(60 <= x <= 510 and 36 <= y <= 392, (x, y))
            shutil.rmtree(copy.root / "docs/benchmarks/frontier/net")
            self.assertIn("nothing prints the block 'frontier.net.where'", copy.tables("--check").stderr)

    def write_unmeasured_runs(self, copy):
        """Times as the table predicts them; dense takes 4 ms."""
        def time(ms):
            return {"time": {"predicted_ms": ms, "dense_ms": 4.0, "device": "gpu (made up)", "precision": "f16"}, "is_measured": False}
        self.write_run(copy, "dense", accuracy=0.94, is_measured=False)
        self.write_run(copy, "mixed", "mixed", accuracy=0.937, **time(2.5))
        self.write_run(copy, "mixed-4x", "mixed", accuracy=0.91, speedup=4.0, **time(1.0))
        self.write_run(copy, "channel", "channel", accuracy=0.92, **{**time(3.2), "is_measured": True})

    def test_what_was_not_measured_beside_a_measured_dense_network_is_predicted(self):
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `dense` | dense |  |  | 30 | 1 | 94.00 | +0.00 |  | 4 | not measured | 1.00x, predicted |", page)
            self.assertIn("| `channel` | channel (filters alone) | magnitude | 2x | 70 | 1 | 92.00 | -2.00 | 80.00 | 3.2 | 2 | 1.25x, predicted |", page)
            self.assertIn("| `mixed` | mixed | magnitude | 2x | 70 | 1 | 93.70 | -0.30 | 80.00 | 2.5 | not measured | 1.60x, predicted |", page)
            self.assertIn("| `mixed` | mixed | magnitude | 2x | 1 | 70 | 93.70 | 80.00 | 2.5 | not measured |  | yes |", page)
            self.assertIn("1.60x predicted, -0.30 points (mixed, magnitude, asked for 2x)", page)
            figure = (copy.root / "docs/benchmarks/frontier/net.svg").read_text(encoding="utf-8")
            self.assertIn(">mixed, predicted<", figure)

    def test_a_run_measured_beside_dense_in_its_process_counts_before_predicted_ones(self):
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            self.write_run(copy, "measured", "vector16", accuracy=0.938, ms=2.0, against=3.0,
                           time={"dense_ms": 4.0, "device": "gpu (made up)", "precision": "f16"})
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `measured` | vector16 | magnitude | 2x | 70 | 1 | 93.80 | -0.20 | 80.00 | 2 | 2 | 1.50x |", page)
            self.assertIn("1.50x, -0.20 points (vector16, magnitude, asked for 2x)", page)

    def test_a_table_of_another_device_predicts_and_is_not_drawn(self):
        def time(ms):
            return {"time": {"predicted_ms": ms, "dense_ms": 4.0, "device": "gpu (another)", "precision": "f16"}}
        with Copy("frontier.md") as copy:
            self.write_run(copy, "dense", accuracy=0.94, is_measured=False)
            self.write_run(copy, "measured", "vector16", accuracy=0.938, ms=2.0, against=3.0, single=(0.5, 0.8), **time(2.5))
            self.write_run(copy, "not", "mixed", accuracy=0.93, is_measured=False, **time(1.0))
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("gpu (made up), f16, batch 128", page)
            self.assertIn("gpu (another), f16, batch 128", page)
            self.assertIn("| `dense` | dense |  |  | 30 | 1 | 94.00 | +0.00 |  | 4 | 3 (3 to 3, beside the others) | 1.00x |", page)
            self.assertIn("| `not` | mixed | magnitude | 2x | 70 | 1 | 93.00 | -1.00 | 80.00 | 1 | not measured | not measured |", page)
            self.assertIn("1.50x, -0.20 points (vector16, magnitude, asked for 2x)", page)
            self.assertIn("| `measured` | 1 | -0.20 | 0.5 | 0.8 | 1.60x |", page)
            figure = (copy.root / "docs/benchmarks/frontier/net.svg").read_text(encoding="utf-8")
            self.assertIn(">vector16<", figure)
            self.assertIn(">dense<", figure)
            self.assertNotIn("predicted", figure)

    def test_what_is_predicted_for_another_device_is_not_the_fastest(self):
        time = {"time": {"predicted_ms": 1.0, "dense_ms": 4.0, "device": "gpu (another)", "precision": "f16"}}
        with Copy("frontier.md") as copy:
            self.write_run(copy, "dense", accuracy=0.94, is_measured=False)
            self.write_run(copy, "measured", "vector16", accuracy=0.93, ms=2.0, against=3.0, **time)
            self.write_run(copy, "not", "mixed", accuracy=0.94, is_measured=False, **time)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("no pruned network whose time is known is within 0.5 points of dense", page)

    def test_seeds_that_were_measured_are_shown_with_their_number_and_the_others_keep_the_group_predicted(self):
        for device, last in (("gpu (made up)", "1.60x, predicted"), ("gpu (another)", "not measured")):
            time = {"time": {"predicted_ms": 2.5, "dense_ms": 4.0, "device": device, "precision": "f16"}}
            with Copy("frontier.md") as copy:
                self.write_run(copy, "dense", accuracy=0.94, is_measured=False)
                for name, measured in (("one", (2.2, None)), ("two", (2.2, 2.0, None)), ("all", (2.2, 2.0))):
                    for seed, ms in enumerate(measured, 1):
                        changes = {"is_measured": False} if ms is None else {"ms": ms, "against": 3.0}
                        self.write_run(copy, f"{name}-seed{seed}", f"vector{name}", seed=seed, **changes, **time)
                run, page = self.page(copy)
                self.assertEqual(run.returncode, 0, run.stderr)
                rows = {line.split("`")[1]: line.split("| 80.00 | ")[1] for line in page.splitlines() if "| 80.00 | " in line}
                self.assertEqual(rows["one"], f"2.5 | 2.2 (1 of 2 seeds) | {last} |")
                self.assertEqual(rows["two"], f"2.5 | 2.1 (2 to 2.2, 2 of 3 seeds) | {last} |")
                self.assertEqual(rows["all"], "2.5 | 2.1 (2 to 2.2) | 1.43x |")

    def test_seeds_without_any_time_leave_that_of_the_measured_ones(self):
        with Copy("frontier.md") as copy:
            self.write_run(copy, "dense", accuracy=0.94, is_measured=False)
            self.write_run(copy, "mixed", "mixed", ms=2.5, against=4.2, time={"dense_ms": 4.0, "device": "gpu (made up)", "precision": "f16"})
            for seed, ms in enumerate((2.2, 2.0, None), 1):
                changes = {"is_measured": False} if ms is None else {"ms": ms, "against": 4.2, "single": (0.5, 0.8)}
                self.write_run(copy, f"plain-seed{seed}", seed=seed, accuracy=0.93 + 0.001 * seed, has_time=False, **changes)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| 93.20 (93.10 to 93.30) | -0.80 | 80.00 |  | 2.1 (2 to 2.2, 2 of 3 seeds) | 2.00x |", page)
            self.assertIn("| `plain` | 2 | -0.80 | 0.5 (0.5 to 0.5) | 0.8 (0.8 to 0.8) | 1.60x |", page)

    def test_batches_of_the_network_that_a_run_began_with_count(self):
        with Copy("frontier.md") as copy:
            self.write_run(copy, "dense-seed1", accuracy=0.93, ms=4.0)
            self.write_run(copy, "mixed", "mixed", weights="runs/dense-seed1/dense.safetensors")
            _, page = self.page(copy)
            self.assertIn("| `mixed` | mixed | magnitude | 2x | 100 | 1 |", page)
            self.write_run(copy, "odd", weights="runs/other/dense.safetensors")
            run, _ = self.page(copy)
            self.assertIn("odd: begins with runs/other/dense.safetensors, which is no run of this case", run.stderr)

    def test_runs_that_cannot_stand_side_by_side_are_refused(self):
        for message, changes in [
                ("measured on ('other', 'f16', 128), channel on", {"device": "other"}),
                ("bench.json has 0 measurements of the run's batch", {"time": {"batch": 64}}),
                ("a second run of seed 1 with one configuration", {"granularity": "mixed", "ms": 2.2})]:
            with Copy("frontier.md") as copy:
                self.write_runs(copy)
                self.write_run(copy, "odd", **changes)
                run, _ = self.page(copy)
                self.assertEqual(run.returncode, 1)
                self.assertIn("docs/benchmarks/frontier/net/odd: ", run.stderr)
                self.assertIn(message, run.stderr)
        with Copy("frontier.md") as copy:
            self.write_run(copy, "channel", "channel")
            run, _ = self.page(copy)
            self.assertIn("docs/benchmarks/frontier/net: no run whose name begins with dense", run.stderr)

    def test_runs_without_bench_json_need_a_table_of_times(self):
        with Copy("frontier.md") as copy:
            self.write_runs(copy)
            self.write_run(copy, "odd", is_measured=False)
            run, _ = self.page(copy)
            self.assertIn("odd: no bench.json, and no table of times in prune.json that could stand for it", run.stderr)
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            self.write_run(copy, "odd", time={"dense_ms": 4.0, "device": "gpu (another)", "precision": "f16"})
            run, _ = self.page(copy)
            self.assertIn("odd: its table is of ('gpu (another)', 'f16', 128), that of others of ('gpu (made up)', 'f16', 128)", run.stderr)

    def test_each_prediction_stands_beside_the_dense_network_of_its_own_table(self):
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            self.write_run(copy, "other", "vector8", is_measured=False,
                           time={"predicted_ms": 2.5, "dense_ms": 5.0, "device": "gpu (made up)", "precision": "f16"})
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| 80.00 | 2.5 | not measured | 2.00x, predicted |", page)
            self.assertIn("| 80.00 | 2.5 | not measured | 1.60x, predicted |", page)

    def test_a_run_without_a_budget_of_time_stands_there_once_measured(self):
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            self.write_run(copy, "plain", ms=2.0, against=3.0, removed="[a]", has_time=False)
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `plain` | element, 1 layers left out | magnitude |  | 70 | 1 | 90.00 | -4.00 | 80.00 |  | 2 | 1.50x |", page)
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            self.write_run(copy, "plain", has_time=False, is_measured=False)
            run, _ = self.page(copy)
            self.assertIn("plain: no bench.json, and no table of times in prune.json that could stand for it", run.stderr)

    def test_a_run_that_asks_for_no_sparsity_has_no_masks_and_no_method(self):
        with Copy("frontier.md") as copy:
            self.write_unmeasured_runs(copy)
            self.write_run(copy, "plain", accuracy=0.94, ms=2.0, against=3.0, removed="[a]", has_time=False, sparsity=0.0, target_sparsity=0)
            self.write_run(copy, "met", "vector8", sparsity=0.0, is_measured=False,
                           time={"dense_ms": 4.0, "device": "gpu (made up)", "precision": "f16"})
            run, page = self.page(copy)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertIn("| `plain` | no masks, 1 layers left out |  |  | 70 | 1 | 94.00 | +0.00 | 0.00 |  | 2 | 1.50x |", page)
            self.assertIn("1.50x, +0.00 points (no masks, 1 layers left out)", page)
            self.assertIn("| `met` | vector8 | magnitude | 2x |", page)


class Sentences(unittest.TestCase):
    def test_a_run_that_began_with_another_dense_network_is_refused(self):
        with Copy("sentences.md") as copy:
            path = copy.root / "docs/benchmarks/sentences/steps-87.5-fold3/prune.json"
            summary = json.loads(path.read_text(encoding="utf-8"))
            path.write_text(json.dumps(summary | {"dense_accuracy": 0.5}), encoding="utf-8")
            run = copy.tables("--check")
            self.assertEqual(run.returncode, 1)
            self.assertIn("steps-87.5", run.stderr)
            self.assertIn("fold 3", run.stderr)


class PaperNetworks(unittest.TestCase):
    def test_pruned_networks_stand_beside_dense_ones_of_equal_seeds_and_the_paper(self):
        accuracies = {"resnet50-c10-dense-80-seed1": 0.95, "resnet50-c10-dense-80-seed2": 0.96, "resnet50-c10-97.2-seed2": 0.955,
                      "resnet50-c10-dense-160-seed1": 0.97}
        config = ("model:\n  architecture: resnet50\ndata:\n  format: cifar10\n  validation: 5000\naugment:\n  cutout: 16\n"
                  "train:\n  weight_decay: 5e-04\n  epochs: ")
        with Copy() as copy:
            shutil.rmtree(copy.root / "docs/benchmarks/paper-networks")
            for name, accuracy in accuracies.items():
                folder = copy.root / "docs/benchmarks/paper-networks" / name
                folder.mkdir(parents=True)
                is_dense = "dense" in name
                summary = {"accuracy": 0.1 if is_dense else accuracy, "dense_accuracy": accuracy if is_dense else 0.2,
                           "sparsity": 0.0 if is_dense else 0.972, "device": "cuda:0 (made up), graphs"}
                (folder / "prune.json").write_text(json.dumps(summary), encoding="utf-8")
                (folder / "config.yaml").write_text(f"{config}{name.split('-')[3] if is_dense else 0}\n", encoding="utf-8")
                lines = ({"stage": "prune", "iteration": number, "accuracy": number / 4} for number in (1, 2))
                (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
            page = copy.root / "docs/benchmarks/made-up.md"
            page.write_text("# Networks\n\n<!-- table: papers.results -->\n<!-- end -->\n\n"
                            "After one epoch <!-- value: papers.resnet50_c10_first --><!-- end -->.\n\n"
                            "Taught: <!-- value: teachers.frontier_resnet50 --><!-- end -->.\n", encoding="utf-8")
            run = copy.tables()
            self.assertEqual(run.returncode, 0, run.stderr)
            text = page.read_text(encoding="utf-8")
            self.assertIn("After one epoch <!-- value: papers.resnet50_c10_first -->25.00 to 25.00 %<!-- end -->.", text)
            self.assertIn("| ResNet50, CIFAR-10 | dense, 80 epochs |  | 95.00 | 96.00 |  | 95.50 |  |  |", text)
            taught = "160 epochs in all; points beside a dense network of as many: `scratch-cut5-1.95-taught` -3."
            self.assertIn(f"Taught: <!-- value: teachers.frontier_resnet50 -->{taught}", text)
            self.assertIn("| ResNet50, CIFAR-10 | pruned, 80 epochs in all | 97.20 |  | 95.50 |  | 95.50 | -0.50 (-0.50 to -0.50) "
                          "| 94.1 at 97.14 % |", text)


class TrainingSpeed(unittest.TestCase):
    SECONDS = {"dense": [9.0, 11.0, 14.0, 15.0], "evolution": [9.0, 13.0, 18.0, 20.0], "whole": [9.0, 13.0, 18.0, 20.0]}  # at the end of each epoch

    def write_run(self, copy, kind, peak):
        folder = copy.root / "docs/benchmarks/training-speed" / f"{kind}-seed1"
        folder.mkdir(parents=True)
        summary = {"device": "cuda:0 (made up), graphs", "peak_gpu_bytes": peak, "population": [{}] * 3, "accuracy": 0.9, "dense_accuracy": 0.8}
        (folder / "prune.json").write_text(json.dumps(summary), encoding="utf-8")
        config = "data:\n  validation: 10000\ntrain:\n  batch_size: 256\nprune:\n  batch_nr: 157\n  mask_interval: 16\n  pool_size: 3\n"
        (folder / "config.yaml").write_text(config, encoding="utf-8")
        work = kind.rsplit("-", 1)[1]
        phases = ("rise", "rise", "settle", "tune")
        lines = [{"stage": "dense" if work == "dense" else "prune", "phase": phase, "seconds": seconds}
                 for phase, seconds in zip(phases, self.SECONDS.get(work, []))]
        (folder / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def test_epochs_without_the_first_and_those_of_fixed_masks_apart(self):
        with Copy("training-speed.md") as copy:
            shutil.rmtree(copy.root / "docs/benchmarks/training-speed")
            for kind in ("vgg16-dense", "vgg16-evolution", "vgg16-whole", "resnet50-dense", "resnet50-evolution", "resnet50-pool16",
                         "before-vgg16-dense", "before-vgg16-evolution", "kernels-vgg16-dense", "kernels-vgg16-evolution",
                         "kernels-resnet50-dense"):
                self.write_run(copy, kind, 3 * 2**30)
            run = copy.tables()
            self.assertEqual(run.returncode, 0, run.stderr)
            page = (copy.root / "docs/benchmarks/training-speed.md").read_text(encoding="utf-8")
            self.assertIn("| VGG16 | dense epoch | 3 | 2 | 1 | 3 | 2.5 |", page)  # 40,000 images
            self.assertIn("| VGG16 | iteration of the evolution | 2 | 4.5 | 4 | 5 | 5.62 |", page)
            self.assertIn("| VGG16 | iteration of the evolution, 40,192 images, hardly a measurement | 2 | 4.5 | 4 | 5 | 5.6 |", page)
            self.assertIn("| ResNet50 | iteration of the evolution, masks fixed | 1 | 2 | 2 | 2 | 2.5 |", page)
            self.assertIn("| dense epoch | 3 | 2 | 1 to 3 | 2 | +0.0 |", page)
            self.assertIn("2 of 2", page)
            self.assertIn("| ResNet50 | evolution, larger population | 3 | 1 | 3.22 | 3.00 |", page)


class Condense(unittest.TestCase):
    def condensed(self, name, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / name
            path.write_text(text, encoding="utf-8")
            for _ in range(2):  # the second time changes nothing
                subprocess.run([sys.executable, "-B", BENCHMARKS / "condense.py", path], check=True)
                first = path.read_text(encoding="utf-8")
            self.assertEqual(first, path.read_text(encoding="utf-8"))
            return first

    def test_a_comparison_keeps_percentiles_and_the_fastest_of_each_family(self):
        times = {"min": 1.0, "mean": 2.5, "median": 2.00000000004, "p90": 3.0, "p95": 3.5, "p99": 4.0, "max": 4.0}
        candidates = [{"family": "dense", "kernel": "slow", "ms": 3.0}, {"family": "direct", "kernel": "d", "ms": 2.0},
                      {"family": "dense", "kernel": "fast", "ms": 1.0}]
        layer = {"name": "conv1", "ms": dict(times), "candidates": candidates}
        plan = {"network_ms": times, "layers": [layer, {"name": "pool"}]}
        text = self.condensed("bench.json", json.dumps(
            [{"batch": 1, "repeats": 100, "dense": plan, "sparse": {"error": "none"}, "chosen": plan}]))
        result = json.loads(text)[0]
        self.assertEqual(result["dense"]["network_ms"],
                         {"min": 1.0, "median": 2.0, "p90": 3.0, "max": 4.0, "count": 100})
        kept = result["chosen"]["layers"][0]
        self.assertEqual([c["kernel"] for c in kept["candidates"]], ["fast", "d"])
        self.assertEqual(kept["kernels_timed"], 3)
        self.assertEqual(len([line for line in text.splitlines() if '"pool"' in line]), 2)

    def test_what_a_later_layer_computes_is_no_familys_fastest_but_stays_where_it_was_chosen(self):
        def kept(chosen, *candidates):
            layer = {"name": "conv1", "kernel": chosen, "candidates": [dict(zip(("family", "kernel", "ms"), c)) for c in candidates]}
            layer["candidates"].append({"family": "dense", "kernel": "wrong", "rejected": "is off by 1"})
            plan = {"network_ms": {"median": 1.0}, "layers": [layer]}
            text = self.condensed("bench.json", json.dumps([{"repeats": 1, "chosen": plan}]))
            return [c["kernel"] for c in json.loads(text)[0]["chosen"]["layers"][0]["candidates"]]

        later, run = ("dense", "cudnn, in the launch of sum", 0.0), ("jit", "jit, in the run of pool", 0)
        fast, slow = ("dense", "fast", 1.0), ("dense", "slow", 2.0)
        self.assertEqual(kept("fast", later, slow, fast), ["fast", "wrong"])
        self.assertEqual(kept(later[1], later, slow, fast), [later[1], "fast", "wrong"])
        self.assertEqual(kept("fast", run, fast), [run[1], "fast", "wrong"])  # all that is known of jit

    def test_kernels_of_one_case_become_the_fastest_and_their_number(self):
        lines = [{"gpu": "H200"}] + [
            {"layer": "a", "batch": 1, "precision": "f16", "family": "dense", "kernel": k, "ms": ms}
            for k, ms in (("x", 3.0), ("y", 1.0), ("z", 2.0))]
        text = self.condensed("conv.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        found = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(found[0], {"gpu": "H200"})
        self.assertEqual([(line["kernel"], line["kernels"]) for line in found[1:]], [("y", 3)])

    def test_kernels_of_other_forms_of_the_gathered_family_are_other_cases(self):
        lines = [{"layer": "a", "batch": 1, "family": "gathered", "kernel": f"gathered {k}", "ms": ms} for k, ms in (
            ("resident map=2x2", 3.0), ("resident map=4x4", 2.0), ("resident point=1x1x2", 4.0), ("resident point=1x1x2 codes", 1.0))]
        found = [json.loads(line) for line in
                 self.condensed("conv.jsonl", "".join(json.dumps(line) + "\n" for line in lines)).splitlines()]
        self.assertEqual([line["ms"] for line in found], [2.0, 4.0, 1.0])

    def test_kernels_of_other_masks_and_families_are_other_cases(self):
        case = {"layer": "a", "batch": 1, "precision": "f16", "vector": 1, "sparsity_percent": 90.0, "speed_up_over_dense": 2.0}
        lines = [{**case, "family": f, "masks": m, "ms": ms} for f, m, ms in (
            ("direct", "independent", 3.123456789), ("direct_ell", "independent", 2.0), ("direct", "balanced", 1.0))]
        found = [json.loads(line) for line in
                 self.condensed("conv.jsonl", "".join(json.dumps(line) + "\n" for line in lines)).splitlines()]
        self.assertEqual([line["ms"] for line in found], [3.1235, 2.0, 1.0])
        self.assertNotIn("speed_up_over_dense", found[0])

    def test_lines_of_other_sub_batches_are_other_cases_and_a_refusal_stays(self):
        case = {"layer": "a", "batch": 1, "precision": "f16", "family": "direct"}
        lines = [{**case, "sub_batch": 1, "ms": 3.0}, {**case, "sub_batch": 2, "ms": 2.0}, {**case, "family": "x", "refused": "r"}]
        found = [json.loads(line) for line in
                 self.condensed("conv.jsonl", "".join(json.dumps(line) + "\n" for line in lines)).splitlines()]
        self.assertEqual([line.get("ms") for line in found], [3.0, 2.0, None])
        self.assertEqual(found[2]["refused"], "r")

    def test_the_raw_results_of_the_pages_are_condensed(self):
        with Copy() as copy:
            files = [path for path in sorted((copy.root / "docs/benchmarks").rglob("*.json*"))]
            before = [path.read_text(encoding="utf-8") for path in files]
            subprocess.run([sys.executable, "-B", BENCHMARKS / "condense.py", *files], check=True)
            for path, text in zip(files, before):
                self.assertEqual(path.read_text(encoding="utf-8"), text, path.name)

    def test_a_challenge_run_keeps_no_single_runs(self):
        run = {"inference_ms": {"median": 1.0}, "runs": [{"inference_ms": 1.0}], "live": list(range(100)),
               "baseline": {"runs": [1], "speed_up": 2.0}}
        found = json.loads(self.condensed("runs.jsonl", json.dumps(run) + "\n"))
        self.assertNotIn("runs", found)
        self.assertNotIn("runs", found["baseline"])
        self.assertEqual(found["live"], list(range(24)))


if __name__ == "__main__":
    unittest.main()
