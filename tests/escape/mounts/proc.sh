#: attacks = a mount of the host's /proc
#: finding = low: /proc mount
#: mount = /proc:/host:ro
#: status = 125
#: never = Linux version
cat /host/version; ls /host/self/fd/
