# Built-in functions that take filters. They are expanded where they are called: none may call
# itself (inner definitions may), and a filter parameter should occur once.

def map(f): [.[] | f];
def map_values(f): .[] |= f;
def recurse(f): def r: ., (f | r); r;
def recurse(f; cond): def r: ., (f | select(cond) | r); r;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type | . == "array" or . == "object");
def scalars: select(type | . != "array" and . != "object");
def finites: select(isfinite);
def normals: select(isnormal);
def isfinite: type == "number" and (isinfinite | not);
def halt_error: halt_error(5);
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def add(f): reduce f as $x (null; . + $x);
def del(f): delpaths([path(f)]);
def with_entries(f): to_entries | map(f) | from_entries;
def paths: path(..) | select(length > 0);
def paths(f): . as $dot | paths | select(. as $p | $dot | getpath($p) | f);
def leaf_paths: paths(scalars);
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def range($n): range(0; $n);
def limit($n; f):
  if $n > 0 then label $out | foreach f as $x ($n; . - 1; $x, if . <= 0 then break $out else empty end)
  elif $n == 0 then empty
  else error("limit doesn't support negative count") end;
def skip($n; f):
  if $n < 0 then error("skip doesn't support negative count")
  else foreach f as $x ($n; . - 1; if . < 0 then $x else empty end) end;
def until(cond; f): def u: if cond then . else f | u end; u;
def while(cond; f): def w: if cond then ., (f | w) else empty end; w;
def repeat(f): def r: f, r; r;
def isempty(f): first((f | false), true);
def any(f; cond): isempty(first(f | cond or empty)) | not;
def all(f; cond): isempty(first(f | cond and empty));
def any(f): any(.[]; f);
def all(f): all(.[]; f);
def any: any(.[]; .);
def all: all(.[]; .);
def first: .[0];
def last: .[-1];
def last(f): reduce f as $x ([]; [$x]) | .[];
def nth($n): .[$n];
def nth($n; f):
  if $n < 0 then error("nth doesn't support negative indices")
  else first(skip($n; f)) end;
def in(f): . as $x | f | has($x);
def inside(f): . as $x | f | contains($x);
def combinations: def c: if length == 0 then [] else .[0][] as $x | (.[1:] | c) as $rest | [$x] + $rest end; c;
def combinations($n): . as $dot | [range($n) | $dot] | combinations;
def ascii: [.] | implode;
def sort_by(f): _sort_by(map([f]));
def group_by(f): _group_by(map([f]));
def unique_by(f): _unique_by(map([f]));
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def match($re; $flags): _match($re; $flags) | .[];
def match($re): _match($re) | .[];
def capture($re; $flags): _match($re; $flags) | .[] | _capture;
def capture($re): _match($re) | .[] | _capture;
def scan($re; $flags):
  _match($re; "g" + $flags) | .[]
  | if (.captures | length) > 0 then [.captures[].string] else .string end;
def scan($re): scan($re; null);
def splits($re; $flags): split($re; $flags) | .[];
def splits($re): splits($re; null);
def sub($re; f; $flags): . as $in | _edits($re; $flags) as $e
  | (reduce $e.edits[] as $edit ([];
        [$edit.captures | f] as $new
        | reduce range(0; $new | length) as $i (.; .[$i] += $edit.gap + $new[$i]))
     | .[] + $e.rest) // $in;
def sub($re; f): sub($re; f; "");
def gsub($re; f; $flags): sub($re; f; $flags + "g");
def gsub($re; f): sub($re; f; "g");
def debug(f): (f | debug | empty), .;
def inputs: def r: _input | if length == 0 then empty else .[0], r end; r;
def tostream:
  path(def r: (.[]? | r), .; r) as $p
  | getpath($p)
  | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): {x: null, e: false} as $init
  | foreach f as $i ($init;
      if .e then $init else . end
      | if $i | length == 2
        then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1])
        else setpath(["e"]; $i[0] | length == 1) end;
      if .e then .x else empty end);
def truncate_stream(f): . as $n | null | f | . as $event
  | if (.[0] | length) > $n then setpath([0]; $event[0][$n:]) else empty end;
def INDEX(f; key): reduce f as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def IN(f): . as $x | any(f == $x; .);
def IN(f; g): any(f == g; .);
def JOIN($idx; key): [.[] | [., $idx[key]]];
def JOIN($idx; f; key): f | [., $idx[key]];
def JOIN($idx; f; key; join): f | [., $idx[key]] | join;
def toarray: if type == "array" then . else [.] end;
def have_literal_numbers: true;
def have_decnum: true;
def trimstr($s): ltrimstr($s) | rtrimstr($s);
