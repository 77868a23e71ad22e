"""Runs OpenHands against a server, without a model: run.py RUNNER IMAGE

It is unchanged, and finds the server by E2B's environment variables. Ends with 1 if a test fails.
"""

import pathlib
import subprocess
import sys
import tempfile

OWN = pathlib.Path(__file__).parent
sys.path.insert(0, str(OWN.parent))

from server import serving  # noqa: E402


def main():
    runner, image = (pathlib.Path(arg).resolve() for arg in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as name, serving(runner, image, pathlib.Path(name)) as env:
        # Its library for models would fetch a list of prices, and it keeps settings in the home.
        env |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HOME": name}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore", OWN]
        raise SystemExit(1 if subprocess.run(command, env=env, cwd=name, check=False).returncode else 0)


main()
