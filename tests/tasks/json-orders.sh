cat > orders.json <<'JSON'
{"orders":[{"id":1,"customer":{"name":"Ana","vip":true},"items":[{"sku":"A1","qty":2,"price":9.5},{"sku":"B2","qty":1,"price":20}],"note":null},
{"id":2,"customer":{"name":"Bo","vip":false},"items":[],"note":"gift"},
{"id":3,"customer":{"name":"Ana","vip":true},"items":[{"sku":"A1","qty":5,"price":9.25}]}]}
JSON
jq -r '.orders[] | [.id, .customer.name, (.items | map(.qty * .price) | add // 0)] | @tsv' orders.json
jq -c '.orders | group_by(.customer.name) | map({name: .[0].customer.name, orders: length, skus: ([.[].items[].sku] | unique)})' orders.json
jq '[.orders[].items[]] | reduce .[] as $i ({}; .[$i.sku] += $i.qty)' orders.json
jq -r --arg who Ana '.orders[] | select(.customer.name == $who) | "order \(.id): \(.items | length) items, note \(.note // "none")"' orders.json
jq -e '.orders | any(.note == "gift")' orders.json; jq -e '.orders[1].items[0]' orders.json; echo "status $?"
jq '.orders |= map(select(.items | length > 0) | del(.note)) | .orders[0].customer' orders.json > new.json && jq -S . new.json
jq -r '.orders | to_entries[] | "\(.key)\t\(.value.customer | keys | join(","))"' orders.json
