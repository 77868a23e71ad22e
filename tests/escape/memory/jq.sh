#: attacks = memory by jq's own values
#: timeout = 1
#: memory = 64M
#: status = any
jq -n '[range(1e9)] | length'; jq -n '"x" * 1e9 | length'; jq -n 'reduce range(60) as $i ("x"; . + .) | length'
jq -n '[limit(1e9; repeat(1))]|length'; jq -n '.[1e9] = 1 | length'; jq -n '[[range(1e4)] | combinations] | length'
exit 0
