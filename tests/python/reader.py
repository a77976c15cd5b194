"""A reader of .binfm files in plain Python, written from docs/file-format.md alone. It validates nothing."""

import json
import math
import struct
from dataclasses import dataclass, field

LOSSES = ("logistic", "hinge", "squared_hinge", "squared", "softmax", "poisson", "quantile", "huber")
METHODS = ("bfm", "sefm", "dfm", "fm")


@dataclass
class Column:
    kind: str = "unused"
    edges: list = field(default_factory=list)
    categories: list = field(default_factory=list)
    copies: bool = False
    missing: bool = False
    units: tuple = (0.0, 1.0)

    def cells(self):
        return len(self.categories) if self.kind == "categorical" else len(self.edges) + 1  # raw numbers have no edges

    def rows(self, tilings):
        if self.kind == "unused":
            return 0
        stride = tilings if self.copies else 1
        return (self.cells() - 1) * stride + tilings + (tilings if self.missing else 0)

    def cell(self, value, zero_is_absent):
        """Return the cell of a number (one past the last if it is missing), or None if it activates no row."""
        if self.kind == "unused" or (zero_is_absent and value == 0):
            return None
        if value != value:
            return self.cells() if self.missing else None
        if self.kind in ("numeric", "raw"):
            return sum(key(edge) <= key(value + 0.0) for edge in self.edges)
        known = range(len(self.categories)) if isinstance(self.categories[0], str) else self.categories
        return known.index(value) if value in known else None

    def standardized(self, value):
        """Return a number in standard deviations from the mean."""
        center, scale = self.units
        return min(max((value - center) * scale, -1e6), 1e6)


class File:
    """All fields of a file."""

    def __init__(self, blob):
        self.blob, self.offset = blob, 0
        magic, self.version, self.flags, self.length, features, self.m, self.outputs, self.tilings, loss = self.take(
            "4sBBIIHHBB"
        )
        assert (magic, self.length) == (b"\xb1FM\n", len(blob))
        self.loss, self.method = LOSSES[loss & 15], METHODS[loss >> 4]
        shift_a, *shifts = self.take("BBB")
        self.shifts, self.w_bits = (shift_a & 31, *shifts), (shift_a >> 5) + 1
        self.exponent, self.default_edges = self.take("hH")
        short = self.method == "bfm" and self.outputs > 1
        layout = "bB" if short else {"bfm": "iHH", "dfm": "ff"}.get(self.method, "f")
        self.scales = [self.take(layout) for _ in range(self.outputs)]
        if short:
            self.scales = [(bias, both & 15, both >> 4) for bias, both in self.scales]
        used = [True] * features
        if self.flags & 4:
            bitmap = self.bytes(-(-features // 8))
            used = [bitmap[j // 8] >> j % 8 & 1 == 1 for j in range(features)]
        self.last_parameter = {}
        self.columns = [self.column() if is_used else Column() for is_used in used]
        self.rows = sum(column.rows(self.tilings) for column in self.columns)
        self.weights = self.read_weights(self.rows * self.outputs)
        self.labels = self.read_labels() if self.flags & 2 else None
        self.names = [self.text() for _ in range(features)] if self.flags & 8 else None
        self.card = json.loads(self.text()) if self.flags & 16 else None
        self.checksum = self.take("I")[0]
        assert self.offset == len(blob)

    def read_weights(self, pairs):
        """Return a list for each row and output: w and the factors."""
        if self.method == "bfm":
            size = self.w_bits + self.m
            rows = self.chunked(self.signs(pairs * size), size)
            return [[sum(s << i for i, s in enumerate(row[: self.w_bits])), *row[self.w_bits :]] for row in rows]
        if self.method == "dfm":
            w = self.take(f"{pairs}f")
            v = self.signs(pairs * self.m)
            return [[w, *v[i * self.m : (i + 1) * self.m]] for i, w in enumerate(w)]
        return self.chunked(self.take(f"{pairs * (self.m + 1)}f"), self.m + 1)

    def signs(self, count):
        packed = self.bytes(-(-count // 8))
        return [1 if packed[i // 8] >> i % 8 & 1 else -1 for i in range(count)]

    def chunked(self, values, size):
        return [list(values[i : i + size]) for i in range(0, len(values), size)]

    def take(self, layout):
        values = struct.unpack_from("<" + layout, self.blob, self.offset)
        self.offset += struct.calcsize("<" + layout)
        return values

    def bytes(self, size):
        self.offset += size
        return self.blob[self.offset - size : self.offset]

    def count(self):
        value = shift = 0
        while True:
            (byte,) = self.take("B")
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def text(self):
        return self.bytes(self.count()).decode()

    def integer(self, size):
        return int.from_bytes(self.bytes(size), "little", signed=True)

    def column(self):
        (tag,) = self.take("B")
        kind, copies, missing = tag & 3, bool(tag & 4), bool(tag & 8)
        if kind == 1 and self.method in ("dfm", "fm"):
            return Column("raw", units=self.take("ff"))
        if kind < 2:
            edges = self.edges_from_codes(tag) if kind == 0 else self.edges_from_leading_bytes(tag)
            return Column("numeric", edges, [], copies, missing)
        count, width = self.count(), tag >> 4
        if kind == 3:
            categories = [self.text() for _ in range(count)]
        else:
            categories = [self.integer(width) for _ in range(count)] if width else list(range(count))
        return Column("categorical", [], categories, copies, missing)

    def edges_from_codes(self, tag):
        form = tag >> 4 & 3
        if tag & 64:
            (self.last_parameter[form],) = self.take("b" if form < 2 else "B")
        parameter = self.last_parameter[form]
        count = self.count() if tag & 128 else self.default_edges
        return [number(edge_key(form, parameter, code)) for code in self.bytes(count)]

    def edges_from_leading_bytes(self, tag):
        count = self.count() if tag & 128 else self.default_edges
        width = (tag >> 4 & 3) + 1
        if count == 0:
            return []
        keys = (int.from_bytes(self.bytes(width), "little") << 8 * (4 - width) for _ in range(count))
        return [number(key) for key in keys]

    def active(self, values):
        """Return the rows that a row of numbers activates, and what multiplies each; a text's number is its place."""
        rows, first = [], 0
        for column, value in zip(self.columns, values, strict=True):
            cell = column.cell(value, self.flags & 1)
            if cell is not None:
                start = first + cell * (self.tilings if column.copies else 1)
                if cell == column.cells():  # missing values come last
                    start = first + column.rows(self.tilings) - self.tilings
                x = column.standardized(value) if column.kind == "raw" else 1
                rows += [(row, x) for row in range(start, start + self.tilings)]
            first += column.rows(self.tilings)
        return rows

    def scores(self, values):
        """Return the score of a sample for each output; those of bits are integers until the last step."""
        return [self.score(k, self.active(values)) for k in range(self.outputs)]

    def score(self, k, active):
        scaled = [[x * weight for weight in self.weights[row * self.outputs + k]] for row, x in active]
        linear = sum(weights[0] for weights in scaled)
        squares = sum(sum(column) ** 2 - sum(v * v for v in column) for column in list(zip(*scaled, strict=True))[1:])
        if self.method != "bfm":
            bias, beta = (*self.scales[k], 1.0)[:2]
            return bias + linear + beta**2 * squares / 2
        (bias, a, c), (shift_a, shift_c, shift_bias) = self.scales[k], self.shifts
        total = (bias << shift_bias) + (a << shift_a) * linear + (c << shift_c) * (squares // 2)
        return math.ldexp(float(total), -self.exponent)

    def read_labels(self):
        (kind,) = self.take("B")
        classes = max(self.outputs, 2)
        if kind == 1:
            (size,) = self.take("B")
            return [self.integer(size) for _ in range(classes)]
        if kind == 2:
            return list(self.take(f"{classes}d"))
        return [False, True] if kind == 3 else [self.text() for _ in range(classes)]


def key(number):
    bits = struct.unpack("<I", struct.pack("<f", number))[0]
    return bits ^ 0xFFFFFFFF if bits >> 31 else bits | 1 << 31


def number(key):
    bits = key & 0x7FFFFFFF if key >> 31 else key ^ 0xFFFFFFFF
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def edge_key(form, parameter, code):
    if form == 0:
        return key(code * 2.0**parameter)
    if form == 1:
        n = code - 128
        return key(n * 2.0**parameter) + (n < 0)
    return (parameter << 23) + (code << 19) | 1 << 31
