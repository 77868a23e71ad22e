# Pattern replacement in one long value.
text=$(seq $N)
x=${text//1/one}
x=${x//[[:digit:]]/}
