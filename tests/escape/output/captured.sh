#: attacks = the JSON outcome, by output whose encoding is larger
#: json = yes
#: output = 4M
#: timeout = 5
#: grows = 240M
#: status = 137 141 0
head -c 3900000 /dev/zero | tr '\0' '\377'; head -c 3000000 /dev/zero | tr '\0' '\001'
