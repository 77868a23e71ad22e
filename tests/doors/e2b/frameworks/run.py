"""Runs agents of frameworks against a server, without a model: run.py RUNNER IMAGE MODULES

MODULES is the folder of the modules for JavaScript. The frameworks are unchanged; they find the
server by E2B's environment variables. Ends with 1 if a test fails.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile

OWN = pathlib.Path(__file__).parent
sys.path.insert(0, str(OWN.parent))

from server import serving  # noqa: E402


def main():
    runner, image, modules = (pathlib.Path(arg).resolve() for arg in sys.argv[1:4])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with serving(runner, image, folder) as env:
            # Without these variables, the frameworks report their use to their makers.
            env |= {"CREWAI_DISABLE_TELEMETRY": "true", "HAYSTACK_TELEMETRY_ENABLED": "False", "AGNO_TELEMETRY": "false"}
            command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", OWN]
            python = subprocess.run(command, env=env, check=False).returncode
            # Modules are found in the folder of the file that imports them.
            (folder / "node_modules").symlink_to(modules)
            tests = shutil.copy(OWN / "ai_sdk.test.mjs", folder)
            command = ["node", "--test", "--test-reporter=spec", tests]
            javascript = subprocess.run(command, env=env, cwd=folder, check=False).returncode
    raise SystemExit(1 if python or javascript else 0)


main()
