"""Inspect's own checks of sandboxes."""

from __future__ import annotations

import pytest

pytest.importorskip("inspect_ai")

from inspect_ai.util._sandbox.self_check import *  # noqa: F403
from wasibox.adapters.inspect import WasiboxSandboxEnvironment

pytestmark = pytest.mark.asyncio

#: The tests that need another user. A sandbox has only one.
UNFIT = {"test_exec_as_user"}


@pytest.fixture
async def sandbox_env(request):
    if request.node.originalname in UNFIT:
        request.applymarker(pytest.mark.xfail(strict=True))
    made = await WasiboxSandboxEnvironment.sample_init("checks", None, {})
    yield made["default"]
    await WasiboxSandboxEnvironment.sample_cleanup("checks", None, made, False)
