"""`uv` over pip and venv: the commands that people and models type most, in uv's words.

cli          the command line, help, what is refused
environment  which environment a command means, and what is installed there
pip          `uv pip`
run          `uv run`, `uvx`

Absent: projects apart from what `uv run` needs of them (add, lock, sync), builds, publishing,
interpreters to download. Environments have no pip of their own, as with uv.
"""

# The version whose words the commands have.
FOLLOWED = "0.13.9"


class Failure(Exception):
    """A failure: its message, the lines of its cause, and the exit status."""

    def __init__(self, message, *more, status=2):
        super().__init__(message)
        self.more = more
        self.status = status
