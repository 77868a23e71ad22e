#: attacks = files that are longer than anything
#: disk = 2M
#: memory = 192M
#: timeout = 1
#: status = any
cd /tmp
for n in 1G 1T 1P 7E 8E 9223372036854775807 9223372036854775808 18446744073709551615 -1 +9223372036854775807; do truncate -s $n s; truncate -s +$n s; stat -c %s s; done
for n in 9223372036854775806 9223372036854775807 18446744073709551615 9223372036854770000; do dd if=/dev/zero of=k bs=1 count=9 seek=$n; done
truncate -s 7E s; for t in cat wc 'tail -c 5' 'head -c 5' md5sum tac 'cmp - s' 'gzip -c' 'cp s t; cat'; do timeout 0.2 $t s | head -c 100 | wc -c; done
timeout 0.3 cp s t; timeout 0.3 tar cf t s; timeout 0.3 sort s; timeout 0.3 split -b 1 s
