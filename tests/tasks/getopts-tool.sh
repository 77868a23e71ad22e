cat > tool.sh <<'T'
#!/usr/bin/env bash
usage() { echo "usage: ${0##*/} [-v] [-n NUM] [-o FILE] [--] ARGS" >&2; exit 2; }
verbose=0 num=1 out=/dev/stdout
while getopts ':vn:o:h' opt; do case $opt in
  v) verbose=$((verbose + 1)) ;; n) num=$OPTARG; [[ $num =~ ^[0-9]+$ ]] || { echo "not a number: $num" >&2; exit 65; } ;;
  o) out=$OPTARG ;; h) usage ;; :) echo "-$OPTARG needs a value" >&2; exit 64 ;; \?) echo "bad -$OPTARG" >&2; usage ;;
esac; done; shift $((OPTIND - 1))
for ((i = 0; i < num; i++)); do printf '%s ' "$@"; echo; done > "$out"; ((verbose)) && echo "verbose $verbose, $# args" >&2; exit 0
T
chmod +x tool.sh; t() { ./tool.sh "$@" 2>&1; echo "[$?]"; }; t a b; t -vv -n2 x; t -n; t -n z; t -q; t -o f -- -n; cat f; t -h; PATH=$PWD:$PATH; tool.sh hi; bash -n tool.sh && echo syntax ok
