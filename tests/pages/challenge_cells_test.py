"""Tests of docs/benchmarks/challenge_cells.py with a program in the place of runtime; the folder is the argument."""
import json
import pathlib
import subprocess
import sys
import unittest

from fake_program import WithFakeProgram

SCRIPT = pathlib.Path(sys.argv.pop(1)).resolve() / "challenge_cells.py"

# Notes how it was called; cusparse has too little memory, cusparse-filter takes long.
RUNTIME = '''#!/usr/bin/env python3
import json, os, sys, time
arguments = sys.argv[2:]
value = lambda key: arguments[arguments.index(key) + 1]
with open("calls.txt", "a") as calls:
    calls.write(" ".join(arguments) + "\\n")
if arguments[0] == "generate":
    os.makedirs(value("-o"))
    sys.exit(0)
if value("--engine") == "cusparse":
    sys.exit("runtime: error: out of memory")
if value("--engine") == "cusparse-filter":
    time.sleep(60)
report = {"engine": value("--engine"), "neurons": int(arguments[1].split("/")[-1].split("x")[0]), "last_layer": int(value("--layers")),
          "options": {"streams": int(value("--streams")) if "--streams" in arguments else 0}, "inference_ms": {"median": 2.5}}
with open(value("--json"), "w") as file:
    json.dump(report, file)
'''


class ChallengeCells(WithFakeProgram):
    NAME, TEXT = "runtime", RUNTIME

    def make(self, which, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, which, "--runtime", self.root / "runtime", "--data", "data", "--mnist", "m.gz",
                               "--output", "out", *arguments], cwd=self.root, capture_output=True, text=True)

    def lines(self, which):
        return [json.loads(line) for line in (self.root / f"out/{which}.jsonl").read_text(encoding="utf-8").splitlines()]

    def test_cells_are_made_once_and_data_too(self):
        for _ in range(2):
            result = self.make("sizes", "--only", "grouped 1024x*,fused 1024x480")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("4 runs are done", result.stdout)
        self.assertEqual([(line["engine"], line["last_layer"]) for line in self.lines("sizes")],
                         [("grouped", 120), ("grouped", 480), ("grouped", 1920), ("fused", 480)])
        self.assertEqual(len(self.calls()), 5)
        self.assertTrue(self.calls()[0].startswith("generate --published --neurons 1024 --layers 1920 --mnist m.gz"))
        self.assertNotIn("max_connections", self.lines("sizes")[0])
        self.assertNotIn("--streams", " ".join(self.calls()))

    def test_what_fails_is_a_line_and_what_takes_too_long_is_none(self):
        result = self.make("sizes", "--only", "cusparse 16384x480,cusparse-filter 16384x480", "--seconds", "3")
        self.assertEqual(result.returncode, 130, result.stderr)
        self.assertIn("time is up: 1 of 2 runs are left", result.stdout)
        (line,) = self.lines("sizes")
        self.assertEqual((line["engine"], line["error"]), ("cusparse", "runtime: error: out of memory"))
        self.assertIn("--repeats 1 --warm-up 0", self.calls()[1])

    def test_streams_name_the_queues_of_the_device(self):
        self.assertEqual(self.make("streams", "--only", "tiled").returncode, 0)
        self.assertEqual([line["options"]["streams"] for line in self.lines("streams")], [2 ** i for i in range(9)])
        self.assertEqual({line["max_connections"] for line in self.lines("streams")}, {32})


if __name__ == "__main__":
    unittest.main()
