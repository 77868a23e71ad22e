set --; x=; a=(); p "$@$x"
set --; x=; a=(); p "$x$@"
set --; x=; a=(); p "$@$@"
set --; x=; a=(); p "${@:-}"
set --; x=; a=(); p "${x-$@}"
set --; x=; a=(); p "${x+$@}"
set --; x=; a=(); p "${y-$@}"
set --; x=; a=(); p "$@"""
set --; x=; a=(); p ""$@
set --; x=; a=(); p $@$x
set --; x=; a=(); p "${a[@]}$x"
set --; x=; a=(); p "a$@"
set --; x=; a=(); p "$*"
set --; x=; a=(); p "${a[*]}"
set --; x=; a=(); p "${!a[@]}"
set --; x=; a=(); p "${@:1:0}"
set --; x=; a=(); p "${@#x}"
set --; x=; a=(); p "${x:-$@}"
set -- ""; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(""); p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- ""; IFS=:; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(""); IFS=:; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- ""; IFS=; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(""); IFS=; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- ""; unset IFS; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(""); unset IFS; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- ""; IFS=" :"; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(""); IFS=" :"; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- ""; IFS=": "; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(""); IFS=": "; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "" ""; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("" ""); p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "" ""; IFS=:; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("" ""); IFS=:; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "" ""; IFS=; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("" ""); IFS=; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "" ""; unset IFS; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("" ""); unset IFS; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "" ""; IFS=" :"; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("" ""); IFS=" :"; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "" ""; IFS=": "; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("" ""); IFS=": "; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- a "" b; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(a "" b); p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- a "" b; IFS=:; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(a "" b); IFS=:; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- a "" b; IFS=; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(a "" b); IFS=; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- a "" b; unset IFS; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(a "" b); unset IFS; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- a "" b; IFS=" :"; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(a "" b); IFS=" :"; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- a "" b; IFS=": "; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(a "" b); IFS=": "; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "a b" "c:d" ""; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("a b" "c:d" ""); p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "a b" "c:d" ""; IFS=:; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("a b" "c:d" ""); IFS=:; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "a b" "c:d" ""; IFS=; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("a b" "c:d" ""); IFS=; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "a b" "c:d" ""; unset IFS; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("a b" "c:d" ""); unset IFS; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "a b" "c:d" ""; IFS=" :"; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("a b" "c:d" ""); IFS=" :"; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set -- "a b" "c:d" ""; IFS=": "; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=("a b" "c:d" ""); IFS=": "; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set --; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(); p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set --; IFS=:; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(); IFS=:; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set --; IFS=; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(); IFS=; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set --; unset IFS; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(); unset IFS; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set --; IFS=" :"; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(); IFS=" :"; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
set --; IFS=": "; p "$@"; p $@; p a$@; p "a$@"; p $@""; p ""$@; p $@a; p "$@$x"; p $*; p "$*"; p x$@y; p x"$*"y; y=$*; z=$@; p "$y" "$z"; y="$*" z="$@"; p "$y" "$z"; y=x$*y z=x"$@"y; p "$y" "$z"; case $* in "a  b") p 1;; "a::b") p 2;; esac; cat <<<$*; cat <<<$@; cat <<<"$@"; [[ $* == a::b ]] && p Y; [[ $@ == "a  b" ]] && p Y2; for i in $*; do p "$i"; done; p ${i+$*} "${i+$*}" "${i+$@}" ${i+"$@"} ${i+"$*"}
a=(); IFS=": "; p ${a[@]}; p ${a[*]}; p x${a[@]}y; p "x${a[@]}y"; y=${a[*]} z=${a[@]}; p "$y" "$z"; y=x${a[*]}y z=x"${a[@]}"y; p "$y" "$z"; p "${a[*]}" "${#a[@]}" "${a[@]:1}"
IFS=' :'; x=' a : b::c : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x=' a : b::c : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x=' a : b::c : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x=' a : b::c : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x=' a : b::c : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x=' a : b::c : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x=':a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x=':a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x=':a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x=':a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x=':a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x=':a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x=' :a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x=' :a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x=' :a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x=' :a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x=' :a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x=' :a'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='a : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='a : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='a : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='a : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='a : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='a : '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='a: '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='a: '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='a: '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='a: '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='a: '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='a: '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='::'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='::'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='::'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='::'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='::'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='::'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x=': :'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x=': :'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x=': :'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x=': :'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x=': :'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x=': :'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x=''; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x=''; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x=''; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x=''; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x=''; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x=''; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x=' '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x=' '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x=' '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x=' '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x=' '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x=' '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='a b'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='a b'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='a b'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='a b'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='a b'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='a b'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='  a  '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='  a  '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='  a  '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='  a  '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='  a  '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='  a  '; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='\*'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='\*'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='\*'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='\*'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='\*'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='\*'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' :'; x='a:b c'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':'; x='a:b c'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=' '; x='a:b c'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=''; x='a:b c'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS='b'; x='a:b c'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=':b '; x='a:b c'; y=: z=' '; p $x; p -$x-; p $x''; p ''$x; p a$x; p $x$x; p $x$y$x; p a$z$y; p a$x${y}b$z; p "$x"$x; p ${u-$x} ${u-a:b c} "${u-a:b c}" ${u-"a:b" c} ${u-a\ b:c}
IFS=é; x=aébéc; p $x "$x"; set -- 1 2; p "$*"; y=$*; p "$y"
IFS=$'\xff'; x=$'a\xffb'; p $x
IFS=ab; x=cadbe; p $x; p xay; set -- 1 2 ; p $* "$*"
IFS=$'\n'; x=$'a\n\nb c\n'; p $x
IFS=$'\t:'; x=$'\ta\t\t:b'; p $x
IFS='\'; x='a\b'; p $x; p a\b
IFS='*'; x='a*b'; p $x; IFS=3; p $((10+3)) $((131))x
x="a b"; p $x$x "$x"$x "$x"" $x"
p a"b c"d'e f'g\ h $x"" ""$x
IFS=:; x=a:b; p $(echo a:b) "$(echo a:b)" $(echo :a::) `echo x:y`
p $(echo 'a  b') "$(echo 'a  b')" $(:) a$(:)b "$(:)"
x="*.c"; p $x "$x"; set -f; p $x *.c
