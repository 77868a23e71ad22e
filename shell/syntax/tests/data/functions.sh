f1() { echo a; echo b & echo c && echo d || echo e; }
f2() { if a; then b; elif c; then d; else e; fi; }
f3() { while a; b; do c; d; done; until x; do y; done; }
f4() { for i in 1 2 "$@"; do echo $i; done; for i; do :; done; for ((i=0; i<3; i++)); do :; done; for ((;;)); do break; done; }
f5() { case $x in a|b) echo 1;; (c) echo 2; echo 3;& d) ;;& *) esac; }
f6() { ( a; b ) ; { c; d; } ; ((x+1)) ; [[ a == b && ( -f x || ! -z $y ) ]]; }
f7() { cat <<EOF
hi $x
EOF
echo after; }
f8() { cat <<EOF | grep x && echo y
hi $x
EOF
echo after; cat <<-'A' <<B >out
	a
	A
b
B
}
f9() { a | b |& c; ! a | b; time a; time -p b; a 2>&1 >x 3<&- {fd}>y &>z &>>w <>v >|u <<<"here $x" 4>&5- ; }
f10() (sub; shell)
f11() { echo x; } >out 2>&1
function f12 { x=1 y=(1 2   3) z+=4 cmd "a  b" 'c' $(echo a; echo b) `x  y` $((1 +  2)); }
f14() { a &
b; }
f15() { if a; then b & fi; ( a & ); { a & }; while a & do b & done; }
f16() { echo $'a\tb' $"loc" \
 cont; x=$(foo); }
f17() { time; ! ; true; }
f18() { if (a) then (b) fi; }
f19() { a && { b; c; } || ( d ); }
f20() { echo $(cat <<EOF
x
EOF
) done; }
f21() { for i in; do :; done; case a in esac; }
f22() ((1+2))
f23() [[ a ]]
f24() if a; then b; fi
f25() { a=(
1
[2]=3 # c
"x y"
); }
f26() { echo <(a; b) >(c); [[ $x =~ ^(a|b)\ c$ ]]; [[ a < b ]]; [[ ! a ]]; [[ a -nt b || c && d ]]; }
f27() { while :; do cat <<E
x
E
done <<F
y
F
}
f28() { cat <<E && cat <<F
1
E
2
F
}
f29() { a || b && c & d; }
f30() { f() { a; } >x; (a) >y; { b; } 2>z | c; if a; then b; fi >x & }
f31() { declare -a x=(1 2) y=3; local z; let "a=1" b=2; eval a=(1 2); }
f32() { case x in a) cat <<E
1
E
;; b) x & ;; esac; }
f33() { { a & } ; }
f34() { coproc { a; }; coproc (b); coproc while a; do b; done; }
f35() { a; 

b; }
g3() { x=$(a & b; c &); y=$(a; b
c
d & e); z=$( ( a )); w=$({ a; b; }); }
g6() { for (( i = 0 ; i < 3 ; i++ )); do :; done; (( x + 1 )); (( x[1]=2 )); for ((i=0;;)) { a; } ; }
g8() { a >x b c; >y d; >z; x=1 >z; }
g9() { f() (a; b); f() if a; then b; fi; f() ((1)); f() [[ a ]]; f() { a; } 2>x; f() for i in 1; do a; done; }
g10() { a <<E b | c <<F; d
1
E
2
F
}
g11() { { cat <<E; }
x
E
{ cat <<E
x
E
}; case a in a) { cat <<E
x
E
} ;; esac; }
g12() { if a; then cat <<E
x
E
else cat <<E
y
E
fi; for i in 1; do cat <<E; done
z
E
}
g13() { time ! a; ! time a; time -p; time { a; }; ! { b; } ; }
g15() { a() { b; }; c & d() { e; } & }
g16() { "$x"; a\
b; echo "x\
y"; echo '
'; }
g17() { cat <<\E; cat <<"F $x"; cat <<'G'; cat <<-H
1
E
2
F $x
3
G
	t
	H
}
g18() { a | 
b && 
c ||
d; }
g19() { if a; b; then c; fi; if a & then b; fi; }
g21() { a=1; a=1 b=2; a[1]=2; a+=(3); a=(); a[x y]=1; }
g22() { y=`a # c`; z=$(< file); }
g23() { $(a) | b >$(c); <(a) b; }
g24() { ((a)) && ((b)) || ( c ) && { d; }; }
g25() { (a) & (b); { a; } & { b; }; if a; then b; fi & c; }
g26() { a <<E
$(cat <<F
x
F
)
E
}
g28() while a; do b; done >x
g29() (a) 2>y
g30() { a; } <<E
x
E
g32() { cat <<E |
1
E
b <<F | c; d
2
F
}
g33() { for i in 1; do a; done <<E | b
x
E
c; }
g34() { while read; do a; done < <(b; c); }
g35() { (cat <<E; b) ; c
x
E
}
g36() { a && cat <<E; b
x
E
}
h1() { cat <<F; b; c
x
F
}
h2() { cat <<E & cat <<F; b; c
x
E
y
F
}
h3() { cat <<E & b; c
x
E
}
h4() { a & cat <<E; b; c
x
E
}
h5() { cat <<E && b; c; d
x
E
}
h6() { cat <<E; cat <<F; b; c
x
E
x
F
}
h7() { cat <<E; a && cat <<F; b; c
x
E
x
F
}
