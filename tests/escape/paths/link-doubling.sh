#: attacks = links each of which passes twice through the one before
#: timeout = 1
#: status = 0 124
cd /tmp; mkdir l0
for i in $(seq 50); do ln -s l$((i - 1))/../l$((i - 1)) l$i; done
for i in $(seq 200); do stat -L l50 l49 l40; cd l50; cd /tmp; echo x > l50/f; done > /dev/null 2>&1
exit 0
