#: attacks = the digests in the list of changes: many names of one large file
#: json = yes
#: timeout = 2
#: disk = 300M
#: memory = 128M
#: grows = 540M
#: seconds = 12
#: status = any
head -c 60M /dev/zero > /output/big
for i in $(seq 500); do ln /output/big /output/n$i; done
