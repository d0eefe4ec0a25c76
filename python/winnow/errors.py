"""What goes wrong, as one exception with the program's exit code."""
from enum import IntEnum


class Code(IntEnum):
    """The values are the exit codes of the programs and the statuses of the C ABI."""

    INTERNAL = 1
    USAGE = 2
    BAD_FILE = 3
    DEVICE = 4
    QUALITY = 5


class Error(RuntimeError):
    """One line that says who, what was found and what was expected; `code` says what kind it is."""

    def __init__(self, message: str, code: int = Code.USAGE) -> None:
        super().__init__(message)
        self.code = Code(code)
