"""Prints what expressions over integers give in NumPy and pandas: their types, too.

integers.expected has what CPython 3.13 with NumPy 2.5.5 and pandas 3.1.1 of the package index prints on
x86-64 (Linux). There NumPy's default integer has 64 bits, and so have indices.
"""

import pickle
import warnings
from io import BytesIO, StringIO

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")

BIG = 3_000_000_000
a = np.array([3, 1, 2])
big = np.array([BIG, BIG, 1])
days = np.array([20_000, 20_001, 20_002], dtype="int32")
image = np.full((2000, 2000), 255, dtype=np.uint8)
flags = np.array([True, False, True])
words = np.array(["b", "abc", ""])
gen = lambda: np.random.default_rng(42)
old = lambda: np.random.RandomState(42)
frame = lambda: pd.DataFrame({"k": list("abab"), "v": [1, 2, 3, 4], "w": [BIG] * 4})


def raised(function):
    try:
        return function()
    except Exception as e:
        return type(e).__name__


EXPRESSIONS = """
np.arange(1, 100001).sum()
np.arange(10).dtype
np.array([1, 2]).dtype
np.array([1, 2, BIG]).dtype
np.array([2**63]).dtype
np.array([2**64]).dtype
np.array([[1], [2]]) * BIG
np.array(5).dtype
np.array([]).dtype
np.array([True, 2]).dtype
np.array([1, 2.0]).dtype
np.array(range(3)).dtype
np.asarray([1, 2], dtype=int) * BIG
np.dtype(int)
np.dtype("int")
np.dtype("uint")
np.dtype(np.int_)
np.dtype(np.uint)
repr(np.iinfo(int))
np.iinfo(np.int_).max
np.iinfo(np.uint).max
np.int_(BIG) * 3
np.int64(2**40) + 1
np.uint(2**40)
np.zeros(2, dtype=int) + BIG
np.ones(2, dtype=int).dtype
np.empty(0, dtype=int).dtype
np.full(2, 7)
np.full(2, BIG)
np.full((2, 2), 7, dtype=int) * BIG
np.full_like(a, BIG)
np.zeros_like(a).dtype
np.linspace(0, 4e9, 3, dtype=int)
np.arange(0, 10**10, 4 * 10**9)
np.arange(3.0, dtype=int).dtype
np.eye(2, dtype=int) * BIG
np.identity(2, dtype=int).dtype
np.tri(2, dtype=int).dtype
np.indices((2, 2)).dtype
np.indices((2, 2)) * BIG
np.mgrid[0:2, 0:2].dtype
np.ogrid[0:3][0].dtype
np.r_[1, 2].dtype
np.r_[1:3, BIG]
np.fromiter([1, BIG], dtype=int)
np.fromfunction(lambda i: i * BIG, (3,), dtype=int)
np.fromstring("1 3000000000", dtype=int, sep=" ")
np.loadtxt(StringIO("1 3000000000"), dtype=int)
np.genfromtxt(StringIO("1 3000000000"), dtype=None)
np.genfromtxt(StringIO("1 2"), dtype=int).dtype
np.array([3.5e9, -3.5e9]).astype(int)
np.array(["3000000000"]).astype(int)
np.float64(3e9).astype(int)
image.sum()
image.sum(axis=0).sum()
image.astype(int).sum()
image.mean()
image.cumsum()[-1]
image.astype("int16").sum()
image.astype("int32").sum() * 10
image.astype("uint32").sum()
flags.sum()
np.sum(flags) * BIG
np.sum([True, True]).dtype
np.sum(np.array([1, 2], dtype=np.uint8)).dtype
np.prod(np.array([1000] * 4, dtype=np.int16))
np.prod([100000, 100000])
np.prod(np.array([200] * 5, dtype=np.uint8))
np.prod(flags).dtype
np.cumprod([100000, 100000, 10])
np.cumprod(np.array([100] * 6, dtype=np.int8))
np.cumsum(days * 1)
np.cumsum(np.array([2**31 - 1, 1], dtype="int32"))
np.add.reduce(np.array([2**31 - 1, 1], dtype="int32"))
np.add.accumulate(np.array([2**31 - 1, 1], dtype="int32"))
np.multiply.reduce(np.array([65536, 65536], dtype="int32"))
np.add.reduceat(np.arange(8), [0, 4, 1, 5])
np.add.reduceat(np.full(4, BIG), np.array([0, 2]))
np.add.at(z := np.zeros(3, dtype=int), np.array([0, 0, 2]), BIG) or z
np.nansum(np.array([2**31 - 1, 1], dtype="int32"))
np.trace(np.full((2, 2), 2**31 - 1, dtype="int32"))
np.dot(np.array([100000]), np.array([100000]))
np.array([[100000]]) @ np.array([[100000]])
np.vdot([100000], [100000])
np.inner([100000, 1], [100000, 1])
np.outer([100000], [100000])
np.cross([100000, 0, 0], [0, 100000, 0])
np.einsum("i,i", np.array([100000]), np.array([100000]))
np.kron([100000], [100000])
np.convolve([100000, 1], [100000, 1])
np.correlate([100000, 1], [100000, 1])
np.diff([0, BIG])
np.ediff1d([0, BIG])
np.power(10, np.arange(0, 12, 4))
np.array([10]) ** 10
2 ** np.arange(30, 36)
1 << np.arange(30, 36)
np.left_shift(1, np.array([33]))
np.square([100000])
np.abs([-BIG])
np.gcd(BIG, [6])
np.lcm([100000, 99999], 99991)
np.floor_divide([BIG * 7], 7)
np.mod([BIG * 7 + 3], 7)
np.clip([1, BIG], 0, 2 * BIG)
np.maximum(1, [BIG])
np.bitwise_count(np.array([2**40 - 1]))
np.invert([1]).dtype
np.polyval([100000, 1], [100000])
np.vander([2000, 3000], 4)
np.median(np.array([BIG, BIG + 2]))
np.average([BIG, BIG])
np.var(np.array([BIG, BIG]))
np.ptp([0, BIG])
np.round([BIG]).dtype
np.true_divide(BIG, [2])
np.divmod([BIG], 7)
np.bincount([0, 1, 1]).dtype
np.bincount([0, 1, 1]) * BIG
np.bincount([], minlength=2).dtype
np.bincount(np.array([1, 1], dtype=np.uint8)) * BIG
np.count_nonzero(flags) * BIG
np.count_nonzero([[1, 0], [1, 1]], axis=0) * BIG
type(np.count_nonzero([1, 2])).__name__
np.histogram([1, 2, 2], bins=2)[0] * BIG
np.histogram2d([1, 2], [1, 2], bins=1)[0]
np.digitize([1, 5], [0, 3]) * BIG
np.unique([3, 1, 3], return_index=True, return_inverse=True, return_counts=True)
[x.dtype for x in np.unique([3, 1, 3], return_index=True, return_inverse=True, return_counts=True)]
np.unique([3, 1, 3], return_counts=True)[1] * BIG
np.unique_all(np.array([3, 1, 3])).inverse_indices.dtype
np.argsort(a) * BIG
a.argsort().dtype
np.argsort(words).dtype
np.lexsort((a, a)) * BIG
np.argmax(a) * BIG
a.argmin().dtype
np.array([[1, 2], [4, 3]]).argmax(axis=1) * BIG
np.argmax([[1, 2]], keepdims=True).dtype
np.argmax(a, out=np.empty((), dtype=int)) * BIG
np.nanargmax([1.0, 2.0]) * BIG
np.argpartition(a, 1).dtype
np.nonzero(flags)[0] * BIG
flags.nonzero()[0].dtype
np.where(flags)[0] * BIG
np.where(flags, 1, 2).dtype
np.where(flags, BIG, 2)
np.flatnonzero(flags) * BIG
np.argwhere(flags) * BIG
np.searchsorted([1, 2, 3], 2) * BIG
np.searchsorted([1, 2, 3], [2, 3], sorter=np.array([0, 1, 2])).dtype
a.searchsorted([2]).dtype
np.ravel_multi_index(([0, 1], [1, 1]), (2, 2)) * BIG
np.ravel_multi_index((1, 1), (2, 2)) * BIG
np.unravel_index([3, 1], (2, 2))[0] * BIG
np.unravel_index(3, (2, 2))[0] * BIG
np.triu_indices(2)[0].dtype
np.tril_indices(3)[1] * BIG
np.diag_indices(2)[0].dtype
np.ix_([0, 1], [1])[0].dtype
np.meshgrid([1, 2], [3])[0].dtype
np.repeat([1, 2], [1, 2])
np.repeat(a, np.array([1, 0, 2]))
np.take(a, np.array([0, 2]))
np.put(y := np.arange(3), np.array([1]), BIG) or y
np.choose(np.array([0, 1]), [[1, 2], [3, BIG]])
np.take_along_axis(a, np.argsort(a), axis=0)
np.insert(a, 1, BIG)
np.delete(a, np.array([1]))
np.split(np.arange(4), np.array([1, 3]))[1]
np.roll(a, np.array(1))
np.tile([BIG], 2)
np.pad([1], (1, 1), constant_values=BIG)
a[np.array([2, 0])]
a[np.array([2, 0], dtype=np.uint64)]
raised(lambda: a[np.array([2**32])])
raised(lambda: a[np.array([-2**32])])
raised(lambda: np.take(a, [2**32]))
raised(lambda: np.repeat(a, [1, 2]))
raised(lambda: np.array([1], dtype="int32") + BIG)
raised(lambda: np.array([1]) + 2**63)
raised(lambda: np.zeros(1, dtype=int).fill(2**63))
np.array([1], dtype="int8") + 1
np.array([1], dtype="uint8") + np.array([1])
np.result_type(int, np.int8)
np.result_type(int, np.int32)
np.result_type(np.int8, 3)
np.result_type(int, float)
np.result_type(bool, int)
np.promote_types(int, "uint32")
np.can_cast(int, np.int32)
np.can_cast(np.int64, int)
np.min_scalar_type(BIG)
flags + 1
flags * BIG
True + np.array([BIG])
np.add(True, 1).dtype
np.add(1, 2).dtype
np.negative(1).dtype
np.sign(-BIG)
np.sqrt(BIG)
np.int32(2) * np.int64(BIG)
np.isin([BIG, 1], [BIG])
np.intersect1d([BIG, 1], [BIG], return_indices=True)[1].dtype
np.ma.array([BIG, 1], mask=[0, 1]).sum()
np.ma.array([1, 2], mask=[0, 1]).count() * BIG
np.ma.array([[1, 2]], mask=[[0, 1]]).count(axis=0) * BIG
np.ma.argsort(np.ma.array([2, 1])).dtype
np.char.str_len(words) * BIG
np.char.find(words, "c") * BIG
np.char.count(words, "b").dtype
np.strings.str_len(np.array(["ab"], dtype=np.dtypes.StringDType())).dtype
np.strings.find(np.array(["ab"], dtype=np.dtypes.StringDType()), "b") * BIG
np.char.multiply(words, 2)
np.char.expandtabs(np.array(["a\\tb"]))
np.busday_count("2000-01-01", "2024-01-01") * BIG
np.datetime64("2024-01-01", "s").astype(int)
np.timedelta64(90, "D").astype("timedelta64[us]").astype(int)
np.array(["2024-01-01"], dtype="M8[ns]").astype(int)
np.packbits(flags)
np.frombuffer(b"\\1\\0\\0\\0\\0\\0\\0\\0", dtype=int)
np.load(BytesIO((np.save(f := BytesIO(), a), f.getvalue())[1])).dtype
pickle.loads(pickle.dumps(np.arange(2))).dtype
np.arange(2).tobytes()
np.arange(2).nbytes
np.arange(3).strides
repr(np.arange(3))
repr(np.int64(3))
repr(np.array([1], dtype="int32"))
repr(np.argsort(a))
gen().integers(10, size=5)
gen().integers(10).dtype
gen().integers(BIG * 4, size=2)
gen().choice(5, 3, replace=False)
gen().choice(5, 2, p=[0.1, 0.2, 0.3, 0.2, 0.2]) * BIG
gen().permutation(4) * BIG
gen().binomial(10, 0.5, size=3).dtype
gen().binomial(np.array([BIG]), 0.5)
gen().poisson(5e9, 2)
gen().multinomial(10, [0.5, 0.5]).dtype
gen().hypergeometric(BIG // 4, BIG // 4, 10, size=2)
gen().geometric(1e-10, 2)
gen().zipf(1.2, 3)
old().randint(10, size=5)
old().randint(0, 100, 3).dtype
old().randint(0, BIG * 4, 2)
old().randint(5)
old().randint(0, 10, size=3, dtype="int32")
old().random_integers(1, 6, 3)
old().choice(5, 3)
old().choice(5, 3, replace=False)
old().choice(5, 3, p=[0.1, 0.2, 0.3, 0.2, 0.2])
old().permutation(5) * BIG
old().binomial(10, 0.5, 3)
old().binomial([10, 20], 0.5)
old().binomial(BIG, 0.5)
old().poisson(3, 3)
old().poisson(5e9, 2)
old().multinomial(10, [0.5, 0.5])
old().negative_binomial(5, 0.5, 2).dtype
old().hypergeometric(5, 5, 3, 2)
old().zipf(2.0, 3)
old().geometric(0.1, 3)
old().logseries(0.5, 2)
old().tomaxint(2)
pd.Series([3.5e9]).astype(int)[0]
pd.Series([1, 2]).dtype
pd.Series([1, BIG]).sum()
pd.Series([100000, 100000]).prod()
pd.Series([1, 2], dtype=int) * BIG
pd.Series([2**31 - 1, 1], dtype="int32").sum()
pd.Series([True, True]).sum() * BIG
pd.Series(["5", "3000000000"]).astype(int).tolist()
pd.Series([1, 2, 2]).value_counts().iloc[0] * BIG
pd.Series([1, 2, 2]).value_counts().dtype
pd.Series([3, 1, 2]).argsort() * BIG
pd.Series([3, 1, 2]).argmax() * BIG
pd.Series([3, 1, 2]).rank().tolist()
pd.Series([1, 2, 3]).searchsorted(2) * BIG
pd.Series([1, 2, 3]).cumsum() * BIG
pd.Series(["ab", "c"]).str.len() * BIG
pd.Series(["ab", "c"]).str.find("c") * BIG
pd.Series(["ab", "c"]).str.count("b").dtype
pd.Series([1, 1, 2]).nunique() * BIG
pd.Series([1, None]).count() * BIG
pd.Series([1, 2]).map({1: BIG, 2: 2}).tolist()
pd.Series([2, 1]).sort_values().index.dtype
pd.Index([1, 2]).dtype
pd.Index([3, 1]).argsort() * BIG
pd.Index([1, 2, 3]).get_indexer([3, 1]).tolist()
pd.RangeIndex(3).values.dtype
pd.RangeIndex(0, 4 * BIG, BIG).to_series().sum()
pd.factorize(np.array(["a", "b", "a"]))[0] * BIG
pd.Categorical(["a", "b"]).codes.dtype
pd.cut([1, 2, 3], 3, labels=False).dtype
pd.qcut([1, 2, 3, 4], 2, labels=False) * BIG
pd.to_numeric(["1", "3000000000"]).dtype
pd.to_datetime(["2024-01-01"]).astype("int64").tolist()
pd.to_datetime(["2024-01-01"]).year.dtype
pd.date_range("2024", periods=2).dayofyear * 1
pd.Timedelta("100D").value
pd.read_csv(StringIO("a,b\\n1,3000000000\\n2,4")).dtypes.tolist()
pd.read_csv(StringIO("a\\n1\\n2")).a.sum() * BIG
pd.read_csv(StringIO("a\\n1\\n2"), dtype=int).a * BIG
pd.read_json(StringIO('[{"a": 3000000000}]')).a.tolist()
frame().groupby("k").w.sum().tolist()
frame().groupby("k").v.sum() * BIG
frame().groupby("k").size() * BIG
frame().groupby("k").v.count() * BIG
frame().groupby("k").cumcount() * BIG
frame().groupby("k").ngroup() * BIG
frame().groupby("k").v.nunique() * BIG
frame().groupby("k").v.cumsum() * BIG
frame().groupby("k").indices["a"] * BIG
frame().pivot_table(index="k", values="w", aggfunc="sum").w.tolist()
pd.crosstab(frame().k, frame().v).sum().sum() * BIG
frame().merge(frame(), on="k").w_x.sum()
frame().v.rolling(2).sum().tolist()
frame().describe().w.tolist()
frame().sum(numeric_only=True).tolist()
frame().sort_values("v", ascending=False).index.tolist()
frame().duplicated("k").sum() * BIG
frame().isna().sum().dtype
frame().shape[0] * BIG
frame().nlargest(1, "w").w.tolist()
frame().reset_index()["index"].dtype
frame().stack().size
pd.concat([frame(), frame()]).w.sum()
pd.get_dummies(frame().k).sum().dtype
pd.DataFrame({"a": [1]}).astype({"a": int}).dtypes.tolist()
pd.DataFrame(np.arange(4).reshape(2, 2)).sum().dtype
pd.DataFrame([[1, 2], [3, BIG]]).dtypes.tolist()
pd.array([1, BIG, None]).sum()
pd.Series([1, BIG], dtype="Int64").sum()
pd.Series(np.arange(3)).to_numpy().dtype
pd.MultiIndex.from_product([[1, 2], [3]]).get_level_values(0).dtype
""".strip().splitlines()


def text(value):
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__} [{', '.join(map(text, value))}]"
    if isinstance(value, (pd.Series, pd.Index)):
        return f"{type(value).__name__} {value.dtype} {value.tolist()}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.tolist()}"
    if isinstance(value, np.generic):
        return f"{value.dtype} {value.item()}"
    if isinstance(value, np.dtype):
        return value.str
    return f"{type(value).__name__} {value}"


for expression in EXPRESSIONS:
    try:
        shown = text(eval(expression))
    except Exception as e:
        shown = f"{type(e).__name__}: {e}"
    print(f"{expression} -> {shown}")
