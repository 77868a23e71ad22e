# Definitions of the jq 1.8 manual that the jaq crates lack or define otherwise.
# Loaded after theirs, so that these win.
def env: $ENV;
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def leaf_paths: paths(scalars);
def ascii: [.] | implode;
def add(f): reduce f as $x (null; . + $x);
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def debug(f): (f | debug | empty), .;
def toarray: if type == "array" then . else [.] end;
def have_literal_numbers: true;
def have_decnum: false;
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;
def combinations(n): . as $dot | [range(n)] | map($dot) | combinations;
def from_entries:
  def name: if type == "object" then
      (if .key != null then .key elif .k != null then .k elif .name != null then .name elif .Name != null then .Name elif .Key != null then .Key elif .K != null then .K else .key end)
    else . end;
  def text: if type == "string" then . else tojson end;
  reduce .[] as $x ({}; .[$x | name | text] =
    ($x | if type == "object" then
        (if has("value") then .value elif has("v") then .v elif has("Value") then .Value elif has("V") then .V else null end)
      else null end));
def with_entries(f): to_entries | map(f) | from_entries;
def ltrimstr($x): if type == "string" and ($x | type) == "string" and startswith($x) then .[($x | length):] else . end;
def rtrimstr($x): if type == "string" and ($x | type) == "string" and $x != "" and endswith($x) then .[:length - ($x | length)] else . end;
def trimstr($x): ltrimstr($x) | rtrimstr($x);
def limit($n; f): if $n > 0 then label $out | foreach f as $x (0; . + 1; $x, if . >= $n then break $out else empty end) elif $n == 0 then empty else error("Invalid arguments to limit: negative count") end;
def tostream: path(def r: (.[]? | r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);
def fromstream(f): {x: null, e: false} as $init
  | foreach f as $i ($init;
      if .e then $init end
      | if $i | length == 2 then .e = ($i[0] | length == 0) | .x = (.x | setpath($i[0]; $i[1]))
        else .e = ($i[0] | length == 1) end;
      if .e then .x else empty end);
def truncate_stream(f): . as $n | null | f | . as $event | if ($event[0] | length) > $n then $event | .[0] |= .[$n:] else empty end;
def scan($re; $flags): match($re; "g" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;
def scan($re): scan($re; "");
def INDEX(f; key): reduce f as $row ({}; .[$row | key | tostring] = $row);
def INDEX(key): INDEX(.[]; key);
def IN(s): any(s == .; .);
def IN(f; s): any(f == s; .);
