cat > app.py <<'PY'
import os
from utils import getUserName, getUserId

def main():
    name = getUserName(os.environ["USER_ID"])
    print("Hello %s" % name)
    # TODO: getUserId is slow
    return getUserId(name)
PY
sed -i.bak -E 's/\bgetUser([A-Z][a-z]*)\b/get_user_\L\1/g' app.py; diff app.py.bak app.py
sed -i '/^import os$/a import sys' app.py; sed -i 's/"Hello %s" % name/f"Hello {name}"/' app.py; sed -n '/def main/,/return/p' app.py
sed -E '/^ *#/d; s/^( {4})+/&\t/' app.py | cat -A | head -5; grep -n 'get_user' app.py | cut -d: -f1 | paste -sd' '
sed '1!G;h;$!d' app.py | head -2; sed -n '$=' app.py; sed '2,4{s/^/> /;4q}' app.py; sed 's/[aeiou]/\U&/2' <<< "refactoring"; sed -z 's/\n/;/g' app.py | cut -c1-40; echo; ls app.py*
