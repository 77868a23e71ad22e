#: attacks = pathname expansion
#: timeout = 1
#: disk = 4M
#: status = any
cd /tmp; for i in $(seq 5000); do : > aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa$i; done 2> /dev/null
shopt -s globstar extglob; echo *a*a*a*a*a*a*a*a*a*a*b; echo /**/**/**/**/*; echo +(+(a))b */*/*/../*/../*; mkdir -p d/d/d; ln -s .. d/d/d/l; echo **/**
