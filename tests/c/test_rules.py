"""Each rule of docs/file-format.md by itself: a file that breaks nothing else is refused by Python and by C."""

import struct
from dataclasses import dataclass, replace

import binfm
import numpy as np
import pytest
from blobs import (
    LOGARITHMIC,
    NUMERIC,
    OWN_PARAMETER,
    SIGNED,
    UNSIGNED,
    UNUSED,
    WHOLE,
    Feature,
    File,
    count,
    grid,
    key,
    signed,
)
from machines import Job
from test_runtime import BAD_FORMAT, GCC, assert_same


@dataclass(frozen=True)
class Raw:
    """A feature that is written as it stands; `rows_` is how many rows the bits have for it."""

    bytes_: bytes
    rows_: int = 1
    kind: int = -1

    def record(self, _usual, _parameters):
        return self.bytes_

    def rows(self, _tilings):
        return self.rows_


def numeric(*keys, **kwargs):
    return Feature(NUMERIC, keys, **kwargs)


def coded(form, parameter, *codes):
    """Return a feature with codes whose parameter is written, or not if it is None."""
    own = b"" if parameter is None else bytes([parameter])
    return Raw(bytes([form << 4 | OWN_PARAMETER * len(own)]) + own + bytes(codes), len(codes) + 1)


def leading(width, *numbers):
    edges = b"".join(number.to_bytes(width, "little") for number in numbers)
    return Raw(bytes([1 | width - 1 << 4]) + edges, len(numbers) + 1)


def usual(edges, *features):
    """Return a file of which this is the usual number of edges."""
    return File(features, usual=edges)


NONE = numeric()
ONE = numeric(key(1.0))
TWO = numeric(key(1.0), key(2.0))
TINY = numeric(key(1.0) + 1)
SPAN = numeric(key(0.001) >> 19 << 19, key(0.5), key(60.0))
"""Too wide for an even grid of one byte."""
FAR = numeric(key(1 + 1 / 128), key(1000.0))
"""Too fine for a logarithmic one besides: two bytes each."""
K3 = {"functions": 3, "scales": ((1, 2, 3),) * 3}
LATER = "\u0100" * 64
"""128 bytes: its count begins with a byte that looks like the end of a character."""


def texts(*raw):
    return Raw(bytes([3]) + count(len(raw)) + b"".join(count(len(text)) + text for text in raw), len(raw))


def levels(width, *numbers):
    return Raw(Feature(WHOLE, numbers, width=width).record(0, {}), len(numbers))


def floats(*numbers):
    return bytes([2]) + struct.pack(f"<{len(numbers)}d", *numbers)


GOOD = {
    "the least": File((NONE,)),
    "all edges": File((numeric(0x7FFFFF, key(-0.0) - 1, key(0.0), 0xFF800000),)),
    "codes as they come": usual(1, coded(UNSIGNED, 0, 1)),
    "unsigned codes": File((numeric(*grid(UNSIGNED, 0)), numeric(*grid(UNSIGNED, 119)), numeric(*grid(UNSIGNED, 130)))),
    "signed codes": File((numeric(*grid(SIGNED, 0)), numeric(*grid(SIGNED, 119)), numeric(*grid(SIGNED, 130)))),
    "logarithmic codes": File((SPAN, numeric(*grid(LOGARITHMIC, 254)), numeric(*list(grid(LOGARITHMIC, 0))[1:]))),
    "known parameters": usual(1, ONE, coded(UNSIGNED, None, 7), SPAN, coded(UNSIGNED, None, 9)),
    "a known logarithm before an own even grid": File((SPAN, ONE, numeric(key(0.25)))),
    "the greatest exponent": File((numeric(key(2.0**121)), numeric(key(-(2.0**126)) + 1))),
    "zero alone": usual(1, coded(UNSIGNED, 0, 0)),
    "two, three, four bytes": File((FAR, numeric(key(257.0)), TINY)),
    "a number of edges of its own": File((ONE, TWO, ONE, NONE)),
    "of equals the smallest": usual(1, TWO, ONE, ONE, TWO, TINY, SPAN),
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
    "names": File((ONE, Feature(UNUSED), TWO), names=b"\x01b\x00\x02\xc2\x80"),
    "names and labels": File((ONE,), labels=bytes([3]), names=b"\x01b"),
    "three functions": File((ONE,), **K3),
    "shifts": File((ONE,), shifts=(24, 24, 24), exponent=-1022),
    "exponent": File((ONE,), exponent=1022),
    "copies": File((replace(TWO, copies=True), Feature(WHOLE, (0, 1), copies=True)), tilings=2),
    "unused": File((Feature(UNUSED), ONE, Feature(UNUSED))),
    "the ninth used": File((*[Feature(UNUSED)] * 8, ONE)),
    "eight and one unused": File((*[ONE] * 7, Feature(UNUSED))),
    "nothing used": File((Feature(UNUSED),)),
}

BAD = {
    "no features": File(()),
    "no factors": File((ONE,), m=0),
    "no functions": File((ONE,) * 9, functions=0, scales=()),
    "two functions": File((ONE,), functions=2, scales=((1, 2, 3),) * 2),
    "no grids": File((Raw(b"\x01", 0),), tilings=0),
    "an unknown loss": File((ONE,), loss=4),
    "regression with three functions": File((ONE,), loss=3, **K3),
    "a shift of a": File((ONE,), shifts=(25, 0, 0)),
    "a shift of c": File((ONE,), shifts=(0, 25, 0)),
    "a shift of bias": File((ONE,), shifts=(0, 0, 25)),
    "exponent above": File((ONE,), exponent=1023),
    "exponent below": File((ONE,), exponent=-1023),
    "a count with a superfluous byte": usual(0, Raw(b"\xc0\x00\x81\x00\x01", 2)),
    "a count of six bytes": File((Raw(b"\x02\x82\x80\x80\x80\x80\x00", 2),)),
    "a count beyond 32 bits": File((Raw(b"\x02\x82\x80\x80\x80\x10", 2),)),
    "edges without width": usual(1, Raw(b"\x01", 2)),
    "width without edges": File((Raw(b"\x11", 1),)),
    "codes without edges": File((Raw(b"\x40\x00", 1),)),
    "leading bytes with a parameter": usual(1, Raw(b"\x51\x80\xc3", 2)),
    "codes of a fourth form": usual(1, coded(3, 0, 1)),
    "an exponent above": usual(1, coded(UNSIGNED, 120, 1)),
    "an exponent below": usual(1, coded(UNSIGNED, 129, 1)),
    "a signed exponent above": usual(1, coded(SIGNED, 120, 1)),
    "a logarithm above": usual(1, coded(LOGARITHMIC, 255, 0)),
    "an unknown parameter": usual(1, coded(UNSIGNED, None, 0)),
    "an unknown logarithm": usual(1, coded(LOGARITHMIC, None, 0)),
    "a parameter of another form": usual(1, ONE, coded(SIGNED, None, 1)),
    "an infinite code": usual(1, coded(LOGARITHMIC, 254, 16)),
    "a code beyond inf": usual(1, coded(LOGARITHMIC, 240, 255)),
    "equal codes": usual(2, coded(UNSIGNED, 0, 1, 1)),
    "falling codes": usual(2, coded(UNSIGNED, 0, 3, 1)),
    "equal edges": usual(2, leading(2, 0xC381, 0xC381)),
    "falling edges": usual(2, leading(2, 0xC381, 0xC380)),
    "an edge above inf": usual(1, leading(4, 0xFF800001)),
    "an edge above inf, of two bytes": usual(1, leading(2, 0xFF81)),
    "an edge below -inf": usual(1, leading(4, 0x7FFFFE)),
    "an edge of zeros": usual(1, leading(2, 0)),
    "a parameter that is known": usual(1, ONE, coded(UNSIGNED, 0, 7)),
    "a logarithm that is known": usual(3, SPAN, coded(LOGARITHMIC, 117, 0, 144, 254)),
    "too fine a grid": usual(1, coded(UNSIGNED, 255, 2)),
    "too fine a signed grid": usual(1, coded(SIGNED, 0, 126)),
    "too fine a grid next to the greatest": usual(1, coded(UNSIGNED, 118, 8)),
    "zero on another grid": usual(1, coded(UNSIGNED, 1, 0)),
    "signed without a negative edge": usual(1, coded(SIGNED, 0, 129)),
    "signed from zero on": usual(2, coded(SIGNED, 0, 128, 129)),
    "a logarithm for an even grid": usual(1, coded(LOGARITHMIC, 127, 0)),
    "a logarithm for a known even grid": usual(1, ONE, coded(LOGARITHMIC, 129, 0)),
    "a known logarithm for a known even grid": usual(
        3, numeric(key(1.0), key(2.0), key(5.0)), SPAN, coded(LOGARITHMIC, None, 160, 176, 184)
    ),
    "an even grid for a known logarithm": usual(3, SPAN, coded(UNSIGNED, 254, 1, 2, 3)),
    "an early logarithm": usual(3, coded(LOGARITHMIC, 116, 16, 160, 254)),
    "zero on a logarithm": usual(2, coded(LOGARITHMIC, 0, 0, 1)),
    "two bytes for a code": usual(1, leading(2, key(1.0) >> 16)),
    "two bytes for a signed code": usual(1, leading(2, key(-1.0) + 1 >> 16)),
    "two bytes for a logarithm": usual(3, leading(2, *(edge >> 16 for edge in SPAN.numbers))),
    "two bytes for a known code": usual(1, ONE, leading(2, key(7.0) >> 16)),
    "three bytes for two": usual(2, leading(3, *(edge >> 8 for edge in FAR.numbers))),
    "three bytes for a code": usual(1, leading(3, key(1.0) >> 8)),
    "four bytes for three": usual(1, leading(4, key(1.0) + 256)),
    "an own count that is the usual": usual(1, Raw(b"\xc0\x00\x01\x01", 2)),
    "a usual number without edges": usual(1, levels(1, 5)),
    "a usual number that is rarer": usual(2, ONE, TWO, ONE),
    "a usual number that nobody has": usual(3, ONE, ONE),
    "a usual number that is larger": usual(2, ONE, TWO, TWO, ONE),
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
    "categories that share rows": File((Raw(Feature(WHOLE, (0, 1)).record(0, {}), 3),), tilings=2),
    "texts that share rows": File((Raw(texts(b"a", b"b").bytes_, 3),), tilings=2),
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
    "a name too few": File((ONE, ONE), names=b"\x01a"),
    "a name too many": File((ONE,), names=b"\x01a\x01b"),
    "a name that is no text": File((ONE,), names=b"\x01\xff"),
    "a name that ends later": File((ONE,), names=b"\x04abc"),
    "bytes behind the labels": File((ONE,), labels=bytes([3, 0])),
}


def spoiled(name, at, value):
    """Return a good file with one byte of its body exchanged."""
    body = bytearray(GOOD[name].blob()[:-4])
    body[at] = value
    return signed(body)


def wrapped():
    """Return a file with 2^30 + 1 edges of four bytes, which are four bytes if 32 bits are all that is looked at.

    What stands there ascends, the checksum included: who believes it reads on behind the end.
    """
    edges = struct.pack("<3I", 0x80000001, 0x80000003, 0x80000005)
    feature = Raw(b"\xb1\x81\x80\x80\x80\x04" + edges, 0)
    files = (File((feature,), scales=((bias, 0, 0),)).blob() for bias in range(100))
    return next(blob for blob in files if 0x80000005 < int.from_bytes(blob[-4:], "little") <= 0xFF800000)


AFTER_SCALES = 35
SPOILED = {
    "a count whose size wraps": wrapped(),
    "a bit behind the last": spoiled("the least", -1, 0x10),
    "an unknown flag": spoiled("the least", 5, 16),
    "a flag without names": spoiled("the least", 5, 8),
    "an unknown method": spoiled("the least", 19, 16),
    "a flag without labels": spoiled("the least", 5, 2),
    "a flag without unused features": spoiled("the least", 5, 4),
    "a feature too many": spoiled("the least", 10, 2),
    "all features used": spoiled("eight and one unused", AFTER_SCALES, 0xFF),
    "a spare bit of the used features": spoiled("unused", AFTER_SCALES, 0x0A),
    "a used feature too many": spoiled("unused", AFTER_SCALES, 0x03),
    "many features and no bits": spoiled("unused", 12, 0xFF),
}


BLOBS = {name: file.blob() for name, file in (GOOD | BAD).items()} | SPOILED
NO_ROWS = np.zeros((0, 0), np.float32)


def job(name):
    blob = BLOBS[name]
    return Job(blob, np.zeros((2, int.from_bytes(blob[10:14], "little")), np.float32) if name in GOOD else NO_ROWS)


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


def test_names_are_skipped_on_a_device(folder):
    """A device reads no names: that two are the same is for Python to refuse, which does."""
    blob = File((ONE, ONE), names=b"\x01a\x01a").blob()
    with pytest.raises(binfm.ModelFormatError, match="same name"):
        binfm.Model.from_bytes(blob)
    (result,) = GCC["sanitized"].run(folder, [Job(blob, np.zeros((1, 2), np.float32))])
    assert result.status == 0
