#: attacks = one folder, mounted read-only here and writable there
#: mount = work/in:/ro:ro
#: mount = work/in:/rw:rw
#: before = mkdir work/in; echo original > work/in/file
#: status = 0
#: says = contained
echo through > /rw/file; cat /ro/file; mv /rw/file /ro/file2; ln /rw/file /ro/hard; echo x > /ro/file && echo written-ro
cd /ro; exec 9<> file && echo opened-ro; (cd /rw; mv file ../ro/y)
echo contained
