#: attacks = a writable mount over the folder of programs, filled with the guest's own
#: mount = work:/usr/local/bin:rw
#: status = 0
#: says = contained
printf '#!/bin/sh\necho taken\n' > /usr/local/bin/ls; chmod 755 /usr/local/bin/ls
printf '\0asm\1\0\0\0' > /usr/local/bin/module; chmod 755 /usr/local/bin/module
head -c 4096 /dev/urandom > /usr/local/bin/noise; chmod 755 /usr/local/bin/noise
printf '\177ELF\2\1\1\0' > /usr/local/bin/elf; chmod 755 /usr/local/bin/elf
ls; module; noise; elf; echo contained
