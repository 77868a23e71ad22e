mkdir -p src/lib src/bin; echo 'print("hi")' > src/bin/run.py; chmod 755 src/bin/run.py; seq 1000 > src/lib/data.txt; ln -s lib/data.txt src/link; touch -d '2023-05-06 07:08:09 UTC' src/lib/data.txt
tar czf pkg.tar.gz --exclude='*.tmp' src; tar tzf pkg.tar.gz | sort; mkdir out; tar xzf pkg.tar.gz -C out
diff -r src out/src && echo identical; stat -c '%A %n' out/src/bin/run.py; stat -c %Y out/src/lib/data.txt; readlink out/src/link
tar xzf pkg.tar.gz -O src/bin/run.py; tar cf - -C src lib | (cd out && tar xf - && ls); gzip -k src/lib/data.txt; gzip -l src/lib/data.txt.gz | awk 'NR == 2 { print $2 }'
zcat src/lib/data.txt.gz | md5sum; gunzip -c src/lib/data.txt.gz | tail -1; (cd src && find . -type f ! -name '*.gz' -exec sha256sum {} + | sort -k2 > ../SUMS); (cd out/src && sha256sum -c ../../SUMS); echo "status $?"
echo broken >> out/src/lib/data.txt; (cd out/src && sha256sum -c ../../SUMS 2>&1); echo "status $?"; tar tzf /dev/null 2>/dev/null; echo "tar $?"
