"""Random model files of every shape, written from docs/file-format.md, and rows that probe their edges."""

import functools
import struct
from collections import Counter
from dataclasses import dataclass

import binfm
import numpy as np

SPECIAL = np.array(
    [
        *(0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF),  # NaN of both signs
        *(0x7F800000, 0xFF800000, 0x7F7FFFFF, 0xFF7FFFFF),  # ±inf, ±largest
        *(0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF, 0x00800000, 0x80800000),  # near 0
        *(0x3F800000, 0xBF800000, 0x3F000000, 0x4B800000, 0x4B800001, 0xCB800000),  # ±1, 0.5, ±2^24
        *(0x4F000000, 0xCF000000, 0x5E800000, 0x5F000000, 0xDF000000, 0x5EFFFFFF, 0xDEFFFFFF),  # 2^31, 2^62, 2^63
    ],
    np.uint32,
).view(np.float32)

UNUSED, NUMERIC, WHOLE, TEXT = range(4)
UNSIGNED, SIGNED, LOGARITHMIC = range(3)
COPIES, MISSING, OWN_PARAMETER, OWN_COUNT = 4, 8, 0x40, 0x80
LOWEST, ZERO, HIGHEST = 0x7FFFFF, 0x80000000, 0xFF800000
"""Keys of -inf, zero and inf."""


@dataclass(frozen=True)
class Feature:
    """One feature. `numbers` are edges as keys, levels of `width` bytes, or texts."""

    kind: int
    numbers: tuple = ()
    copies: bool = False
    missing: bool = False
    width: int = 0

    def record(self, usual, parameters):
        """Return the record, after records with a usual number of edges and the last parameter of each form."""
        bits = COPIES * self.copies | MISSING * self.missing
        if self.kind == NUMERIC:
            return edges_record(self.numbers, bits, usual, parameters)
        head = bytes([self.kind | bits | self.width << 4]) + count(len(self.numbers))
        if self.kind == TEXT:
            return head + b"".join(text(t) for t in self.numbers)
        levels = self.numbers if self.width else ()
        return head + b"".join(int(n).to_bytes(self.width, "little", signed=True) for n in levels)

    def rows(self, tilings):
        if self.kind == UNUSED:
            return 0
        cells = len(self.numbers) + (self.kind == NUMERIC)
        return (cells - 1) * (tilings if self.copies else 1) + tilings * (2 if self.missing else 1)


@dataclass(frozen=True)
class File:
    """The fields of a file; `blob` writes them."""

    features: tuple
    m: int = 3
    functions: int = 1
    tilings: int = 1
    loss: int = 0
    shifts: tuple = (0, 0, 0)
    exponent: int = 0
    scales: tuple = ((0, 1, 1),)
    sparse: bool = False
    labels: bytes = b""
    names: bytes | None = None
    """Texts, one for each feature."""
    usual: int | None = None
    """The usual number of edges, if it is not to be the right one."""

    def blob(self, rng=None):
        used = [feature.kind != UNUSED for feature in self.features]
        flags = self.sparse | 2 * bool(self.labels) | 4 * (not all(used)) | 8 * (self.names is not None)
        head = struct.pack("<4sBB", b"\xb1FM\n", 1, flags)
        usual = usual_edges(self.features) if self.usual is None else self.usual
        body = struct.pack("<IHHBB", len(self.features), self.m, self.functions, self.tilings, self.loss)
        body += bytes(self.shifts) + struct.pack("<hH", self.exponent, usual)
        body += b"".join(packed_scales(self.functions, *scales) for scales in self.scales)
        if not all(used):
            body += np.packbits(used, bitorder="little").tobytes()
        parameters = {}
        body += b"".join(f.record(usual, parameters) for f in self.features if f.kind != UNUSED)
        body += self.random_bits(rng or np.random.default_rng(0)) + self.labels + (self.names or b"")
        return signed(head + struct.pack("<I", len(body) + 14) + body)

    def random_bits(self, rng):
        size = sum(f.rows(self.tilings) for f in self.features) * self.functions * (self.m + 1)
        bits = bytearray(rng.bytes((size + 7) // 8))
        if size % 8:
            bits[-1] &= 2 ** (size % 8) - 1
        return bytes(bits)


def usual_edges(features):
    """Return the number of edges that most numeric features have, of equals the smallest."""
    frequency = Counter(len(feature.numbers) for feature in features if feature.kind == NUMERIC)
    usual = min(frequency, key=lambda n: (-frequency[n], n), default=0)
    return usual if usual < 2**16 else 0


# Edges


@functools.cache
def grid(form, parameter):
    """Return the code of each edge on a grid; there are none with a parameter that cannot be."""
    if form == LOGARITHMIC:
        bits = [(parameter << 23) + (code << 19) for code in range(256)]
        return {b + ZERO: code for code, b in enumerate(bits) if b < 0x7F800000}
    e = parameter - 256 if parameter > 127 else parameter
    if not -126 <= e <= 119:
        return {}
    if form == UNSIGNED:
        return {key(np.float32(code * 2.0**e)): code for code in range(256)}
    return {key(np.float32((code - 128) * 2.0**e)) + (code < 128): code for code in range(256)}


def ways(edges, parameters):
    """Yield form, parameter and whether it is written for each way to write edges in one byte, the first one first."""
    even = SIGNED if edges[0] < ZERO else UNSIGNED
    forms = [even, LOGARITHMIC] if edges[0] > ZERO else [even]
    yield from ((form, parameters[form], False) for form in forms if form in parameters)
    coarsest = (e % 256 for e in range(119, -127, -1) if all(edge in grid(even, e % 256) for edge in edges))
    if edges == (ZERO,):
        coarsest = iter([0])
    yield from ((even, parameter, True) for parameter in coarsest)
    if edges[0] > ZERO:
        yield LOGARITHMIC, (edges[0] - ZERO) >> 23, True


def edges_record(edges, bits, usual, parameters):
    own_count = OWN_COUNT * (len(edges) != usual)
    number = count(len(edges)) if own_count else b""
    if not edges:
        return bytes([1 | bits | own_count]) + number
    for form, parameter, own in ways(edges, parameters):
        codes = [grid(form, parameter).get(edge) for edge in edges]
        if None not in codes:
            parameters[form] = parameter
            head = bytes([bits | own_count | form << 4 | OWN_PARAMETER * own]) + bytes([parameter] * own)
            return head + number + bytes(codes)
    width = next(w for w in (2, 3, 4) if all(edge % 2 ** (32 - 8 * w) == 0 for edge in edges))
    leading = b"".join((edge >> 32 - 8 * width).to_bytes(width, "little") for edge in edges)
    return bytes([1 | bits | own_count | width - 1 << 4]) + number + leading


def count(value):
    groups = [value >> shift & 0x7F for shift in range(0, max(value.bit_length(), 1), 7)]
    return bytes([*(group | 0x80 for group in groups[:-1]), groups[-1]])


def text(value):
    return count(len(value.encode())) + value.encode()


def _table():
    entry = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        entry = entry >> 1 ^ np.where(entry & 1, 0x82F63B78, 0).astype(np.uint64)
    return entry.tolist()


_CRC = _table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _CRC[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def signed(body):
    """Return a body with a checksum that fits it."""
    return bytes(body) + struct.pack("<I", crc32c(body))


def key(x):
    """Return the key of a number, as the format page defines it."""
    bits = int(np.float32(x + np.float32(0)).view(np.uint32))
    return bits ^ (0xFFFFFFFF if bits >> 31 else 0x80000000)


def number(of):
    """Return the number with a key."""
    return np.uint32(of ^ (0x80000000 if of >> 31 else 0xFFFFFFFF)).view(np.float32)


# Random files


def random_file(rng, small=False):
    """Return a file of a random shape. `small`: one that a kilobyte of RAM can hold, with few features."""
    tilings = int(rng.choice([1, 1, 2, 3, 4, 5, 6, 7, 7 if small else 40]))
    functions = int(rng.choice([1, 1, 1, 3, 4, 10]))
    wide = rng.random() < 0.15
    m = int(rng.choice([rng.integers(1, 71), rng.choice([1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65])]))
    features = int(rng.integers(60, 90)) if wide else int(rng.integers(1, 12))
    if wide:
        m, functions, tilings = min(m, 9), 1, min(tilings, 7)
    most = max(1, min(40, 20_000 // (features * tilings * functions * (m + 1))))
    loss = int(rng.integers(0, 4)) if functions == 1 else int(rng.integers(0, 3))
    return File(
        features=tuple(random_feature(rng, tilings, most) for _ in range(features)),
        m=m,
        functions=functions,
        tilings=tilings,
        loss=loss,
        shifts=tuple(int(rng.integers(0, 25)) if rng.random() < 0.5 else 0 for _ in range(3)),
        exponent=int(rng.integers(-1022, 1023)),
        scales=random_scales(rng, functions),
        sparse=bool(rng.random() < 0.3),
        labels=b"" if loss == 3 else random_labels(rng, max(functions, 2)),
        names=b"".join(text(f"x{j} é") for j in range(features)) if rng.random() < 0.3 else None,
    )


def random_scales(rng, functions):
    bias, multiplier = (2**31, 2**16) if functions == 1 else (2**7, 2**4)
    scale = lambda: (int(rng.integers(-bias, bias)), *rng.integers(0, multiplier, 2).tolist())  # noqa: E731
    return tuple(scale() for _ in range(functions))


def random_feature(rng, tilings, most):
    kind = int(rng.choice([UNUSED, *[NUMERIC] * 5, WHOLE, WHOLE, TEXT]))
    missing = bool(rng.random() < 0.4)
    n = int(rng.choice([rng.integers(1, most + 1), min(most, 6)]))
    if kind == UNUSED:
        return Feature(UNUSED)
    if kind == NUMERIC:
        copies = tilings > 1 and bool(rng.random() < 0.3)
        return Feature(NUMERIC, random_edges(rng, n - 1, int(rng.choice([1, 1, 1, 2, 3, 4]))), copies, missing)
    copies = tilings > 1
    if kind == TEXT:
        texts = sorted({"".join(rng.choice(list("abcß日😀 *"), rng.integers(0, 5))) for _ in range(n)}, key=str.encode)
        return Feature(TEXT, tuple(texts), copies, missing)
    if rng.random() < 0.4:
        return Feature(WHOLE, tuple(range(n)), copies, missing)
    return whole_feature(rng, n, copies, missing)


def random_edges(rng, n, width):
    """Return up to so many edges of so many bytes each; of one byte, on a grid that others are likely to have too."""
    if width == 1:
        form = int(rng.integers(0, 3))
        near = 127 if form == LOGARITHMIC else 0
        parameter = int(rng.choice([near, near + 2, near + 2, rng.integers(0, 256)]))
        edges = sorted(grid(form, parameter) or grid(form, near))
        return tuple(sorted(rng.choice(edges, min(n, len(edges)), replace=False).tolist()))
    scale = rng.choice([1.0, 1e-3, 1e6, 1e-42, 1e38])
    with np.errstate(over="ignore"):
        keys = {key(x) for x in (rng.normal(size=n) * scale).astype(np.float32)}
    keys |= {key(x) for x in rng.choice(SPECIAL[4:], n // 4)}
    leading = {k >> 32 - 8 * width << 32 - 8 * width for k in keys}
    return tuple(sorted(edge for edge in leading if LOWEST <= edge <= HIGHEST))


def whole_feature(rng, n, copies, missing):
    span = int(rng.choice([100, 120, 3000, 40_000, 2**30, 2**40, 2**62]))
    levels = sorted({int(x) for x in rng.integers(-span, span, n)} | {int(np.float32(rng.integers(-span, span)))})
    width = min(w for w in (1, 2, 4, 8) if all(-(2 ** (8 * w - 1)) <= x < 2 ** (8 * w - 1) for x in levels))
    if levels == list(range(len(levels))):
        return Feature(WHOLE, tuple(levels), copies, missing)
    return Feature(WHOLE, tuple(levels), copies, missing, width)


def random_labels(rng, classes):
    which = int(rng.integers(0, 6))
    if which == 1:
        levels = sorted(rng.choice(np.arange(-100, 100), classes, replace=False).tolist())
        return b"" if levels == list(range(classes)) else bytes([1, 1]) + np.array(levels, np.int8).tobytes()
    if which == 2:
        return bytes([2]) + np.sort(rng.normal(size=classes)).tobytes()
    if which == 3 and classes == 2:
        return bytes([3])
    if which == 4:
        return bytes([4]) + b"".join(text(f"class {i:02} é") for i in range(classes))
    return b""


# Rows


def probes(rng, feature):
    """Return values that fall on, below and above everything that a record names."""
    around = list(SPECIAL) + [np.float32(x) for x in rng.normal(size=4) * 10.0 ** rng.integers(-3, 7)]
    if feature.kind == NUMERIC:
        for edge in feature.numbers:
            at = number(edge)
            around += [at, np.nextafter(at, np.float32(-np.inf)), np.nextafter(at, np.float32(np.inf))]
    else:
        with np.errstate(over="ignore"):
            n = range(len(feature.numbers)) if feature.kind == TEXT else feature.numbers
            around += [np.float32(x + d) for x in (*n, len(feature.numbers)) for d in (-1, 0, 0, 0.5, 1)]
    return np.array(around, np.float32)


def rows_for(rng, file, n):
    """Return n rows of float32 that probe a file."""
    with np.errstate(all="ignore"):
        return np.column_stack([rng.choice(probes(rng, feature), n) for feature in file.features])


# What Python says


@dataclass(frozen=True)
class Answer:
    """The scores of some rows and the classes that follow, by the extension."""

    features: int
    functions: int
    classes: int
    exponent: int
    scores: list
    labels: list


def answer(blob, X):
    """Return what the extension says about rows of numbers; a text category is given by its index."""
    model = binfm.Model.from_bytes(blob)
    _, functions, _, loss, shift_a, shift_c, shift_bias, exponent = struct.unpack_from("<HHBBBBBh", blob, 14)
    scales = read_scales(blob)
    terms = model._core.terms(np.ascontiguousarray(X), 1).tolist()
    scores = [
        [
            (bias << shift_bias) + (a << shift_a) * row[k] + (c << shift_c) * row[functions + k]
            for k, (bias, a, c) in enumerate(scales)
        ]
        for row in terms
    ]
    labels = [int(s[0] > 0) if functions == 1 else s.index(max(s)) for s in scores]
    classes = 0 if loss == 3 else max(functions, 2)
    return Answer(model.n_features, functions, classes, exponent, scores, labels)


def is_too_large(blob):
    """Return whether a sound file is beyond the limits that binfm.h states."""
    _, m, _, tilings, _, _, shift_c = struct.unpack_from("<IHHBBBB", blob, 10)
    model = binfm.Model.from_bytes(blob)
    active = tilings * sum(feature.kind != "unused" for feature in model.features)
    pairs = m * active * (active - 1) // 2
    largest = max(c for _, _, c in read_scales(blob))
    return len(blob) >= 2**22 or active > 65535 or m * active**2 >= 2**32 or pairs * largest << shift_c >= 2**61


def read_scales(blob):
    """Return bias, a and c of each score function."""
    (functions,) = struct.unpack_from("<H", blob, 16)
    if functions == 1:
        return [struct.unpack_from("<iHH", blob, 27)]
    short = [struct.unpack_from("<bB", blob, 27 + 2 * k) for k in range(functions)]
    return [(bias, both & 15, both >> 4) for bias, both in short]


def packed_scales(functions, bias, a, c):
    """Return bias, a and c of a score function as a file has them."""
    return struct.pack("<iHH", bias, a, c) if functions == 1 else struct.pack("<bB", bias, a | c << 4)
