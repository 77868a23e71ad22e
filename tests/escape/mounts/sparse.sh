#: attacks = files of the greatest size in a mount
#: mount = work:/w:rw
#: status = 0
#: says = contained
#: after = test "$(du -sm work | cut -f 1)" -lt 16
cd /w
for n in 4G 1T 8E 9223372036854775807 18446744073709551615; do truncate -s $n s$n; done 2> /dev/null
dd if=/dev/zero of=seek bs=1 count=1 seek=9223372036854775806 2> /dev/null
dd if=/dev/zero of=seek2 bs=4096 count=1 seek=2251799813685247 2> /dev/null
python3 -c 'import os; os.pwrite(os.open("/w/p", os.O_CREAT | os.O_RDWR), b"x", 2**63 - 2)' 2> /dev/null
cat s8E 2> /dev/null | head -c 10 | wc -c; wc -c s1T
echo contained
