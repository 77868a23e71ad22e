"""Writes a table of sales, 1,250,000 lines and 50 MB, the same every time: FILE."""

import sys


def main(path):
    state = 1

    def below(n):
        # Knuth's MMIX generator.
        nonlocal state
        state = (state * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (state >> 33) % n

    regions = ["north", "south", "east", "west"]
    with open(path, "w", newline="\n") as out:
        out.write("date,region,product,amount,quantity\n")
        for _ in range(1_250_000):
            month, day = below(12) + 1, below(28) + 1
            region = regions[below(4)]
            product, cents, quantity = below(500), below(1_000_000), below(50)
            out.write(
                f"2025-{month:02}-{day:02},{region},product-{product:03},"
                f"{cents // 100}.{cents % 100:02},{quantity}\n"
            )


main(sys.argv[1])
