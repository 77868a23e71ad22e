#: attacks = memory by sed's spaces
#: timeout = 1
#: memory = 64M
#: status = any
echo x | sed ':a; s/x/xx/g; ta'; yes | sed -n 'H; $!d; x; p' | wc -c; echo x | sed ':a; G; h; ba'
exit 0
