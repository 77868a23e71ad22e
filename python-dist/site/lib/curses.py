"""There is no terminal library."""

raise ModuleNotFoundError(
    "No module named 'curses': there is no terminal library inside the sandbox", name="curses"
)
