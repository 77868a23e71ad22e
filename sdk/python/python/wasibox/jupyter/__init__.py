"""A kernel for Jupyter whose cells run in a session.

``wasibox kernel install`` tells Jupyter about it. A notebook has a session of its own, which is
granted nothing but what the policy file of the kernel says.

- ``_install``: the command line ``wasibox kernel``.
- ``_kernel``: the kernel, over ipykernel's base class.
- ``_code``: the cells that the kernel runs; they load the modules below into the interpreter.
- ``_guest``: completion, descriptions of objects, and whether code is complete. Forks of the session
  were tried for them, so that looking at objects could change nothing: a question took 60 ms with
  numpy, and a second with pandas and Matplotlib, rather than 5 ms.
- ``driver.txt``: runs code and reports results and errors; the code interpreter of E2B's interface
  uses the same module.
"""
