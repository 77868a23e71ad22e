#: attacks = an image whose lengths are as large as can be, one after the other
#: targets = exec
#: before = printf '\0webc003' > head
#: wrap = for n in 0 8 9 16 17 24 32 40; do python3 -c "import sys; n = int(sys.argv[1]); open('i', 'wb').write(b'\0webc003' + b'\1' * n + b'\xff' * 8 + b'\x7f' * 64)" $n; "$1" inspect i; "$1" inspect --json i; done
#: runner = inspect i
#: status = 125
