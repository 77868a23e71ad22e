"""For schemathesis: snapshots are bytes like others."""

import schemathesis

schemathesis.serializer.alias("application/vnd.wasibox.snapshot", "application/octet-stream")
