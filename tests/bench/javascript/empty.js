// Does nothing, so only the start is measured.
