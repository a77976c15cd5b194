"""Each rule of docs/file-format.md by itself: a file that breaks nothing else is refused by Python and by C."""

import struct
from dataclasses import dataclass, replace

import binfm
import numpy as np
import pytest
from blobs import Feature, File, count, key, signed
from machines import Job
from test_runtime import BAD_FORMAT, GCC, assert_same


@dataclass(frozen=True)
class Raw:
    """A feature that is written as it stands; `rows_` is how many rows the bits have for it."""

    bytes_: bytes
    rows_: int = 1

    def record(self):
        return self.bytes_

    def rows(self, _tilings):
        return self.rows_


ONE = Feature(1)
TWO = Feature(1, 2, (key(1.0) >> 16,))
K3 = {"functions": 3, "scales": ((1, 2, 3),) * 3}
LATER = "\u0100" * 64
"""128 bytes: its count begins with a byte that looks like the end of a character."""


def texts(*raw):
    return Raw(bytes([3]) + count(len(raw)) + b"".join(count(len(text)) + text for text in raw), len(raw))


def levels(width, *numbers):
    return Raw(Feature(2, width, numbers).record(), len(numbers))


def floats(*numbers):
    return bytes([2]) + struct.pack(f"<{len(numbers)}d", *numbers)


GOOD = {
    "the least": File((ONE,)),
    "all edges": File((Feature(1, 4, (0x7FFFFF, key(-0.0) - 1, key(0.0), 0xFF800000)),)),
    "texts": File((texts(b"", b"\x7f", b"\xc2\x80", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf4\x8f\xbf\xbf"),)),
    "a long text": File((texts(LATER.encode(), LATER.encode() + b"a"),)),
    "levels": File(
        (levels(1, -128, 127), levels(2, -129, 0), levels(2, 0, 128), levels(4, -(2**31)), levels(8, 2**31))
    ),
    "whole labels": File((ONE,), labels=bytes([1, 1, 0, 2])),
    "float labels": File((ONE,), labels=floats(0.0, 1.0)),
    "float labels around zero": File((ONE,), labels=floats(-1.0, -0.0)),
    "the largest floats": File((ONE,), labels=floats(-1.7976931348623157e308, 1.7976931348623157e308)),
    "boolean labels": File((ONE,), labels=bytes([3])),
    "text labels": File((ONE,), labels=bytes([4, 0, 2, 0xC2, 0x80])),
    "three functions": File((ONE,), **K3),
    "shifts": File((ONE,), shifts=(24, 24, 24), exponent=-1022),
    "exponent": File((ONE,), exponent=1022),
    "copies": File((replace(TWO, copies=True), Feature(2, 0, (0, 1), copies=True)), tilings=2),
    "unused": File((Feature(0), ONE, Feature(0))),
    "nothing used": File((Feature(0),)),
}

BAD = {
    "no features": File(()),
    "no factors": File((ONE,), m=0),
    "no functions": File((ONE,) * 9, functions=0, scales=()),
    "two functions": File((ONE,), functions=2, scales=((1, 2, 3),) * 2),
    "no grids": File((Raw(b"\x01\x00", 0),), tilings=0),
    "an unknown loss": File((ONE,), loss=4),
    "regression with three functions": File((ONE,), loss=3, **K3),
    "a shift of a": File((ONE,), shifts=(25, 0, 0)),
    "a shift of c": File((ONE,), shifts=(0, 25, 0)),
    "a shift of bias": File((ONE,), shifts=(0, 0, 25)),
    "exponent above": File((ONE,), exponent=1023),
    "exponent below": File((ONE,), exponent=-1023),
    "kind 0 with a flag": File((Raw(b"\x08", 0), ONE)),
    "a count with a superfluous byte": File((Raw(b"\x11\x81\x00\x80", 2),)),
    "a count of six bytes": File((Raw(b"\x02\x82\x80\x80\x80\x80\x00", 2),)),
    "a count beyond 32 bits": File((Raw(b"\x02\x82\x80\x80\x80\x10", 2),)),
    "edges without width": File((Raw(b"\x01\x01", 2),)),
    "width without edges": File((Raw(b"\x21\x00", 1),)),
    "edges of five bytes": File((Raw(b"\x51\x01\x00\x00\x00\x00\xc0", 2),)),
    "equal edges": File((Feature(1, 1, (0xC0, 0xC0)),)),
    "falling edges": File((Feature(1, 1, (0xC1, 0xC0)),)),
    "an edge above inf": File((Feature(1, 4, (0xFF800001,)),)),
    "an edge above inf, of two bytes": File((Feature(1, 2, (0xFF81,)),)),
    "an edge below -inf": File((Feature(1, 4, (0x7FFFFE,)),)),
    "an edge of zeros": File((Feature(1, 1, (0,)),)),
    "no levels": File((Raw(b"\x02\x00", 0), ONE)),
    "no listed levels": File((Raw(b"\x12\x00", 0), ONE)),
    "levels of three bytes": File((levels(3, 0, 70_000),)),
    "equal levels": File((levels(1, 5, 5),)),
    "falling levels": File((levels(1, 5, -5),)),
    "levels in too many bytes": File((levels(2, -128, 127),)),
    "levels in eight bytes for four": File((levels(8, -(2**31), 2**31 - 1),)),
    "levels that count": File((levels(1, 0, 1, 2),)),
    "one level that counts": File((levels(1, 0),)),
    "no texts": File((Raw(b"\x03\x00", 0), ONE)),
    "texts with a width": File((Raw(b"\x13\x01\x00", 1),)),
    "equal texts": File((texts(b"a", b"a"),)),
    "falling texts": File((texts(b"b", b"a"),)),
    "a shorter text behind a longer": File((texts(b"ab", b"a"),)),
    "a stray continuation": File((texts(b"\x80"),)),
    "too long a form of two": File((texts(b"\xc1\xbf"),)),
    "too long a form of three": File((texts(b"\xe0\x9f\xbf"),)),
    "too long a form of four": File((texts(b"\xf0\x8f\xbf\xbf"),)),
    "a surrogate": File((texts(b"\xed\xa0\x80"),)),
    "beyond the last character": File((texts(b"\xf4\x90\x80\x80"),)),
    "a lead of five": File((texts(b"\xf8\x88\x80\x80\x80"),)),
    "half a character": File((texts(b"\xc3", LATER.encode()),)),
    "a broken third byte": File((texts(b"\xe2\x82a"),)),
    "categories that share rows": File((Raw(Feature(2, 0, (0, 1)).record(), 3),), tilings=2),
    "texts that share rows": File((Raw(texts(b"a", b"b").record(), 3),), tilings=2),
    "copies of one grid": File((replace(TWO, copies=True),)),
    "labels of regression": File((ONE,), loss=3, labels=bytes([1, 1, 0, 2])),
    "labels that count": File((ONE,), labels=bytes([1, 1, 0, 1])),
    "labels of three bytes": File((ONE,), labels=bytes([1, 3, 0, 0, 0, 0, 0, 1])),
    "labels without bytes": File((ONE,), labels=bytes([1, 0])),
    "labels in too many bytes": File((ONE,), labels=bytes([1, 2, 0, 0, 2, 0])),
    "equal labels": File((ONE,), labels=bytes([1, 1, 2, 2])),
    "falling labels": File((ONE,), labels=bytes([1, 1, 2, 0])),
    "an infinite label": File((ONE,), labels=floats(1.0, float("inf"))),
    "a label below all": File((ONE,), labels=floats(float("-inf"), 1.0)),
    "a label that is NaN": File((ONE,), labels=floats(1.0, float("nan"))),
    "two zeros": File((ONE,), labels=floats(-0.0, 0.0)),
    "equal negative labels": File((ONE,), labels=floats(-1.0, -1.0)),
    "falling negative labels": File((ONE,), labels=floats(-1.0, -2.0)),
    "three booleans": File((ONE,), labels=bytes([3]), **K3),
    "an unknown kind of labels": File((ONE,), labels=bytes([5])),
    "labels of kind 0": File((ONE,), labels=bytes([0]) + bytes(16)),
    "equal text labels": File((ONE,), labels=bytes([4, 1, 97, 1, 97])),
    "a text label that is no text": File((ONE,), labels=bytes([4, 0, 1, 0xFF])),
    "a label too few": File((ONE,), labels=bytes([4, 0])),
    "bytes behind the labels": File((ONE,), labels=bytes([3, 0])),
}


def spoiled(at, value):
    """Return a good file with one byte of its body exchanged."""
    body = bytearray(GOOD["the least"].blob()[:-4])
    body[at] = value
    return signed(body)


def wrapped():
    """Return a file with 2^30 + 1 edges of four bytes, which are four bytes if 32 bits are all that is looked at.

    What stands there ascends, the checksum included: who believes it reads on behind the end.
    """
    edges = struct.pack("<3I", 0x80000000, 0x80000001, 0x80000002)
    feature = Raw(b"\x41\x81\x80\x80\x80\x04" + edges, 0)
    files = (File((feature,), scales=((bias, 0, 0),)).blob() for bias in range(100))
    return next(blob for blob in files if 0x80000002 < int.from_bytes(blob[-4:], "little") <= 0xFF800000)


SPOILED = {
    "a count whose size wraps": wrapped(),
    "a bit behind the last": spoiled(-1, 0x10),
    "an unknown flag": spoiled(5, 16),
    "a flag without names": spoiled(5, 8),
    "a flag without labels": spoiled(5, 2),
    "a feature too many": spoiled(10, 2),
}


BLOBS = {name: file.blob() for name, file in (GOOD | BAD).items()} | SPOILED
NONE = np.zeros((0, 0), np.float32)


def job(name):
    blob = BLOBS[name]
    return Job(blob, np.zeros((2, int.from_bytes(blob[10:14], "little")), np.float32) if name in GOOD else NONE)


@pytest.fixture(scope="module", params=["sanitized", "8"])
def results(request, folder):
    """What the C runtime says about each file."""
    said = GCC[request.param].run(folder, [job(name) for name in BLOBS])
    return dict(zip(BLOBS, said, strict=True))


@pytest.mark.parametrize("name", GOOD)
def test_a_good_file_is_scored(results, name):
    binfm.Model.from_bytes(BLOBS[name])
    assert_same([job(name)], [results[name]])


@pytest.mark.parametrize("name", [*BAD, *SPOILED])
def test_a_broken_rule_is_noticed(results, name):
    with pytest.raises(binfm.ModelFormatError):
        binfm.Model.from_bytes(BLOBS[name])
    assert results[name].status == BAD_FORMAT
