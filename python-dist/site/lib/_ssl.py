"""TLS is not part of this Python: `import ssl` ends here, with the reason."""

raise ModuleNotFoundError(
    "No module named '_ssl': TLS is not available inside the sandbox", name="_ssl"
)
