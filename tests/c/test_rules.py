"""Every rule of docs/file-format.md: a file that breaks this one rule and no other.

Python rejects it, and so does C with BINFM_STRICT. By default C accepts it if the rule makes no difference to scoring.
"""

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
    with_checksum,
)
from machines import Job
from test_runtime import BAD_FORMAT, GCC, OK, assert_matches_python


@dataclass(frozen=True)
class Raw:
    """A feature given by the bytes of its record, with `rows_` rows of bits."""

    bytes_: bytes
    rows_: int = 1
    kind: int = -1

    def record(self, _edge_count, _parameters):
        return self.bytes_

    def rows(self, _tilings):
        return self.rows_


def numeric(*keys, **kwargs):
    return Feature(NUMERIC, keys, **kwargs)


def coded(form, parameter, *codes):
    """Return a feature with codes; a parameter of None is omitted from the record."""
    own = b"" if parameter is None else bytes([parameter])
    return Raw(bytes([form << 4 | OWN_PARAMETER * len(own)]) + own + bytes(codes), len(codes) + 1)


def leading(width, *numbers):
    edges = b"".join(number.to_bytes(width, "little") for number in numbers)
    return Raw(bytes([1 | width - 1 << 4]) + edges, len(numbers) + 1)


def with_edge_count(count, *features):
    """Return a file with this default edge count."""
    return File(features, edge_count=count)


NONE = numeric()
ONE = numeric(key(1.0))
TWO = numeric(key(1.0), key(2.0))
TINY = numeric(key(1.0) + 1)
SPAN = numeric(key(0.001) >> 19 << 19, key(0.5), key(60.0))
"""Too wide for a linear code grid."""
FAR = numeric(key(1 + 1 / 128), key(1000.0))
"""Too wide for a linear code grid and too fine for a logarithmic one: two-byte edges."""
K3 = {"outputs": 3, "scales": ((1, 2, 3),) * 3}
LONG = "\u0100" * 64
"""128 bytes in UTF-8: the first byte of its count looks like a continuation byte."""


def strings(*raw):
    return Raw(bytes([3]) + count(len(raw)) + b"".join(count(len(string)) + string for string in raw), len(raw))


def categories(width, *numbers):
    return Raw(Feature(WHOLE, numbers, width=width).record(0, {}), len(numbers))


def floats(*numbers):
    return bytes([2]) + struct.pack(f"<{len(numbers)}d", *numbers)


GOOD = {
    "minimal": File((NONE,)),
    "extreme edges": File((numeric(0x7FFFFF, key(-0.0) - 1, key(0.0), 0xFF800000),)),
    "handwritten codes": with_edge_count(1, coded(UNSIGNED, 0, 1)),
    "unsigned codes": File((numeric(*grid(UNSIGNED, 0)), numeric(*grid(UNSIGNED, 119)), numeric(*grid(UNSIGNED, 130)))),
    "signed codes": File((numeric(*grid(SIGNED, 0)), numeric(*grid(SIGNED, 119)), numeric(*grid(SIGNED, 130)))),
    "logarithmic codes": File((SPAN, numeric(*grid(LOGARITHMIC, 254)), numeric(*list(grid(LOGARITHMIC, 0))[1:]))),
    "reused parameters": with_edge_count(1, ONE, coded(UNSIGNED, None, 7), SPAN, coded(UNSIGNED, None, 9)),
    "reused logarithmic grid preferred to a new linear one": File((SPAN, ONE, numeric(key(0.25)))),
    "greatest exponent": File((numeric(key(2.0**121)), numeric(key(-(2.0**126)) + 1))),
    "zero is the only edge": with_edge_count(1, coded(UNSIGNED, 0, 0)),
    "edges of two, three and four bytes": File((FAR, numeric(key(257.0)), TINY)),
    "different edge counts": File((ONE, TWO, ONE, NONE)),
    "tied edge counts": with_edge_count(1, TWO, ONE, ONE, TWO, TINY, SPAN),
    "strings": File((strings(b"", b"\x7f", b"\xc2\x80", b"\xed\x9f\xbf", b"\xee\x80\x80", b"\xf4\x8f\xbf\xbf"),)),
    "long string": File((strings(LONG.encode(), LONG.encode() + b"a"),)),
    "integer categories": File(
        (
            categories(1, -128, 127),
            categories(2, -129, 0),
            categories(2, 0, 128),
            categories(4, -(2**31)),
            categories(8, 2**31),
        )
    ),
    "integer labels": File((ONE,), labels=bytes([1, 1, 0, 2])),
    "float labels": File((ONE,), labels=floats(0.0, 1.0)),
    "float labels around zero": File((ONE,), labels=floats(-1.0, -0.0)),
    "largest float labels": File((ONE,), labels=floats(-1.7976931348623157e308, 1.7976931348623157e308)),
    "boolean labels": File((ONE,), labels=bytes([3])),
    "string labels": File((ONE,), labels=bytes([4, 0, 2, 0xC2, 0x80])),
    "names": File((ONE, Feature(UNUSED), TWO), names=b"\x01b\x00\x02\xc2\x80"),
    "card": File((ONE,), card='{"rows": [1, 2.5e3], "text": "日本"}'),
    "names, labels and card": File((ONE,), labels=bytes([3]), names=b"\x01b", card="{}"),
    "names and labels": File((ONE,), labels=bytes([3]), names=b"\x01b"),
    "three outputs": File((ONE,), **K3),
    "no factors": File((ONE,), m=0),
    "no factors, three outputs": File((ONE, TWO), m=0, **K3),
    "eight bits of w": File((ONE,), w_bits=8),
    "eight bits of w and no factors": File((ONE, TINY), m=0, w_bits=8, tilings=3),
    "more bits than 32 bits can count, but no rows": File(
        (Feature(UNUSED),), m=65535, w_bits=8, outputs=65535, scales=((1, 2, 3),) * 65535
    ),
    "shifts": File((ONE,), shifts=(24, 24, 24), exponent=-1022),
    "exponent": File((ONE,), exponent=1022),
    "copies": File((replace(TWO, copies=True), Feature(WHOLE, (0, 1), copies=True)), tilings=2),
    "unused features": File((Feature(UNUSED), ONE, Feature(UNUSED))),
    "only the ninth feature is used": File((*[Feature(UNUSED)] * 8, ONE)),
    "the eighth of eight features is unused": File((*[ONE] * 7, Feature(UNUSED))),
    "no feature is used": File((Feature(UNUSED),)),
}

BAD = {
    "no features": File(()),
    "no outputs": File((ONE,) * 9, outputs=0, scales=()),
    "two outputs": File((ONE,), outputs=2, scales=((1, 2, 3),) * 2),
    "no tilings": File((Raw(b"\x01", 0),), tilings=0),
    "unknown loss": File((ONE,), loss=8),
    "softmax with one output": File((ONE,), loss=4),
    "regression with three outputs": File((ONE,), loss=3, **K3),
    "counts with three outputs": File((ONE,), loss=5, **K3),
    "shift of a": File((ONE,), shifts=(25, 0, 0)),
    "shift of a with bits of w": File((ONE,), w_bits=8, shifts=(25, 0, 0)),
    "shift of c": File((ONE,), shifts=(0, 25, 0)),
    "shift of bias": File((ONE,), shifts=(0, 0, 25)),
    "exponent too large": File((ONE,), exponent=1023),
    "exponent too small": File((ONE,), exponent=-1023),
    "overlong count": with_edge_count(0, Raw(b"\xc0\x00\x81\x00\x01", 2)),
    "six-byte count": File((Raw(b"\x02\x82\x80\x80\x80\x80\x00", 2),)),
    "count above 32 bits": File((Raw(b"\x02\x82\x80\x80\x80\x10", 2),)),
    "edges of width 0": with_edge_count(1, Raw(b"\x01", 2)),
    "width but no edges": File((Raw(b"\x11", 1),)),
    "codes but no edges": File((Raw(b"\x40\x00", 1),)),
    "leading bytes with a parameter": with_edge_count(1, Raw(b"\x51\x80\xc3", 2)),
    "codes of form 3": with_edge_count(1, coded(3, 0, 1)),
    "parameter above 119": with_edge_count(1, coded(UNSIGNED, 120, 1)),
    "parameter below -126": with_edge_count(1, coded(UNSIGNED, 129, 1)),
    "signed parameter above 119": with_edge_count(1, coded(SIGNED, 120, 1)),
    "logarithmic parameter 255": with_edge_count(1, coded(LOGARITHMIC, 255, 0)),
    "omitted parameter, none to reuse": with_edge_count(1, coded(UNSIGNED, None, 0)),
    "omitted logarithmic parameter, none to reuse": with_edge_count(1, coded(LOGARITHMIC, None, 0)),
    "omitted parameter, only another form to reuse": with_edge_count(1, ONE, coded(SIGNED, None, 1)),
    "infinite code": with_edge_count(1, coded(LOGARITHMIC, 254, 16)),
    "code above inf": with_edge_count(1, coded(LOGARITHMIC, 240, 255)),
    "equal codes": with_edge_count(2, coded(UNSIGNED, 0, 1, 1)),
    "descending codes": with_edge_count(2, coded(UNSIGNED, 0, 3, 1)),
    "equal edges": with_edge_count(2, leading(2, 0xC381, 0xC381)),
    "descending edges": with_edge_count(2, leading(2, 0xC381, 0xC380)),
    "edge above inf": with_edge_count(1, leading(4, 0xFF800001)),
    "two-byte edge above inf": with_edge_count(1, leading(2, 0xFF81)),
    "edge below -inf": with_edge_count(1, leading(4, 0x7FFFFE)),
    "all-zero edge": with_edge_count(1, leading(2, 0)),
    "parameter that should be reused": with_edge_count(1, ONE, coded(UNSIGNED, 0, 7)),
    "logarithmic parameter that should be reused": with_edge_count(3, SPAN, coded(LOGARITHMIC, 117, 0, 144, 254)),
    "linear grid too fine": with_edge_count(1, coded(UNSIGNED, 255, 2)),
    "signed grid too fine": with_edge_count(1, coded(SIGNED, 0, 126)),
    "linear grid too fine, next to the coarsest": with_edge_count(1, coded(UNSIGNED, 118, 8)),
    "zero on a grid other than 2^0": with_edge_count(1, coded(UNSIGNED, 1, 0)),
    "signed codes without a negative edge": with_edge_count(1, coded(SIGNED, 0, 129)),
    "signed codes starting at zero": with_edge_count(2, coded(SIGNED, 0, 128, 129)),
    "logarithmic codes on a linear grid": with_edge_count(1, coded(LOGARITHMIC, 127, 0)),
    "logarithmic codes on a reusable linear grid": with_edge_count(1, ONE, coded(LOGARITHMIC, 129, 0)),
    "reused logarithmic codes on a reusable linear grid": with_edge_count(
        3, numeric(key(1.0), key(2.0), key(5.0)), SPAN, coded(LOGARITHMIC, None, 160, 176, 184)
    ),
    "linear codes on a reusable logarithmic grid": with_edge_count(3, SPAN, coded(UNSIGNED, 254, 1, 2, 3)),
    "logarithmic grid starting too low": with_edge_count(3, coded(LOGARITHMIC, 116, 16, 160, 254)),
    "zero on a logarithmic grid": with_edge_count(2, coded(LOGARITHMIC, 0, 0, 1)),
    "two bytes instead of a code": with_edge_count(1, leading(2, key(1.0) >> 16)),
    "two bytes instead of a signed code": with_edge_count(1, leading(2, key(-1.0) + 1 >> 16)),
    "two bytes instead of a logarithmic code": with_edge_count(3, leading(2, *(edge >> 16 for edge in SPAN.entries))),
    "two bytes instead of a code with a reused parameter": with_edge_count(1, ONE, leading(2, key(7.0) >> 16)),
    "three bytes instead of two": with_edge_count(2, leading(3, *(edge >> 8 for edge in FAR.entries))),
    "three bytes instead of a code": with_edge_count(1, leading(3, key(1.0) >> 8)),
    "four bytes instead of three": with_edge_count(1, leading(4, key(1.0) + 256)),
    "count that equals the default": with_edge_count(1, Raw(b"\xc0\x00\x01\x01", 2)),
    "default edge count without numeric features": with_edge_count(1, categories(1, 5)),
    "default edge count that is not the most common": with_edge_count(2, ONE, TWO, ONE),
    "default edge count that no feature has": with_edge_count(3, ONE, ONE),
    "default edge count that is the larger of a tie": with_edge_count(2, ONE, TWO, TWO, ONE),
    "no categories, width 0": File((Raw(b"\x02\x00", 0), ONE)),
    "no categories, width 1": File((Raw(b"\x12\x00", 0), ONE)),
    "three-byte categories": File((categories(3, 0, 70_000),)),
    "equal categories": File((categories(1, 5, 5),)),
    "descending categories": File((categories(1, 5, -5),)),
    "categories wider than needed": File((categories(2, -128, 127),)),
    "eight-byte categories instead of four": File((categories(8, -(2**31), 2**31 - 1),)),
    "categories 0, 1, 2 listed": File((categories(1, 0, 1, 2),)),
    "category 0 listed": File((categories(1, 0),)),
    "no strings": File((Raw(b"\x03\x00", 0), ONE)),
    "strings with a width": File((Raw(b"\x13\x01\x00", 1),)),
    "equal strings": File((strings(b"a", b"a"),)),
    "descending strings": File((strings(b"b", b"a"),)),
    "prefix after the longer string": File((strings(b"ab", b"a"),)),
    "stray continuation byte": File((strings(b"\x80"),)),
    "overlong two-byte form": File((strings(b"\xc1\xbf"),)),
    "overlong three-byte form": File((strings(b"\xe0\x9f\xbf"),)),
    "overlong four-byte form": File((strings(b"\xf0\x8f\xbf\xbf"),)),
    "surrogate": File((strings(b"\xed\xa0\x80"),)),
    "code point above U+10FFFF": File((strings(b"\xf4\x90\x80\x80"),)),
    "five-byte form": File((strings(b"\xf8\x88\x80\x80\x80"),)),
    "truncated character": File((strings(b"\xc3", LONG.encode()),)),
    "bad third byte": File((strings(b"\xe2\x82a"),)),
    "integer categories without copies": File((Raw(Feature(WHOLE, (0, 1)).record(0, {}), 3),), tilings=2),
    "strings without copies": File((Raw(strings(b"a", b"b").bytes_, 3),), tilings=2),
    "copies with one tiling": File((replace(TWO, copies=True),)),
    "labels for regression": File((ONE,), loss=3, labels=bytes([1, 1, 0, 2])),
    "labels for counts": File((ONE,), loss=5, labels=bytes([1, 1, 0, 2])),
    "labels 0, 1 listed": File((ONE,), labels=bytes([1, 1, 0, 1])),
    "three-byte labels": File((ONE,), labels=bytes([1, 3, 0, 0, 0, 0, 0, 1])),
    "labels of width 0": File((ONE,), labels=bytes([1, 0])),
    "labels wider than needed": File((ONE,), labels=bytes([1, 2, 0, 0, 2, 0])),
    "equal labels": File((ONE,), labels=bytes([1, 1, 2, 2])),
    "descending labels": File((ONE,), labels=bytes([1, 1, 2, 0])),
    "label inf": File((ONE,), labels=floats(1.0, float("inf"))),
    "label -inf": File((ONE,), labels=floats(float("-inf"), 1.0)),
    "label NaN": File((ONE,), labels=floats(1.0, float("nan"))),
    "labels -0.0 and 0.0": File((ONE,), labels=floats(-0.0, 0.0)),
    "equal negative labels": File((ONE,), labels=floats(-1.0, -1.0)),
    "descending negative labels": File((ONE,), labels=floats(-1.0, -2.0)),
    "boolean labels for three classes": File((ONE,), labels=bytes([3]), **K3),
    "unknown kind of labels": File((ONE,), labels=bytes([5])),
    "labels of kind 0": File((ONE,), labels=bytes([0]) + bytes(16)),
    "equal string labels": File((ONE,), labels=bytes([4, 1, 97, 1, 97])),
    "string label that is not UTF-8": File((ONE,), labels=bytes([4, 0, 1, 0xFF])),
    "one label missing": File((ONE,), labels=bytes([4, 0])),
    "one name missing": File((ONE, ONE), names=b"\x01a"),
    "one name too many": File((ONE,), names=b"\x01a\x01b"),
    "name that is not UTF-8": File((ONE,), names=b"\x01\xff"),
    "name that runs past the end": File((ONE,), names=b"\x04abc"),
    "trailing bytes after the labels": File((ONE,), labels=bytes([3, 0])),
}


def patched(name, at, value):
    """Return a valid file with one byte of its body replaced."""
    body = bytearray(GOOD[name].blob()[:-4])
    body[at] = value
    return with_checksum(body)


def resized(body):
    """Return a body with its length filled in."""
    return body[:6] + (len(body) + 4).to_bytes(4, "little") + body[10:]


def wrapped():
    """Return a file with 2^30 + 1 four-byte edges, whose total size in 32-bit arithmetic is four bytes.

    The bytes there ascend, checksum included, so that a reader that believes the size reads past the end.
    """
    edges = struct.pack("<3I", 0x80000001, 0x80000003, 0x80000005)
    feature = Raw(b"\xb1\x81\x80\x80\x80\x04" + edges, 0)
    files = (File((feature,), scales=((bias, 0, 0),)).blob() for bias in range(100))
    return next(blob for blob in files if 0x80000005 < int.from_bytes(blob[-4:], "little") <= 0xFF800000)


def wrapped_row():
    """Return a file of one row, whose 65,535 * 65,543 bits are 393,209 in 32-bit arithmetic; as many are there."""
    file = File((Raw(b"\x01", 0),), m=65535, w_bits=8, outputs=65535, scales=((1, 2, 3),) * 65535)
    body = bytearray(file.blob()[:-4] + bytes(49_152))
    body[6:10] = (len(body) + 4).to_bytes(4, "little")
    return with_checksum(body)


AFTER_SCALES = 35
PATCHED = {
    "count whose size in bytes wraps around": wrapped(),
    "row whose size in bits wraps around": wrapped_row(),
    "padding bit set": patched("minimal", -1, 0x10),
    "unknown flag": patched("minimal", 5, 32),
    "card flag without a card": patched("minimal", 5, 16),
    "card that is not UTF-8": patched("card", -1, 0xFF),
    "trailing bytes after the card": with_checksum(resized(GOOD["card"].blob()[:-4] + b"\0")),
    "names flag without names": patched("minimal", 5, 8),
    "unknown method": patched("minimal", 19, 16),
    "labels flag without labels": patched("minimal", 5, 2),
    "unused flag without unused features": patched("minimal", 5, 4),
    "one feature too many": patched("minimal", 10, 2),
    "unused flag although all features are used": patched("the eighth of eight features is unused", AFTER_SCALES, 0xFF),
    "padding bit of the used mask set": patched("unused features", AFTER_SCALES, 0x0A),
    "one used feature too many": patched("unused features", AFTER_SCALES, 0x03),
    "many features, no bits": patched("unused features", 12, 0xFF),
}


ALWAYS = {
    "no features",
    "no outputs",
    "two outputs",
    "no tilings",
    "unknown loss",
    "softmax with one output",
    "regression with three outputs",
    "counts with three outputs",
    "shift of a",
    "shift of a with bits of w",
    "shift of c",
    "shift of bias",
    "exponent too large",
    "exponent too small",
    "overlong count",
    "six-byte count",
    "count above 32 bits",
    "edges of width 0",
    "width but no edges",
    "codes but no edges",
    "codes of form 3",
    "no categories, width 0",
    "no categories, width 1",
    "three-byte categories",
    "no strings",
    "strings with a width",
    "count whose size in bytes wraps around",
    "row whose size in bits wraps around",
    "unknown flag",
    "unknown method",
    "unused flag without unused features",
    "one feature too many",
    "unused flag although all features are used",
    "one used feature too many",
    "many features, no bits",
}
"""Rules that scoring relies on: without them it would read out of bounds, or not know what to compute."""


BLOBS = {name: file.blob() for name, file in (GOOD | BAD).items()} | PATCHED


def job(name):
    features = int.from_bytes(BLOBS[name][10:14], "little")
    return Job(BLOBS[name], np.zeros((2, features) if features < 3000 else (0, 0), np.float32))


def run_all(folder, machine):
    """Return the result of the C runtime for each file."""
    return dict(zip(BLOBS, GCC[machine].run(folder, [job(name) for name in BLOBS]), strict=True))


@pytest.fixture(scope="module", params=["strict", "8, strict"])
def results(request, folder):
    return run_all(folder, request.param)


@pytest.fixture(scope="module", params=["sanitized", "8"])
def lenient_results(request, folder):
    return run_all(folder, request.param)


@pytest.mark.parametrize("name", GOOD)
def test_valid_file_is_scored(results, lenient_results, name):
    binfm.Model.from_bytes(BLOBS[name])
    assert_matches_python([job(name), job(name)], [results[name], lenient_results[name]])


@pytest.mark.parametrize("name", [*BAD, *PATCHED])
def test_broken_rule_is_detected(results, name):
    with pytest.raises(binfm.ModelFormatError):
        binfm.Model.from_bytes(BLOBS[name])
    assert results[name].status == BAD_FORMAT


@pytest.mark.parametrize("name", [*BAD, *PATCHED])
def test_rule_that_scoring_relies_on_is_always_checked(lenient_results, name):
    assert lenient_results[name].status == (BAD_FORMAT if name in ALWAYS else OK)


@pytest.mark.parametrize("what", ["names", "card"])
def test_what_a_device_never_reads_may_be_wrong_there(folder, what):
    """Only Python rejects duplicate names, and a card that is not JSON."""
    wrong = {"names": {"names": b"\x01a\x01a"}, "card": {"card": "{'a': 1}"}}[what]
    blob = File((ONE, ONE), **wrong).blob()
    with pytest.raises(binfm.ModelFormatError, match=r"same name|card"):
        binfm.Model.from_bytes(blob)
    (result,) = GCC["strict"].run(folder, [Job(blob, np.zeros((1, 2), np.float32))])
    assert result.status == OK
