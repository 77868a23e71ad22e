#: attacks = a read-only mount, by every tool that changes something
#: mount = work:/w:ro
#: before = echo original > work/file; mkdir work/dir; chmod 644 work/file
#: status = 0
#: says = contained
{
  echo x > /w/file; echo x >> /w/file; : > /w/new; exec 9<> /w/file && echo x >&9
  touch /w/file /w/new; touch -t 200001010000 /w/file; chmod 777 /w/file /w/dir /w; chown 0:0 /w/file
  rm -rf /w/file /w/dir; mv /w/file /w/moved; mv /w /elsewhere; ln /w/file /w/hard; ln -s x /w/soft
  mkdir /w/made; rmdir /w/dir; mkfifo /w/fifo; truncate -s 0 /w/file; dd if=/dev/zero of=/w/file bs=1 count=1
  sed -i s/o/x/ /w/file; tee /w/file < /dev/null; cp /etc/passwd /w/file; install -m 777 /etc/passwd /w/file
  python3 -c 'import os; os.truncate("/w/file", 0)'; python3 -c 'import os; os.utime("/w/file", (0, 0))'
} 2> /dev/null
echo contained
