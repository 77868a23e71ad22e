"""pip is not part of this image, so it cannot be installed from here."""

raise ModuleNotFoundError(
    "No module named 'ensurepip': pip is not part of this image "
    "(python3 -m venv --without-pip works)",
    name="ensurepip",
)
