cat > app.ini <<'I'
; comment
[server]
host = example.org
port=8080   
[paths]
root = "/srv/my app"
log-dir = /var/log
I
declare -A ini; section=; while IFS= read -r line || [[ $line ]]; do line=${line%%;*}; line=${line#"${line%%[![:space:]]*}"}; line=${line%"${line##*[![:space:]]}"}
  [[ -z $line ]] && continue; if [[ $line =~ ^\[([^]]+)\]$ ]]; then section=${BASH_REMATCH[1]}; elif [[ $line =~ ^([^=[:space:]]+)[[:space:]]*=[[:space:]]*(.*)$ ]]; then v=${BASH_REMATCH[2]}; [[ $v == \"*\" ]] && v=${v:1:-1}; ini[$section.${BASH_REMATCH[1]}]=$v; fi; done < app.ini
for k in $(printf '%s\n' "${!ini[@]}" | sort); do echo "$k => '${ini[$k]}'"; done; echo "${ini[server.port]/80/90} ${ini[paths.root]##*/} ${ini[nope]-unset} ${#ini[@]}"; awk -F' *= *' '/^\[/ { s = $0; next } NF == 2 { print s $1 }' app.ini; declare -p section
