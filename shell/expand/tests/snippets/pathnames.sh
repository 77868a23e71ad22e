p *
p *.c
p .*
p *.nope
p ?.c
p [ab].c
p [!a].c
p [^a].c
p [a-b].* [[:upper:]]* [[:digit:]] [é] ?
p d/* d/.* d/*/ */ */* */*/* ./* .//*.c d//*.c
p */*.c d/e/../*.c
p /et[c]/pass*d /e*/passwd
p */.
p link/* link/ link* dang* dang*/
p d/g.[c] d/[g].c d/nope* nope/*
p sp* "sp"* sp\ * 'sp ace'* s*p*
p x\[1\] x[1] x?1? "x[1]" x\[* st\*r st\** st* "st*"r 'st*r'*
x='*.c'; p $x "$x" ${x} "${x}"$x
x='\*'; p $x st$x; x='st\**'; p $x; x='st\*r'; p $x; x='x\[1]'; p $x; x='a\.c'; p $x; x='\a.c'; p $x; x='[a]\.c'; p $x; x='a\'; p $x*
p **  **/ **/*.c
shopt -s globstar; p **
shopt -s globstar; p **/
shopt -s globstar; p **/*.c
shopt -s globstar; p d/** d/**/ d/**/*.c
shopt -s globstar; p **/**/f.c
shopt -s globstar; p ./** **/l*/
shopt -s globstar; p **c **/e/*
shopt -s globstar dotglob; p ** 
shopt -s globstar; p link/** k/**/m.c **/m.c/
shopt -s dotglob; p * d/* .*
shopt -s nullglob; p *.nope x *.c nope/*; p "*.nope"; p nope; p $x*.nope
shopt -s failglob; p *.c; p *.nope; p no
shopt -s failglob; x='q*'; p a$x/b; p no
shopt -s nocaseglob; p A.C b* [A]* B.TXT *.TXT
shopt -s extglob; p @(a|b).c +([a-z]).c !(*.c) ?(a).c *(a|b).c !(a).c !(d|k|link)
shopt -s extglob; p .!(.|) @(.hid|a.c) .@(hid) ?(.)hid *(.)hid
shopt -s extglob dotglob; p !(*.c) @(.hid|a.c) ?(.)hid
shopt -u extglob; p a?c
GLOBIGNORE='*.c'; p * d/*.c; p *.c
GLOBIGNORE='a.c:b.*'; p *.c *
GLOBIGNORE='d/*.c'; p d/* *
GLOBIGNORE='*'; p *.c
GLOBIGNORE=x; p .*
shopt -u globskipdots; p .* d/.*; shopt -s dotglob; p * .*
set -f; p * *.c; set +f; p *.c
p a.c* "a".c* *"."c "*".c \*.c a"*"c
p {a,b}*.c {a,z}.? *{.c,.h}
for f in *.c; do p "$f"; done; for f in *.nope; do p "$f"; done
a=(*.c); p "${#a[@]}" "${a[@]}"; a=(*.c x[1] *.nope); p "${a[@]}"; v=*.c; p "$v" $v
case a.c in *.c) p y;; esac; [[ a.c == *.c ]] && p y; [[ .hid == * ]] && p dot
p d/e/f.? */e/f.c d/*/f.c d/[e]/f.c d*/e*/f*
p [ [[ [a [] []] [!] [^ a[ ]
p [[:alpha:]].c [[:alpha:].c [[.a.]].c [[=b=]].c [a-]*.c [!!]*.h
p a.c/ a.c/* d/e/ d/e d*/
p ? ?? ??? [0-9] *[0-9]* *1*
p é* [à-ê] ?
p $(echo '*.c') "$(echo '*.c')" `echo *.c`
IFS=.; x='*.c'; p $x; p *.c
p *'.c' *"$x".c *\.c a.[c] [a].c* 'a'*'c'
set -- *.c; p "$@" $@ "$*"
p /./etc/pass[w]d //etc/pass[w]d /etc/../etc/pass[w]d
