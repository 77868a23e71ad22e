mkdir a b; seq 1 20 > a/list; cp a/list b/list; sed -i '5s/.*/five/; 15d; 18a eighteen and a half' b/list; echo 'new file' > b/new; echo gone > a/old
diff -ruN a b > change.patch; echo "diff $?"; grep -v '^[-+][-+][-+]\|^diff' change.patch
cp -r a c; (cd c && patch -p1 < ../change.patch); diff -r b c && echo "same as b"; ls c
(cd c && patch -R -p1 < ../change.patch); diff -r a c && echo "back to a"
sed -i '3s/.*/three/' c/list; (cd c && patch -p1 < ../change.patch); sed -n '3p;5p' c/list; sed -i 's/^5$/FIVE/' a/list; cp -r a d; (cd d && patch -p1 --no-backup-if-mismatch < ../change.patch); echo "patch $?"; find d -name '*.rej' | sort
diff -u <(seq 3) <(seq 2 4) | tail -n +3; cmp a/list b/list | sed 's/:.*//'; comm -3 <(sort a/list) <(sort b/list) | head -3
