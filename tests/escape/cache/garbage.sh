#: attacks = a folder of machine code full of other things
#: targets = exec
#: host-env = XDG_CACHE_HOME=cache
#: before = mkdir -p cache/wasibox/aot; cd cache/wasibox/aot
#: before = for f in "$CODE"/*; do n=${f##*/}; case $n in *.sum) mkdir $n ;; *.aot) ln -s /etc/passwd $n ;; *.mem) ln -s /dev/zero $n ;; *) ln -s $n $n ;; esac; done
#: seconds = 60
#: timeout = 50
#: grows = 1500M
#: threads = 80
#: status = 0 125
echo contained
