#: attacks = the folder of machine code in a writable mount: code that the guest wrote would run on the host
#: finding = H2
#: targets = exec
#: host-env = XDG_CACHE_HOME=work
#: mount = work:/w:rw
#: before = mkdir -p work/wasibox/aot; chmod -R go-rwx work; find "$CODE" -size -40M -exec cp -p {} work/wasibox/aot \;
#: timeout = 10
#: status = 0 125
#: never = reached
if ls /w/wasibox/aot/*.aot > /dev/null 2>&1; then
  cd /w/wasibox/aot && for f in *.aot; do printf '\314\314\314\314' | dd of=$f bs=1 seek=9000 conv=notrunc 2> /dev/null && echo reached; done
  echo x >> "$(ls *.sum | head -n 1)" && echo reached
fi
mv /w/wasibox /w/moved 2> /dev/null && echo reached
exit 0
