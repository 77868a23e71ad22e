#: attacks = memory by captured output
#: timeout = 1
#: memory = 64M
#: status = any
x=$(yes); y=$(cat /dev/zero); z=$(cat /dev/urandom); mapfile a < /dev/zero; read -r line < /dev/zero; mapfile b < <(yes)
