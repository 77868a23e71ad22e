"""An agent's loop: each command is a commit, and a command with bad effects is undone.

    pip install wasibox wasibox-image
    python undo_mistakes.py
"""

import wasibox

# A model's answers, one command after the other.
COMMANDS = [
    "printf 'apples,3\\npears,5\\n' > stock.csv",
    "sed -i 's/,.*//' stock.csv",  # loses the numbers
    "awk -F, '{ sum += $2 } END { print sum }' stock.csv",
]


def is_broken(session: wasibox.Session) -> bool:
    """Returns whether the file has lost its second column."""
    return any("," not in line for line in session.read("stock.csv").decode().splitlines())


with wasibox.Session(limits="strict") as session:
    for command in COMMANDS:
        outcome = session.exec(command)
        print(f"$ {command}\n{outcome.stdout}", end="")
        if is_broken(session):
            session.undo()
            print("undone: the file has lost its numbers")
    print("commits:", len(session.history()))

# prints:
# $ printf 'apples,3\npears,5\n' > stock.csv
# $ sed -i 's/,.*//' stock.csv
# undone: the file has lost its numbers
# $ awk -F, '{ sum += $2 } END { print sum }' stock.csv
# 8
# commits: 4
