cat > auth.log <<'LOG'
Jan  3 04:12:01 web sshd[811]: Failed password for root from 203.0.113.9 port 5022 ssh2
Jan  3 04:12:04 web sshd[811]: Failed password for root from 203.0.113.9 port 5022 ssh2
Jan  3 04:13:10 web sshd[830]: Failed password for invalid user admin from 198.51.100.7 port 40122 ssh2
Jan  3 04:14:00 web sshd[842]: Accepted publickey for deploy from 192.0.2.14 port 51111 ssh2: RSA SHA256:abc
Jan  3 05:00:41 web sudo:   deploy : TTY=pts/0 ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/systemctl restart app
Jan  3 05:01:02 web sshd[901]: Failed password for invalid user oracle from 198.51.100.7 port 40199 ssh2
Jan  3 05:01:09 web sshd[901]: Connection closed by 198.51.100.7 port 40199 [preauth]
LOG
echo "failed by address:"
grep -oP 'Failed password for .* from \K[0-9.]+' auth.log | sort | uniq -c | sort -rn | awk '{ printf "  %-15s %d\n", $2, $1 }'
echo "names tried:"; sed -nE 's/.*Failed password for (invalid user )?([^ ]+) from.*/\2/p' auth.log | sort -u | paste -sd,
echo "accepted:"; grep Accepted auth.log | awk '{ print $3, $9, "from", $11 }'
echo "sudo:"; grep -F 'sudo:' auth.log | sed 's/.*COMMAND=//'
[[ $(grep -c 'Failed' auth.log) -ge 4 ]] && echo "ALERT: $(grep -c Failed auth.log) failures" >&2
grep -q 'session opened' auth.log || echo "no sessions"; echo "exit $?"
