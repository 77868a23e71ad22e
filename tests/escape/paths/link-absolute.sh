#: attacks = symbolic links of a mount to absolute host paths
#: mount = work:/w:rw
#: before = ln -s "$PWD/outside/secret" work/file; ln -s "$PWD/outside" work/folder; ln -s / work/top
#: status = 0
#: says = contained
cat /w/file /w/folder/secret /w/top/etc/shadow 2> /dev/null
echo x 2> /dev/null > /w/file
echo x 2> /dev/null > /w/folder/new
touch /w/folder/new /w/top/tmp/wasibox-escape 2> /dev/null
rm -rf /w/folder/ /w/folder/secret 2> /dev/null
chmod 777 /w/file /w/folder 2> /dev/null
echo contained
