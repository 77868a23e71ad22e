# fib(20) by recursive functions that return in a variable: 21,891 calls.
fib() {
  if [ $1 -lt 2 ]; then
    r=$1
  else
    local a
    fib $(($1-1))
    a=$r
    fib $(($1-2))
    r=$((a+r))
  fi
}
#-- measured
fib 20
echo $r
