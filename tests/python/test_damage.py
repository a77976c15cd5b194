"""Damaged, truncated and hostile files are rejected; a failed save leaves the old file intact."""

import re
import struct

import binfm
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

SORTS = [
    "binary", "text labels", "text categories", "names", "sparse", "regression", "four bits", "additive", "sefm", "dfm",
    "fm",
]  # fmt: skip

HEADER = {
    "magic": (0, 4), "version": (4, 1), "flags": (5, 1), "length": (6, 4), "features": (10, 4), "m": (14, 2),
    "functions": (16, 2), "tilings": (18, 1), "loss": (19, 1), "shift_a": (20, 1), "shift_c": (21, 1),
    "shift_bias": (22, 1), "exponent": (23, 2), "usual edges": (25, 2), "bias": (27, 4), "a": (31, 2), "c": (33, 2),
}  # fmt: skip


def crc32c(data):
    """CRC-32C (Castagnoli), bit by bit."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def signed(body):
    """Return a body followed by its checksum."""
    return bytes(body) + struct.pack("<I", crc32c(body))


def try_hostile(blob):
    """Read a file of arbitrary contents: it is either rejected or a model that scores."""
    try:
        model = binfm.Model.from_bytes(blob)
    except binfm.ModelFormatError as rejected:
        error = rejected
    else:
        error = None
    if error is not None:
        assert re.search(r"at byte \d+$", str(error)), "the place is named"
        return
    assert model.to_bytes() == blob, "what is accepted is canonical"
    X = np.repeat(np.array([[np.nan], [0.0], [1e9], [np.inf], [-np.inf]]), model.n_features, axis=1)
    table = X.astype(object) if model._vocabularies else X
    scores = model.decision_function(table)
    assert len(scores) == len(model.predict(table)) == len(X)
    for row, score in zip(table, scores, strict=True):
        np.testing.assert_array_equal(model.score_row(row), score)
    if not model._vocabularies:
        np.testing.assert_array_equal(model.decision_function(sparse.csr_array(X)), scores)
    assert model.V.size == model.w.size * model.m
    assert len(model.features) == model.n_features
    assert not any(np.isnan(edges).any() for edges in model.edges)
    assert sum(model.size_report().values()) == len(blob)


@pytest.fixture(params=SORTS)
def blob(request, models):
    return models[request.param][0].to_bytes()


def test_the_checksum_is_crc32c_of_everything_before_it(blob):
    assert crc32c(b"123456789") == 0xE3069283
    assert signed(blob[:-4]) == blob


def test_a_file_truncated_anywhere_is_rejected(blob):
    for end in range(len(blob)):
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(blob[:end])


def test_a_flipped_bit_anywhere_is_rejected(blob):
    for bit in range(8 * len(blob)):
        damaged = bytearray(blob)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(damaged)


def test_trailing_bytes_are_rejected(blob):
    for extra in (b"\0", b"x", blob):
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(blob + extra)
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(signed(blob[:-4] + extra))


@pytest.mark.parametrize("field", HEADER)
def test_a_signed_header_with_extreme_numbers_is_rejected_or_harmless(blob, field):
    at, size = HEADER[field]
    top = 256**size
    for value in {0, 1, 2, 3, 62, 63, 64, 127, 128, top // 2 - 1, top // 2, top - 2, top - 1}:
        body = bytearray(blob[:-4])
        body[at : at + size] = (value % top).to_bytes(size, "little")
        try_hostile(signed(body))


def test_an_unknown_flag_version_or_loss_is_rejected(blob):
    for at, value in [
        (0, 0),
        (4, 0),
        (4, 2),
        (4, 255),
        (5, blob[5] | 16),
        (5, blob[5] | 128),
        (19, 8),
        (19, 255),
    ]:
        body = bytearray(blob[:-4])
        body[at] = value
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(signed(body))


def test_softmax_with_one_output_is_rejected(models):
    body = bytearray(models["binary"][0].to_bytes()[:-4])
    body[19] = 4
    with pytest.raises(binfm.ModelFormatError, match="number of outputs"):
        binfm.Model.from_bytes(signed(body))


@given(st.data())
@settings(max_examples=300)
def test_signed_noise_is_refused_or_harmless(models, data):
    body = bytearray(models[data.draw(st.sampled_from(SORTS))][0].to_bytes()[:-4])
    for _ in range(data.draw(st.integers(1, 4))):
        body[data.draw(st.integers(10, len(body) - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        at = data.draw(st.integers(27, len(body)))
        body[at : data.draw(st.integers(at, len(body)))] = data.draw(st.binary(max_size=40))
        body[6:10] = struct.pack("<I", len(body) + 4)
    try_hostile(signed(body))


@given(st.binary(max_size=200))
def test_arbitrary_bytes_are_rejected(noise):
    for blob in (noise, signed(noise), signed(b"\xb1FM\n\x01" + noise)):
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(blob)


def test_every_byte_of_the_body_may_be_hostile(blob):
    for at in range(27, len(blob) - 5):
        for value in (b"\0", b"\xff", bytes([blob[at] ^ 0x80]), bytes([blob[at] ^ 1]), b"\0\0", b"\xff\xff"):
            body = bytearray(blob[:-4])
            body[at : at + len(value)] = value
            try_hostile(signed(body))


def unlisted_categories(count, features, bits, tag=2 | 4):
    """Return a file whose features have categories 0, 1, …, stored only as a count."""
    groups = [count >> shift & 0x7F for shift in range(0, max(count.bit_length(), 1), 7)]
    feature = bytes([tag, *(group | 0x80 for group in groups[:-1]), groups[-1]])
    body = struct.pack("<4sBBIIHHBBBBBhH", b"\xb1FM\n", 1, 0, 0, features, 1, 1, 2, 0, 0, 0, 0, 0, 0)
    body = bytearray(body + bytes(8) + feature * features + bits)
    body[6:10] = struct.pack("<I", len(body) + 4)
    return signed(body)


def test_a_category_count_is_not_truncated():
    assert binfm.Model.from_bytes(unlisted_categories(2, 1, b"\xa5")).features[0].categories == (0, 1)
    for count in (0, 1, 3, 2**31, 2**32, 2**32 + 2, 2**33 + 2, 2**35 - 1):
        with pytest.raises(binfm.ModelFormatError):
            binfm.Model.from_bytes(unlisted_categories(count, 1, b"\xa5"))


def test_rows_for_missing_values_do_not_overflow():
    """With two more rows for NaN, 2**32 - 1 categories of two rows overflowed, and values pointed past the table."""
    for count in (2**31, 2**32 - 2, 2**32 - 1):
        for bits in (b"\1", b"\1\0", bytes(200)):
            with pytest.raises(binfm.ModelFormatError, match="too many parameter rows"):
                binfm.Model.from_bytes(unlisted_categories(count, 1, bits, tag=2 | 4 | 8))


def test_a_hostile_header_allocates_nothing_large(run_python, models, tmp_path):
    """Every count at its maximum, in a process that may allocate only 100 MB more."""
    files = []
    for kind in SORTS:
        blob = models[kind][0].to_bytes()
        for at, size in HEADER.values():
            body = bytearray(blob[:-4])
            body[at : at + size] = b"\xff" * size
            files.append(signed(body))
        for at in range(27, len(blob) - 8):
            body = bytearray(blob[:-4])
            body[at : at + 4] = b"\xff\xff\xff\x7f"
            files.append(signed(body))
    (tmp_path / "files").write_bytes(b"".join(struct.pack("<I", len(f)) + f for f in files))
    files += [unlisted_categories(1_000_000, features, bytes(200_000)) for features in (100, 1000, 20_000)]
    code = (
        "import sys, struct, resource, binfm\n"
        "blob, at = open(sys.argv[1], 'rb').read(), 0\n"
        "used = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (used + 100_000_000,) * 2)\n"
        "while at < len(blob):\n"
        "    size, = struct.unpack_from('<I', blob, at)\n"
        "    try: binfm.Model.from_bytes(blob[at + 4 : at + 4 + size])\n"
        "    except binfm.ModelFormatError: pass\n"
        "    at += 4 + size\n"
        "print('done')"
    )
    assert run_python(code, tmp_path / "files") == b"done\n"


def test_format_errors_are_value_errors_that_name_the_position(binary, tmp_path):
    assert issubclass(binfm.ModelFormatError, ValueError)
    path = tmp_path / "cut.binfm"
    path.write_bytes(binary.to_bytes()[:60])
    with pytest.raises(binfm.ModelFormatError, match=r"\d"):
        binfm.load(path)
    path.write_bytes(b"PK\x03\x04 something else entirely, and long enough to be a model")
    with pytest.raises(binfm.ModelFormatError):
        binfm.load(path)


# File errors


def test_a_missing_file_raises_file_not_found(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        binfm.load(tmp_path / "absent.binfm")


def test_loading_a_directory_fails(tmp_path):
    with pytest.raises(IsADirectoryError):
        binfm.load(tmp_path)


@pytest.mark.parametrize("path", [None, 3, 1.5, b"a\0b".decode()])
def test_invalid_paths_are_rejected(binary, path):
    with pytest.raises((TypeError, ValueError, OSError)):
        binary.save(path)
    with pytest.raises((TypeError, ValueError, OSError)):
        binfm.load(path)


def test_saving_to_a_missing_directory_raises_file_not_found(binary, tmp_path):
    with pytest.raises(FileNotFoundError):
        binary.save(tmp_path / "no" / "m.binfm")
    assert list(tmp_path.iterdir()) == []


def test_saving_over_a_directory_fails_and_leaves_it_untouched(binary, tmp_path):
    target = tmp_path / "taken"
    target.mkdir()
    (target / "inside").write_text("kept")
    with pytest.raises(IsADirectoryError):
        binary.save(target)
    assert (target / "inside").read_text() == "kept"
    assert [p.name for p in tmp_path.iterdir()] == ["taken"]


def test_a_save_that_runs_out_of_space_leaves_the_old_file(run_python, binary, models, tmp_path):
    path, other = tmp_path / "m.binfm", tmp_path / "other"
    binary.save(path)
    other.write_bytes(models["text labels"][0].to_bytes())
    code = (
        "import sys, signal, resource, binfm\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "model = binfm.load(sys.argv[2])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))\n"
        "try: model.save(sys.argv[1])\n"
        "except OSError as error: print(error.errno)"
    )
    assert run_python(code, path, other).strip() == b"27", "EFBIG"
    assert binfm.load(path) == binary
    assert {p.name for p in tmp_path.iterdir()} == {"m.binfm", "other"}


def test_duplicate_column_names_are_rejected():
    table = pl.DataFrame({"ab": [1, 2, 3], "cd": [3, 1, 2]})
    blob = binfm.train(table, [0, 1, 0], m=2, epochs=1).to_bytes()
    body = blob[:-4].replace(b"\x02cd", b"\x02ab")
    with pytest.raises(binfm.ModelFormatError, match="two columns have the same name at byte"):
        binfm.Model.from_bytes(signed(body))
