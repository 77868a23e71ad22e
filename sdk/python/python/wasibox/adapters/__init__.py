"""Sessions as sandboxes of other frameworks, a module for each. The package imports none itself."""
