#: attacks = a folder of machine code that cannot be written to, because it is a file
#: targets = exec
#: host-env = XDG_CACHE_HOME=file
#: before = echo x > file
#: seconds = 60
#: timeout = 50
#: grows = 1500M
#: threads = 80
#: status = 0 125
echo contained
