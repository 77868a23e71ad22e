#: attacks = the permissions of a mount's own folder
#: finding = low: chmod of a mount's root
#: mount = work:/w:rw
#: before = chmod 755 work
#: status = 0
#: says = contained
#: after = test "$(stat -c %a work)" = 755
chmod 000 /w; chmod 777 /w; chmod 4777 /w/.; (cd /w && chmod 2777 .); python3 -c 'import os; os.chmod("/w", 0)'
python3 -c 'import os; os.utime("/w", (0, 0))'
echo contained
