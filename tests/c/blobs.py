"""Random model files of every shape, written from docs/file-format.md, and samples that probe their edges."""

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
REGRESSION = (3, 5, 6, 7)
"""Losses of numbers."""
COPIES, MISSING, OWN_PARAMETER, OWN_COUNT = 4, 8, 0x40, 0x80
LOWEST, ZERO, HIGHEST = 0x7FFFFF, 0x80000000, 0xFF800000
"""Keys of -inf, zero and inf."""


@dataclass(frozen=True)
class Feature:
    """One feature. `entries` are edges as keys, integer categories of `width` bytes, or strings."""

    kind: int
    entries: tuple = ()
    copies: bool = False
    missing: bool = False
    width: int = 0

    def record(self, edge_count, parameters):
        """Return the record, given the default edge count and the latest parameter of each form before it."""
        bits = COPIES * self.copies | MISSING * self.missing
        if self.kind == NUMERIC:
            return edges_record(self.entries, bits, edge_count, parameters)
        head = bytes([self.kind | bits | self.width << 4]) + count(len(self.entries))
        if self.kind == TEXT:
            return head + b"".join(string(s) for s in self.entries)
        stored = self.entries if self.width else ()
        return head + b"".join(int(n).to_bytes(self.width, "little", signed=True) for n in stored)

    def rows(self, tilings):
        if self.kind == UNUSED:
            return 0
        cells = len(self.entries) + (self.kind == NUMERIC)
        return (cells - 1) * (tilings if self.copies else 1) + tilings * (2 if self.missing else 1)


@dataclass(frozen=True)
class File:
    """The fields of a file; `blob` writes them."""

    features: tuple
    m: int = 3
    outputs: int = 1
    tilings: int = 1
    loss: int = 0
    w_bits: int = 1
    shifts: tuple = (0, 0, 0)
    exponent: int = 0
    scales: tuple = ((0, 1, 1),)
    sparse: bool = False
    labels: bytes = b""
    names: bytes | None = None
    """Encoded strings, one per feature."""
    card: str | None = None
    edge_count: int | None = None
    """The default edge count to write, if not the correct one."""

    def blob(self, rng=None):
        used = [feature.kind != UNUSED for feature in self.features]
        flags = self.sparse | 2 * bool(self.labels) | 4 * (not all(used)) | 8 * (self.names is not None)
        flags |= 16 * (self.card is not None)
        head = struct.pack("<4sBB", b"\xb1FM\n", 1, flags)
        edge_count = most_common_edge_count(self.features) if self.edge_count is None else self.edge_count
        body = struct.pack("<IHHBB", len(self.features), self.m, self.outputs, self.tilings, self.loss)
        body += bytes([self.shifts[0] | self.w_bits - 1 << 5, *self.shifts[1:]])
        body += struct.pack("<hH", self.exponent, edge_count)
        body += b"".join(pack_scales(self.outputs, *scales) for scales in self.scales)
        if not all(used):
            body += np.packbits(used, bitorder="little").tobytes()
        parameters = {}
        body += b"".join(f.record(edge_count, parameters) for f in self.features if f.kind != UNUSED)
        body += self.random_bits(rng or np.random.default_rng(0)) + self.labels + (self.names or b"")
        body += b"" if self.card is None else string(self.card)
        return with_checksum(head + struct.pack("<I", len(body) + 14) + body)

    def random_bits(self, rng):
        size = sum(f.rows(self.tilings) for f in self.features) * self.outputs * (self.w_bits + self.m)
        bits = bytearray(rng.bytes((size + 7) // 8))
        if size % 8:
            bits[-1] &= 2 ** (size % 8) - 1
        return bytes(bits)


def most_common_edge_count(features):
    """Return the most common number of edges of numeric features, the smallest if several tie."""
    frequency = Counter(len(feature.entries) for feature in features if feature.kind == NUMERIC)
    edge_count = min(frequency, key=lambda n: (-frequency[n], n), default=0)
    return edge_count if edge_count < 2**16 else 0


# Edges


@functools.cache
def grid(form, parameter):
    """Return the code of each edge on a code grid; empty if the parameter is out of range."""
    if form == LOGARITHMIC:
        bits = [(parameter << 23) + (code << 19) for code in range(256)]
        return {b + ZERO: code for code, b in enumerate(bits) if b < 0x7F800000}
    e = parameter - 256 if parameter > 127 else parameter
    if not -126 <= e <= 119:
        return {}
    if form == UNSIGNED:
        return {key(np.float32(code * 2.0**e)): code for code in range(256)}
    return {key(np.float32((code - 128) * 2.0**e)) + (code < 128): code for code in range(256)}


def encodings(edges, parameters):
    """Yield the one-byte encodings in order of preference: form, parameter, and whether the parameter is written."""
    linear = SIGNED if edges[0] < ZERO else UNSIGNED
    forms = [linear, LOGARITHMIC] if edges[0] > ZERO else [linear]
    yield from ((form, parameters[form], False) for form in forms if form in parameters)
    coarsest = (e % 256 for e in range(119, -127, -1) if all(edge in grid(linear, e % 256) for edge in edges))
    if edges == (ZERO,):
        coarsest = iter([0])
    yield from ((linear, parameter, True) for parameter in coarsest)
    if edges[0] > ZERO:
        yield LOGARITHMIC, (edges[0] - ZERO) >> 23, True


def edges_record(edges, bits, edge_count, parameters):
    own_count = OWN_COUNT * (len(edges) != edge_count)
    number = count(len(edges)) if own_count else b""
    if not edges:
        return bytes([1 | bits | own_count]) + number
    for form, parameter, own in encodings(edges, parameters):
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


def string(value):
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


def with_checksum(body):
    """Return the body followed by its checksum."""
    return bytes(body) + struct.pack("<I", crc32c(body))


def key(x):
    """Return the key of a number, as docs/file-format.md defines it."""
    bits = int(np.float32(x + np.float32(0)).view(np.uint32))
    return bits ^ (0xFFFFFFFF if bits >> 31 else 0x80000000)


def number(key):
    """Return the number that has a key."""
    return np.uint32(key ^ (0x80000000 if key >> 31 else 0xFFFFFFFF)).view(np.float32)


# Random files


def random_file(rng, small=False):
    """Return a file of random shape; a `small` one can be scored with a kilobyte of RAM."""
    tilings = int(rng.choice([1, 1, 2, 3, 4, 5, 6, 7, 7 if small else 40]))
    outputs = int(rng.choice([1, 1, 1, 3, 4, 10]))
    many = rng.random() < 0.15
    m = int(rng.choice([rng.integers(1, 71), rng.choice([0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65])]))
    w_bits = int(rng.choice([1, rng.integers(2, 9)]))
    features = int(rng.integers(60, 90)) if many else int(rng.integers(1, 12))
    if many:
        m, outputs, tilings = min(m, 9), 1, min(tilings, 7)
    max_cells = max(1, min(40, 20_000 // (features * tilings * outputs * (w_bits + m))))
    loss = int(rng.integers(0, 4)) if outputs == 1 else int(rng.integers(0, 3))
    loss = REGRESSION[features % len(REGRESSION)] if loss == 3 else loss
    return File(
        features=tuple(random_feature(rng, tilings, max_cells) for _ in range(features)),
        m=m,
        outputs=outputs,
        tilings=tilings,
        loss=loss,
        w_bits=w_bits,
        shifts=tuple(int(rng.integers(0, 25)) if rng.random() < 0.5 else 0 for _ in range(3)),
        exponent=int(rng.integers(-1022, 1023)),
        scales=random_scales(rng, outputs),
        sparse=bool(rng.random() < 0.3),
        labels=b"" if loss in REGRESSION else random_labels(rng, max(outputs, 2)),
        names=b"".join(string(f"x{j} é") for j in range(features)) if rng.random() < 0.3 else None,
        card='{"text": "é"}' if rng.random() < 0.2 else None,
    )


def random_scales(rng, outputs):
    bias, multiplier = (2**31, 2**16) if outputs == 1 else (2**7, 2**4)
    scale = lambda: (int(rng.integers(-bias, bias)), *rng.integers(0, multiplier, 2).tolist())  # noqa: E731
    return tuple(scale() for _ in range(outputs))


def random_feature(rng, tilings, max_cells):
    kind = int(rng.choice([UNUSED, *[NUMERIC] * 5, WHOLE, WHOLE, TEXT]))
    missing = bool(rng.random() < 0.4)
    n = int(rng.choice([rng.integers(1, max_cells + 1), min(max_cells, 6)]))
    if kind == UNUSED:
        return Feature(UNUSED)
    if kind == NUMERIC:
        copies = tilings > 1 and bool(rng.random() < 0.3)
        return Feature(NUMERIC, random_edges(rng, n - 1, int(rng.choice([1, 1, 1, 2, 3, 4]))), copies, missing)
    copies = tilings > 1
    if kind == TEXT:
        strings = sorted(
            {"".join(rng.choice(list("abcß日😀 *"), rng.integers(0, 5))) for _ in range(n)}, key=str.encode
        )
        return Feature(TEXT, tuple(strings), copies, missing)
    if rng.random() < 0.4:
        return Feature(WHOLE, tuple(range(n)), copies, missing)
    return whole_feature(rng, n, copies, missing)


def random_edges(rng, n, width):
    """Return up to n edges of `width` bytes. One-byte edges are on a grid that other features are likely to share."""
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
    categories = sorted({int(x) for x in rng.integers(-span, span, n)} | {int(np.float32(rng.integers(-span, span)))})
    width = min(w for w in (1, 2, 4, 8) if all(-(2 ** (8 * w - 1)) <= x < 2 ** (8 * w - 1) for x in categories))
    if categories == list(range(len(categories))):
        return Feature(WHOLE, tuple(categories), copies, missing)
    return Feature(WHOLE, tuple(categories), copies, missing, width)


def random_labels(rng, classes):
    kind = int(rng.integers(0, 6))
    if kind == 1:
        labels = sorted(rng.choice(np.arange(-100, 100), classes, replace=False).tolist())
        return b"" if labels == list(range(classes)) else bytes([1, 1]) + np.array(labels, np.int8).tobytes()
    if kind == 2:
        return bytes([2]) + np.sort(rng.normal(size=classes)).tobytes()
    if kind == 3 and classes == 2:
        return bytes([3])
    if kind == 4:
        return bytes([4]) + b"".join(string(f"class {i:02} é") for i in range(classes))
    return b""


# Samples


def probes(rng, feature):
    """Return values on, just below and just above every edge or category of a feature."""
    around = list(SPECIAL) + [np.float32(x) for x in rng.normal(size=4) * 10.0 ** rng.integers(-3, 7)]
    if feature.kind == NUMERIC:
        for edge in feature.entries:
            x = number(edge)
            around += [x, np.nextafter(x, np.float32(-np.inf)), np.nextafter(x, np.float32(np.inf))]
    else:
        with np.errstate(over="ignore"):
            n = range(len(feature.entries)) if feature.kind == TEXT else feature.entries
            around += [np.float32(x + d) for x in (*n, len(feature.entries)) for d in (-1, 0, 0, 0.5, 1)]
    return np.array(around, np.float32)


def samples_for(rng, file, n):
    """Return n float32 samples that probe every feature of a file."""
    with np.errstate(all="ignore"):
        return np.column_stack([rng.choice(probes(rng, feature), n) for feature in file.features])


# What Python computes


@dataclass(frozen=True)
class Expected:
    """Scores and classes of some samples, as computed by the extension."""

    features: int
    outputs: int
    classes: int
    exponent: int
    scores: list
    labels: list


def expect(blob, X):
    """Compute scores and classes with the extension; a string category is given by its index."""
    model = binfm.Model.from_bytes(blob)
    _, outputs, _, loss, shift_a, shift_c, shift_bias, exponent = struct.unpack_from("<HHBBBBBh", blob, 14)
    shift_a %= 32
    scales = read_scales(blob)
    terms = model._core.terms(np.ascontiguousarray(X), 1).tolist()
    scores = [
        [
            (bias << shift_bias) + (a << shift_a) * term[k] + (c << shift_c) * term[outputs + k]
            for k, (bias, a, c) in enumerate(scales)
        ]
        for term in terms
    ]
    labels = [int(s[0] > 0) if outputs == 1 else s.index(max(s)) for s in scores]
    classes = 0 if loss in REGRESSION else max(outputs, 2)
    return Expected(model.n_features, outputs, classes, exponent, scores, labels)


def is_too_large(blob):
    """Return whether a valid file exceeds the limits stated in binfm.h."""
    _, m, _, tilings, _, shift_a, shift_c = struct.unpack_from("<IHHBBBB", blob, 10)
    model = binfm.Model.from_bytes(blob)
    active = tilings * sum(feature.kind != "unused" for feature in model.features)
    pairs = m * active * (active - 1) // 2
    largest = max(c for _, _, c in read_scales(blob))
    linear = active << shift_a // 32 + 1
    pairs_too_large = m * active**2 >= 2**32 or pairs * largest << shift_c >= 2**61
    return len(blob) >= 2**22 or active > 65535 or linear >= 2**21 or pairs_too_large


def read_scales(blob):
    """Return bias, a and c of each output."""
    (outputs,) = struct.unpack_from("<H", blob, 16)
    if outputs == 1:
        return [struct.unpack_from("<iHH", blob, 27)]
    packed = [struct.unpack_from("<bB", blob, 27 + 2 * k) for k in range(outputs)]
    return [(bias, both & 15, both >> 4) for bias, both in packed]


def pack_scales(outputs, bias, a, c):
    """Return bias, a and c of an output as stored in a file."""
    return struct.pack("<iHH", bias, a, c) if outputs == 1 else struct.pack("<bB", bias, a | c << 4)
