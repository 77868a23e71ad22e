cat > .env <<'E'
# settings
DB_URL=postgres://u:p@h/db?x=1
NAME="A B"
EMPTY=
export QUOTED='it is $HOME'
E
set -a; . ./.env; set +a; env | grep -E '^(DB_URL|NAME|EMPTY|QUOTED)=' | sort; grep -v '^#' .env | sed 's/^export //' | cut -d= -f1 | paste -sd' '; env -i A=1 bash -c 'echo "${NAME-none} $A ${PATH:+path}"'; env -u NAME bash -c 'echo ${NAME-gone}'; X=5 bash -c 'echo $X'; echo "${X-unset}"; (export Y=1; bash -c 'echo $Y'); readonly R=1; (R=2) 2>/dev/null; echo "readonly $?"; declare -ix n=3+4; bash -c 'echo $n'; printenv DB_URL NOPE; echo $?; python3 -c 'import os; print(os.environ["NAME"], os.environ.get("NOPE"), os.path.expandvars("$NAME/x"))'; unset NAME; echo "${NAME:=default} $NAME"; test -v NAME && echo set; hash -r; type -t cd ls nope; command -v test; alias ll='ls -l'; alias ll
