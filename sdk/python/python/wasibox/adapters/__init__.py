"""Sessions as the sandboxes of other frameworks, a module each. None is imported unless it is asked for."""
