#: attacks = the disk limit by many small things
#: disk = 1M
#: timeout = 2
#: memory = 64M
#: status = any
cd /tmp; for i in $(seq 100000); do : > f$i; mkdir d$i; ln -s $i l$i; ln f1 h$i; mkfifo p$i; done 2> /dev/null
