#: attacks = paths of thousands of components
#: mount = work:/w:rw
#: before = mkdir -p work/d
#: timeout = 8
#: status = 0
#: says = contained
for part in ./ ../ // d/../ ./../w/ /; do
  p=$(printf "%1300s" | sed "s# #$part#g")
  for at in /w/ /tmp/ /; do
    stat "$at$p" > /dev/null; cat "$at$p/secret"; ls "$at$p/outside" | grep secret; cd "$at$p"
  done
done 2> /dev/null
echo contained
