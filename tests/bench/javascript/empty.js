// Does nothing, so that only the start is measured.
