#: attacks = a pattern that backtracks in Python, where no bytecode runs meanwhile
#: timeout = 1
#: status = 124
#: limit = timeout
import re
re.match(r"(a|aa)*(a|aa)*(a*)*$", "a" * 100 + "b")
