mkdir -p calc tests; cat > calc/__init__.py <<'P'
def add(a, b): return a + b
def div(a, b): return a / b
P
touch tests/__init__.py; cat > tests/test_calc.py <<'P'
import unittest
from calc import add, div
class T(unittest.TestCase):
    def setUp(self): self.n = 1
    def test_add(self): self.assertEqual(add(self.n, 2), 3)
    def test_div(self):
        for d in (1, 2, 0):
            with self.subTest(d=d): self.assertGreater(div(1, d), 0)
    def test_raises(self):
        with self.assertRaises(ZeroDivisionError): div(1, 0)
    @unittest.skip("later")
    def test_skip(self): pass
    @unittest.expectedFailure
    def test_known(self): self.assertEqual(add("a", "b"), "ba")
P
python3 -m unittest -v 2>&1 | sed -E 's/in [0-9.]+s/in Ns/; s/File ".*\/(calc|tests)/File "\1/; /^ *[~^]+$/d'; echo "status ${PIPESTATUS[0]}"; sed -i 's/(1, 2, 0)/(1, 2)/' tests/test_calc.py; python3 -m unittest -q 2>&1 | tail -2; python3 -m doctest /dev/stdin <<'P' | grep -A3 Expected
"""
>>> 1 + 1
3
"""
P
python3 -c 'assert 1 == 2, "no"' 2>&1 | tail -1
