# Operators on one long value.
text=$(seq $N)
x=${text^^}; x=${text#*5}; x=${text%5*}; x=${#text}
