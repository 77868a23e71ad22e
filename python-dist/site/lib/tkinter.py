"""There is no display."""

raise ModuleNotFoundError(
    "No module named 'tkinter': there is no display inside the sandbox", name="tkinter"
)
