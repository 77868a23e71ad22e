#: attacks = memory and time by integers and their texts
#: timeout = 1
#: memory = 96M
#: status = 1 124
import sys
sys.set_int_max_str_digits(0)
for f in (lambda: 10 ** 10 ** 8, lambda: 1 << (1 << 34), lambda: str(7 ** 10 ** 7), lambda: int("9" * 10 ** 7), lambda: 3 ** 3 ** 3 ** 3):
    try:
        f()
    except (MemoryError, OverflowError, ValueError) as e:
        print(type(e))
sys.exit(1)
