"""Scripts that call a program, tested with one in its place."""
import pathlib
import tempfile
import unittest


class WithFakeProgram(unittest.TestCase):
    """Each test has a folder, `root`, with a program of this name and text, which notes its calls in calls.txt."""
    NAME, TEXT = "", ""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        program = self.root / self.NAME
        program.write_text(self.TEXT, encoding="utf-8")
        program.chmod(0o755)

    def calls(self):
        return (self.root / "calls.txt").read_text(encoding="utf-8").splitlines()
