"""Processes that share locks and queues are not part of this Python: importing what needs
them ends here, with the reason."""

raise ImportError(
    "No module named '_multiprocessing': multiprocessing is not available inside the sandbox,"
    " which has no fork() and no shared semaphores; subprocess is",
    name="_multiprocessing",
)
