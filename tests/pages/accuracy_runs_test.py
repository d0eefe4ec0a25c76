"""Tests of docs/benchmarks/accuracy_runs.py with a program in the place of prune; the folder is the argument."""
import json
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from fake_program import WithFakeProgram

BENCHMARKS = pathlib.Path(sys.argv.pop(1)).resolve()
SCRIPT = BENCHMARKS / "accuracy_runs.py"
sys.path.insert(0, str(BENCHMARKS))

from accuracy_runs import FROM_WEIGHTS, read_list  # noqa: E402
from printers.common import read_config  # noqa: E402

# Notes how it was called, fails where it is told to, waits for Ctrl-C where it is told to.
PRUNE = '''#!/usr/bin/env python3
import json, pathlib, signal, sys, time
arguments = sys.argv[1:]
with open("calls.txt", "a") as calls:
    calls.write(" ".join(arguments) + "\\n")
if "--search-layers" in arguments:
    if "search-fails=1" in arguments:
        sys.exit("prune: error: told to fail")
    kept = {"target_kept": 7} if "kept=1" in arguments else {}
    pathlib.Path(arguments[arguments.index("--json") + 1]).write_text(
        json.dumps({"weights": "runs/d-seed1/x", "remove_layers": ["b", "c"], **kept}))
    sys.exit()
folder = pathlib.Path(arguments[arguments.index("--output") + 1])
if "fail=1" in arguments:
    sys.exit("prune: error: told to fail")
folder.mkdir(parents=True, exist_ok=True)
if "wait=1" in arguments:
    signal.signal(signal.SIGINT, lambda *_: ((folder / "checkpoint.safetensors").touch(), sys.exit(130)))
    time.sleep(60)
(folder / "config.yaml").write_text(f"output: {folder}\\n")
(folder / "metrics.jsonl").write_text('{"loss":0.123456789012}\\n')
(folder / "prune.json").write_text(json.dumps({"sparsity": 0.5, "accuracy": 0.9, "dense_accuracy": 0.8, "seconds": {"prune": 3}}))
'''


def number_of(text):
    """1e-04 and 0.0001 are one value, [a, b] and [a,b] too, {"a": 1} and {'a':1}."""
    try:
        return float(text)
    except ValueError:
        return text.replace("'", '"').replace(", ", ",").replace(": ", ":")


class AccuracyRuns(WithFakeProgram):
    NAME, TEXT = "prune", PRUNE

    def make(self, lines, *arguments):
        (self.root / "runs.txt").write_text("config a.yaml\n" + lines, encoding="utf-8")
        return subprocess.run([sys.executable, "-B", SCRIPT, "runs.txt", "--prune", "./prune", *arguments],
                              cwd=self.root, capture_output=True, text=True)

    def test_a_start_is_trained_once_for_all_that_want_it(self):
        lines = "COMMON = x=1 # of all\ndense: $COMMON\na < dense: $COMMON y=2\nb < dense: $COMMON y=3\n"
        result = self.make(lines, "--numbers", "7", "--only", "a,b", "--jobs", "2")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("a-seed7: sparsity 50.00 %, accuracy 90.00 %, dense 80.00 %, 3 s", result.stdout)
        calls = self.calls()
        self.assertEqual(calls[0], "--config a.yaml seed=7 x=1 --output runs/dense-seed7 --overwrite --quiet")
        start = "model.weights=runs/dense-seed7/dense.safetensors prune.start=weights train.epochs=0"
        self.assertEqual(sorted(calls[1:]), [f"--config a.yaml seed=7 {start} x=1 y={y} --output runs/{name}-seed7 --overwrite --quiet"
                                             for name, y in (("a", 2), ("b", 3))])
        self.assertEqual(self.make(lines, "--numbers", "7", "--only", "a,b").returncode, 0)
        self.assertEqual(len(self.calls()), 3)  # what is done is not made again

    def test_what_was_interrupted_is_resumed(self):
        began = time.monotonic()
        result = self.make("long:\n", "--numbers", "1", "--seconds", "1", "wait=1")
        self.assertEqual(result.returncode, 130)
        self.assertLess(time.monotonic() - began, 30)
        self.assertEqual(self.make("long:\n", "--numbers", "1", "wait=1").returncode, 0)
        self.assertEqual(self.calls()[1], "--output runs/long-seed1 --resume --quiet")

    def test_an_interrupt_stops_the_runs_without_a_word_of_python(self):
        (self.root / "runs.txt").write_text("config a.yaml\nlong:\nnext:\n", encoding="utf-8")
        with subprocess.Popen([sys.executable, "-B", SCRIPT, "runs.txt", "--prune", "./prune", "--numbers", "1", "wait=1"],
                              cwd=self.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as script:
            while not (self.root / "calls.txt").exists() and script.poll() is None:
                time.sleep(0.01)
            time.sleep(0.3)
            script.send_signal(signal.SIGINT)
            output, errors = script.communicate(timeout=30)
        self.assertEqual(script.returncode, 130, errors)
        self.assertNotIn("Traceback", errors)
        self.assertIn("0 of 2 runs are done", output)

    def test_what_fails_is_named_and_the_others_are_made(self):
        result = self.make("bad: fail=1\nnext < bad:\ngood:\n", "--numbers", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("bad-seed1: exit 1: prune: error: told to fail", result.stderr)
        self.assertIn("good-seed1", result.stdout)
        self.assertIn("1 of 3 runs are done", result.stdout)
        self.assertEqual(len(self.calls()), 2)

    def test_files_are_kept_small_and_without_folders_of_the_machine(self):
        output = self.root / "deep" / "place"
        self.assertEqual(self.make("a:\n", "--numbers", "1", "--output", output, "--keep").returncode, 0)
        kept = self.root / "a-seed1"
        self.assertEqual((kept / "config.yaml").read_text(encoding="utf-8"), "output: runs/a-seed1\n")
        self.assertEqual((kept / "metrics.jsonl").read_text(encoding="utf-8"), '{"loss":0.123456789}\n')
        self.assertEqual(json.loads((kept / "prune.json").read_text(encoding="utf-8"))["accuracy"], 0.9)

    def test_letters_of_a_folder_within_words_stay(self):
        self.assertEqual(self.make("a:\n", "--numbers", "1", "--output", "o", "--data", "l", "--keep").returncode, 0)
        self.assertEqual((self.root / "a-seed1/config.yaml").read_text(encoding="utf-8"), "output: runs/a-seed1\n")

    def test_dense_networks_that_runs_begin_with_come_first(self):
        self.assertEqual(self.make("d:\na:\nb < d:\n", "--numbers", "1,2", "--only", "a,b").returncode, 0)
        self.assertEqual([call.split("runs/")[-1].split()[0] for call in self.calls()],
                         ["d-seed1", "d-seed2", "a-seed1", "a-seed2", "b-seed1", "b-seed2"])

    def test_runs_come_in_the_order_of_the_patterns(self):
        self.assertEqual(self.make("a:\nb:\nc:\n", "--numbers", "1", "--only", "c,*").returncode, 0)
        self.assertEqual([call.split("runs/")[-1].split()[0] for call in self.calls()], ["c-seed1", "a-seed1", "b-seed1"])

    def test_a_run_may_begin_with_a_pruned_network(self):
        self.assertEqual(self.make("d:\na < d:\nb << a: y=2\n", "--numbers", "1", "--only", "b").returncode, 0)
        self.assertEqual(self.calls()[2], "--config a.yaml seed=1 model.weights=runs/a-seed1/pruned.safetensors "
                         "prune.start=weights train.epochs=0 y=2 --output runs/b-seed1 --overwrite --quiet")

    def test_a_setting_may_name_the_dense_network_of_another_run(self):
        lines = "start: x=1\nlong: x=2\nTAUGHT = prune.teacher=@long\ntaught < start: $TAUGHT y=3\n"
        result = self.make(lines, "--numbers", "4", "--only", "taught")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.calls()[:2], [f"--config a.yaml seed=4 x={x} --output runs/{name}-seed4 --overwrite --quiet"
                                            for name, x in (("start", 1), ("long", 2))])
        self.assertIn("prune.teacher=runs/long-seed4/dense.safetensors y=3 --output runs/taught-seed4", self.calls()[2])

    def test_a_search_of_layers_comes_before_its_run_and_once(self):
        lines = "d:\na < d: y=2 --search=greedy --trials=5 --prune.y=3\n"
        result = self.make(lines, "--numbers", "1", "--only", "a", "--keep")
        self.assertEqual(result.returncode, 0, result.stderr)
        start = "--config a.yaml seed=1 model.weights=runs/d-seed1/dense.safetensors prune.start=weights train.epochs=0 y=2"
        self.assertEqual(self.calls()[1:], [f"{start} --search-layers --search=greedy --trials=5 prune.y=3 --quiet --json runs/a-seed1.search.json",
                                            f"{start} model.remove_layers=[b,c] --output runs/a-seed1 --overwrite --quiet"])
        kept = json.loads((self.root / "a-seed1/search.json").read_text(encoding="utf-8"))
        self.assertEqual(kept["remove_layers"], ["b", "c"])
        self.assertFalse((self.root / "d-seed1/search.json").exists())
        (self.root / "runs/a-seed1/prune.json").unlink()
        self.assertEqual(self.make(lines, "--numbers", "1", "--only", "a").returncode, 0)
        self.assertEqual(len(self.calls()), 4)  # the search is not made again

    def test_a_search_that_was_interrupted_goes_on(self):
        (self.root / "runs").mkdir()
        (self.root / "runs/a-seed1.search.json").write_text('{"trials": []}', encoding="utf-8")
        self.assertEqual(self.make("a: --search=greedy\n", "--numbers", "1").returncode, 0)
        self.assertTrue(self.calls()[0].endswith("--quiet --json runs/a-seed1.search.json --resume"))
        self.assertIn("model.remove_layers=[b,c]", self.calls()[1])

    def test_a_run_keeps_as_many_weights_as_its_search(self):
        self.assertEqual(self.make("a: kept=1 --search=greedy\n", "--numbers", "1").returncode, 0)
        self.assertIn(" kept=1 model.remove_layers=[b,c] prune.target_kept=7 --output", self.calls()[1])

    def test_a_run_whose_search_fails_is_not_made(self):
        result = self.make("a: search-fails=1 --search=random\n", "--numbers", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("a-seed1: exit 1: prune: error: told to fail", result.stderr)
        self.assertEqual(len(self.calls()), 1)

    def test_numbers_can_be_folds(self):
        result = self.make("number data.fold\nd:\na < d:\n", "--numbers", "0")
        self.assertIn("a-fold0: sparsity", result.stdout)
        self.assertEqual(self.calls()[1], "--config a.yaml data.fold=0 model.weights=runs/d-fold0/dense.safetensors "
                         "prune.start=weights train.epochs=0 --output runs/a-fold0 --overwrite --quiet")

    def test_refusals_name_the_line(self):
        result = self.make("a < nothing: x=1\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("runs.txt:2: found 'a < nothing: x=1', expected", result.stderr)
        result = self.make("a: $NOTHING\n")
        self.assertIn("runs.txt:2: found '$NOTHING', expected a name set above", result.stderr)
        result = self.make("a: prune.teacher=@nothing\n")
        self.assertIn("runs.txt:2: found 'prune.teacher=@nothing', expected a run above behind '@'", result.stderr)
        result = self.make("a:\n", "--only", "b")
        self.assertIn("runs.txt: found no run like 'b', expected one of a", result.stderr)

    def test_runs_that_are_kept_have_the_settings_of_their_list(self):
        checked = 0
        for path in BENCHMARKS.rglob("runs.txt"):
            runs, key = read_list(path)
            for folder in path.parent.iterdir():
                name = folder.name.rsplit("-", 1)[0]
                if not folder.is_dir() or name not in runs:
                    continue
                config = read_config(folder / "config.yaml")
                settings = [*(FROM_WEIGHTS if runs[name].start else ()), *runs[name].settings]
                for setting, value in dict(word.split("=", 1) for word in settings).items():
                    if value.startswith("@"):
                        value = f"runs/{value[1:]}-{folder.name.rsplit('-', 1)[1]}/dense.safetensors"
                    self.assertEqual(number_of(config[setting]), number_of(value), (folder.name, setting))
                self.assertTrue(folder.name.endswith(config[key]))
                checked += 1
        self.assertGreater(checked, 0)


if __name__ == "__main__":
    unittest.main()
