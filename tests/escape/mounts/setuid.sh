#: attacks = leaving a program on the host that runs as the user who ran the sandbox
#: mount = work:/w:rw
#: status = 0
#: after = test -z "$(find work -perm /6000)"
cp /etc/passwd /w/x; chmod 4755 /w/x; chmod 6777 /w/x; chmod u+s,g+s /w/x; install -m 4755 /etc/passwd /w/y
python3 -c 'import os; os.open("/w/z", os.O_CREAT | os.O_RDWR, 0o6755); os.chmod("/w/z", 0o6755)'
mkdir /w/d; chmod 2777 /w/d; cp -p /w/x /w/w; tar cf /tmp/t /w/x && tar xpf /tmp/t -C /w
exit 0
