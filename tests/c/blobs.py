"""Random model files of every shape, written from docs/file-format.md, and rows that probe their edges."""

import struct
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


@dataclass(frozen=True)
class Feature:
    """One record. `numbers` are edges as keys, levels, or texts."""

    kind: int
    width: int = 0
    numbers: tuple = ()
    copies: bool = False
    missing: bool = False

    def record(self):
        if self.kind == 0:
            return b"\0"
        tag = self.kind | 4 * self.copies | 8 * self.missing | self.width << 4
        head = bytes([tag]) + count(len(self.numbers))
        if self.kind == 3:
            return head + b"".join(text(t) for t in self.numbers)
        if self.width == 0:
            return head
        return head + b"".join(int(n).to_bytes(self.width, "little", signed=self.kind == 2) for n in self.numbers)

    def rows(self, tilings):
        if self.kind == 0:
            return 0
        cells = len(self.numbers) + (self.kind == 1)
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

    def blob(self, rng=None):
        head = struct.pack("<4sBB", b"\xb1FM\n", 1, self.sparse | 2 * bool(self.labels))
        body = struct.pack("<IHHBB", len(self.features), self.m, self.functions, self.tilings, self.loss)
        body += bytes(self.shifts) + struct.pack("<h", self.exponent)
        body += b"".join(struct.pack("<iHH", *scales) for scales in self.scales)
        body += b"".join(feature.record() for feature in self.features)
        body += self.random_bits(rng or np.random.default_rng(0)) + self.labels
        return signed(head + struct.pack("<I", len(body) + 14) + body)

    def random_bits(self, rng):
        size = sum(f.rows(self.tilings) for f in self.features) * self.functions * (self.m + 1)
        bits = bytearray(rng.bytes((size + 7) // 8))
        if size % 8:
            bits[-1] &= 2 ** (size % 8) - 1
        return bytes(bits)


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
    scales = [(rng.integers(-(2**31), 2**31), rng.integers(0, 2**16), rng.integers(0, 2**16)) for _ in range(functions)]
    return File(
        features=tuple(random_feature(rng, tilings, most) for _ in range(features)),
        m=m,
        functions=functions,
        tilings=tilings,
        loss=loss,
        shifts=tuple(int(rng.integers(0, 25)) if rng.random() < 0.5 else 0 for _ in range(3)),
        exponent=int(rng.integers(-1022, 1023)),
        scales=tuple(tuple(int(x) for x in s) for s in scales),
        sparse=bool(rng.random() < 0.3),
        labels=b"" if loss == 3 else random_labels(rng, max(functions, 2)),
    )


def random_feature(rng, tilings, most):
    kind = int(rng.choice([0, 1, 1, 1, 1, 2, 2, 3]))
    missing = bool(rng.random() < 0.4)
    n = int(rng.integers(1, most + 1))
    if kind == 0:
        return Feature(0)
    if kind == 1:
        copies = tilings > 1 and bool(rng.random() < 0.3)
        width = int(rng.integers(1, 5))
        edges = random_edges(rng, n - 1, width)
        return Feature(1, width if edges else 0, edges, copies, missing)
    copies = tilings > 1
    if kind == 3:
        texts = sorted({"".join(rng.choice(list("abcß日😀 *"), rng.integers(0, 5))) for _ in range(n)}, key=str.encode)
        return Feature(3, 0, tuple(texts), copies, missing)
    if rng.random() < 0.4:
        return Feature(2, 0, tuple(range(n)), copies, missing)
    return whole_feature(rng, n, copies, missing)


def random_edges(rng, n, width):
    scale = rng.choice([1.0, 1e-3, 1e6, 1e-42, 1e38])
    with np.errstate(over="ignore"):
        keys = {key(x) for x in (rng.normal(size=n) * scale).astype(np.float32)}
    keys |= {key(x) for x in rng.choice(SPECIAL[4:], n // 4)}
    spare = 32 - 8 * width
    leading = {k >> spare for k in keys}
    return tuple(sorted(e for e in leading if 0x7FFFFF <= e << spare <= 0xFF800000))


def whole_feature(rng, n, copies, missing):
    span = int(rng.choice([100, 120, 3000, 40_000, 2**30, 2**40, 2**62]))
    levels = sorted({int(x) for x in rng.integers(-span, span, n)} | {int(np.float32(rng.integers(-span, span)))})
    width = min(w for w in (1, 2, 4, 8) if all(-(2 ** (8 * w - 1)) <= x < 2 ** (8 * w - 1) for x in levels))
    if levels == list(range(len(levels))):
        return Feature(2, 0, tuple(levels), copies, missing)
    return Feature(2, width, tuple(levels), copies, missing)


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
    if feature.kind == 1:
        for edge in feature.numbers:
            at = number(edge << 32 - 8 * feature.width)
            around += [at, np.nextafter(at, np.float32(-np.inf)), np.nextafter(at, np.float32(np.inf))]
    else:
        with np.errstate(over="ignore"):
            n = range(len(feature.numbers)) if feature.kind == 3 else feature.numbers
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
    scales = [struct.unpack_from("<iHH", blob, 25 + 8 * k) for k in range(functions)]
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
    _, m, functions, tilings, _, _, shift_c = struct.unpack_from("<IHHBBBB", blob, 10)
    model = binfm.Model.from_bytes(blob)
    active = tilings * sum(feature.kind != "unused" for feature in model.features)
    pairs = m * active * (active - 1) // 2
    largest = max(struct.unpack_from("<iHH", blob, 25 + 8 * k)[2] for k in range(functions))
    return len(blob) >= 2**22 or active > 65535 or m * active**2 >= 2**32 or pairs * largest << shift_c >= 2**61
