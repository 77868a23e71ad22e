#: attacks = output without end
#: output = 1M
#: timeout = 5
#: status = 137
#: limit = output
yes
