mkdir -p conf; echo '{"db":{"host":"localhost","port":5432,"pool":{"min":1}},"debug":true,"tags":["a"]}' > conf/base.json
echo '{"db":{"host":"db.prod","pool":{"max":20}},"debug":false,"tags":["b","c"]}' > conf/prod.json
jq -s '.[0] * .[1]' conf/base.json conf/prod.json | tee merged.json
jq -r 'paths(scalars) as $p | "\($p | map(tostring) | join("."))=\(getpath($p))"' merged.json | sort > merged.env
cat merged.env; echo
while IFS='=' read -r k v; do k=${k//./_}; printf 'export APP_%s=%q\n' "${k^^}" "$v"; done < merged.env > env.sh
cat env.sh; . ./env.sh; echo "host is $APP_DB_HOST, port $((APP_DB_PORT + 1))"
diff <(jq -S . conf/base.json) <(jq -S . merged.json); echo "diff says $?"
