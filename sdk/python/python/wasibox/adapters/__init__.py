"""Adapters to other frameworks, one module for each. The package itself imports none of them."""
