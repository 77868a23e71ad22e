#: attacks = the end of a run, by processes that are stopped
#: status = 0
#: says = contained
sleep 100 & kill -STOP $!
(while :; do :; done) & kill -STOP $!
sh -c 'kill -STOP $$; echo self' &
sleep 0.2; echo contained
