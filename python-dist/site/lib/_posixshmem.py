"""What `multiprocessing.shared_memory` rests on. There is no shared memory: asking for some is an error."""


def shm_open(path, flags, mode=0o777):
    raise NotImplementedError("processes inside the sandbox share no memory, and files are mapped as"
                              " copies; pipes, queues and files serve instead")


def shm_unlink(path):
    raise FileNotFoundError(2, "No such file or directory", path)
