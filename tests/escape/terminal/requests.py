#: attacks = the node of requests about terminals, by random and wrong ones
#: status = 0
#: says = contained
#: timeout = 6
import os, random
random.seed(7)
master = os.open("/dev/ptmx", os.O_RDWR)
slave = os.open("/dev/pts/0", os.O_RDWR)
os.set_blocking(slave, False)
os.set_blocking(master, False)
node = os.open("/.box/terminal", os.O_RDWR)
answers = set()
for n in range(20000):
    # Operations that wait for the foreground or signal the own group are left out at random only.
    operation = random.choice([0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16, 17, 18, 255])
    number = random.choice([0, 1, master, slave, node, 9999, 0xffffffff])
    body = random.randbytes(random.choice([0, 1, 4, 8, 36, 40, 56, 57, 5000]))
    message = bytes([operation, 0, 0, 0]) + number.to_bytes(4, "little") + body
    try:
        os.write(node, message[random.choice([0, 0, 0, 5]):])
        answers.add(os.read(node, 100)[:2])
        os.write(master, random.randbytes(50))
        os.write(slave, random.randbytes(50))
        os.read(slave, 5000)
        os.read(master, 70000)
    except OSError:
        pass
assert len(answers) > 3, answers
print("contained")
