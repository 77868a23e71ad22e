#: attacks = the time limit by stopping: nobody goes on
#: timeout = 1
#: status = 124 147 145 146 148 0
(while :; do :; done) & (while :; do kill -STOP $$ $!; done) & kill -STOP $!; kill -TSTP $$; kill -STOP $$; kill -TTIN 0; sleep 99
