"""Numbers and dates as people write them."""

import math

import numpy as np
import pytest
from binfm._text import alike, dates, figure, number, numbers, signed
from hypothesis import given
from hypothesis import strategies as st

FLOATS = st.floats(allow_nan=False, allow_infinity=False, width=32)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-0.0, "0"), (2013, "2013"), (2013.2, "2013"), (0.05, "0.05"), (-12.3456, "-12.3"),
        (12_500, "12,500"), (-123_456.7, "-123,457"), (1_200_000, "1.2e6"), (1_234_567, "1.23e6"), (2e-5, "2e-5"),
        (0.00012345, "0.000123"), (999_999.9, "1e6"), (9999.7, "10,000"), (99.96, "100"), (1e300, "1e300"),
        (math.inf, "inf"),
    ],
)  # fmt: skip
def test_a_number(value, text):
    assert number(value) == text


def test_numbers_are_told_apart():
    assert numbers([2012.5, 2013.5]) == ["2012.5", "2013.5"]
    assert numbers([1.00012, 1.00013]) == ["1.00012", "1.00013"]
    assert numbers([1_234_567.0, 1_234_568.0]) == ["1,234,567", "1,234,568"]
    assert numbers(np.float32([0.3, 0.7]).tolist()) == ["0.3", "0.7"]
    assert numbers([]) == []


@given(st.lists(FLOATS, unique=True, max_size=8))
def test_different_numbers_look_different(values):
    texts = numbers(values)
    assert len(set(texts)) == len(set(values))
    read = [float(text.replace(",", "")) for text in texts]
    assert read == pytest.approx(values, rel=0.006)


@given(FLOATS)
def test_a_sign_is_written_once(value):
    assert signed(value)[0] in "+-"
    assert signed(value)[1:].count("-") == signed(value).count("e-")


def test_an_axis_writes_its_numbers_alike():
    assert alike([0.55, 0.6, 0.65]) == ["0.55", "0.60", "0.65"]
    assert alike([-5000, 0, 5000, 10_000]) == ["-5,000", "0", "5,000", "10,000"]
    assert alike([0, 5e5, 1e6]) == ["0", "0.5e6", "1.0e6"]
    assert alike([2010, 2015]) == ["2010", "2015"]
    assert alike([0, 2e-7]) == ["0", "200e-9"]
    assert alike([0.1 + 0.2, 0.4]) == ["0.3", "0.4"]
    assert alike([0.0]) == ["0"]
    assert alike([]) == []


@given(st.floats(-1e9, 1e9), st.floats(1e-3, 1e6), st.integers(2, 9))
def test_ticks_of_an_axis_never_look_the_same(begin, step, count):
    texts = alike([round(begin / step) * step + i * step for i in range(count)])
    assert len(set(texts)) == count


def test_dates():
    assert dates([0, 15_706]) == ["1970-01-01", "2013-01-01"]
    assert dates([15_706.25, 15_706.5]) == ["2013-01-01 06:00", "2013-01-01 12:00"]
    assert dates([15_706.25, 15_709.5]) == ["2013-01-01", "2013-01-04"]
    assert dates([1e9, 2e9]) == ["1e9", "2e9"]
    assert len(set(dates([0.0, 1e-7]))) == 2


def test_whole_numbers_in_full():
    assert figure(1_234_567) == "1,234,567"
    assert figure(np.float64(12.34567)) == "12.35"
