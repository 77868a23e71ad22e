"""Tells schemathesis to send snapshots as plain bytes."""

import schemathesis

schemathesis.serializer.alias("application/vnd.wasibox.snapshot", "application/octet-stream")
