"""`model.export_c` writes a header that compiles everywhere and tests itself."""

import re
import struct
import time

import binfm
import blobs
import numpy as np
import pytest
from binfm import export
from blobs import NUMERIC, Feature, File
from machines import FIRMWARE, INCLUDE, STRICT, TARGETS, need, run

MAIN = """
#include "model.h"
#include <stdio.h>
int main(void) { printf("%d %s %u", (int)gesture_selftest(), GESTURE_ID, GESTURE_CLASSES); return 0; }
"""


def compiled(folder, compiler="gcc", *options):
    """Compile a program that includes model.h, run it, and return what it says."""
    need(compiler)
    (folder / "main.c").write_text(MAIN)
    run([compiler, "-std=c99", *STRICT, *options, folder / "main.c", "-o", folder / "main"])
    return run([folder / "main"]).decode().split()


@pytest.mark.parametrize("name", ["binary", "classes", "labels", "regression", "sparse", "text"])
@pytest.mark.parametrize("runtime", [False, True], ids=["apart", "inside"])
def test_an_exported_model_tests_itself(trained, tmp_path, name, runtime):
    model, _ = trained[name]
    model.export_c(tmp_path / "model.h", name="gesture", runtime=runtime)
    status, _, classes = compiled(tmp_path, "gcc", *([] if runtime else [f"-I{INCLUDE}"]))
    assert int(status) == 0
    assert int(classes) == (0 if model.classes is None else len(model.classes))


def test_a_changed_model_fails_its_test(trained, tmp_path):
    """A damaged byte is found by the checksum; a sound model with other bits by its scores."""
    model, _ = trained["binary"]
    model.export_c(tmp_path / "model.h", name="gesture")
    text = (tmp_path / "model.h").read_text()
    blob = model.to_bytes(labels=False)
    damaged = bytearray(blob)
    damaged[27] ^= 16  # the bias
    for other, status in ((bytes(damaged), 4), (blobs.signed(damaged[:-4]), 7)):
        (tmp_path / "model.h").write_text(text.replace(listing(blob), listing(other)))
        assert compiled(tmp_path, "gcc", f"-I{INCLUDE}")[0] == str(status)


def listing(blob):
    return "\n".join(export._array("gesture_model", "GESTURE_BYTES", blob))


def test_the_same_model_gives_the_same_text(trained, tmp_path):
    for model, _ in trained.values():
        for path in ("a.h", "b.h"):
            binfm.Model.from_bytes(model.to_bytes()).export_c(tmp_path / path, name="gesture")
        assert (tmp_path / "a.h").read_bytes() == (tmp_path / "b.h").read_bytes()


def test_the_header_holds_the_model(trained, tmp_path):
    model, _ = trained["classes"]
    model.export_c(tmp_path / "model.h", name="gesture")
    text = (tmp_path / "model.h").read_text("ascii")
    array = re.search(r"gesture_model\[GESTURE_BYTES\] BINFM_FLASH = \{([^}]*)\}", text)[1]
    assert bytes(int(byte) for byte in array.replace("\n", "").rstrip(",").split(",")) == model.to_bytes(labels=False)
    assert f"#define GESTURE_BYTES {len(model.to_bytes(labels=False))}u" in text
    assert f"#define GESTURE_FEATURES {model.n_features}u" in text


def test_the_comment_names_what_x_holds(trained, tmp_path):
    model, _ = trained["text"]
    model.export_c(tmp_path / "model.h")
    text = (tmp_path / "model.h").read_text("ascii")
    head = text[: text.index("*/")]
    for line in ("0  number", "1  number, ", "NaN is a value", '0 "green *\\/"', "one of -500 3 70000", "4  not used"):
        assert line in head
    assert text.count("*/") == text.count("/*"), "a category cannot end the comment"


def test_the_self_test_touches_every_sort_of_cell(trained):
    """Over the rows, each feature has NaN, something unknown or on the edge, and several cells."""
    for model, _ in trained.values():
        values = export.self_test(model)
        functions = export.Header.of(model.to_bytes()).functions
        row = 4 * model.n_features
        size = row + 8 * functions
        assert len(values) == export.TEST_ROWS * size
        rows = np.array([np.frombuffer(values[at : at + row], "<f4") for at in range(0, len(values), size)])
        assert np.isnan(rows).any(axis=0).all()
        for column, feature in zip(rows.T, model.features, strict=True):
            if feature.kind == "numeric" and len(feature.edges):
                cells = {int(np.sum(x >= feature.edges)) for x in column if not np.isnan(x)}
                assert {0, len(feature.edges)} <= cells
                assert set(column) & set(feature.edges), "on an edge"
            if feature.kind == "categorical":
                known = range(len(feature.levels)) if isinstance(feature.levels[0], str) else feature.levels
                assert set(column) & set(known)
                assert {x for x in column if not np.isnan(x)} - set(known), "an unknown category"
            assert np.signbit(column[column == 0]).any() or feature.kind == "categorical", "-0.0"
        scores = {struct.unpack_from("<q", values, at + row)[0] for at in range(0, len(values), size)}
        assert len(scores) > 3, "rows differ in their scores"


@pytest.mark.parametrize("name", ["", "1a", "a b", "a-b", "größe", "int", "binfm", "BinfmX", "_x", "a\n", "x;"])
def test_a_name_must_be_an_identifier(trained, tmp_path, name):
    with pytest.raises(ValueError, match=r"^name: got .*; accepted is a C identifier .*$"):
        trained["binary"][0].export_c(tmp_path / "model.h", name=name)
    assert list(tmp_path.iterdir()) == []


def test_arguments_of_the_wrong_type_are_named(trained, tmp_path):
    model, _ = trained["binary"]
    with pytest.raises(TypeError, match=r"^name: got NoneType; accepted"):
        model.export_c(tmp_path / "model.h", name=None)
    with pytest.raises(TypeError, match=r"^runtime: got 'yes'; accepted"):
        model.export_c(tmp_path / "model.h", runtime="yes")
    with pytest.raises(TypeError, match=r"^path: got NoneType; accepted"):
        model.export_c(None)
    with pytest.raises(FileNotFoundError):
        model.export_c(tmp_path / "no" / "model.h")


def test_what_the_runtime_refuses_is_not_exported(tmp_path):
    model = binfm.Model.from_bytes(File((Feature(NUMERIC),) * 512, m=1, tilings=128).blob())
    with pytest.raises(ValueError, match=r"^model: got 65536 rows .*; accepted by the C runtime are up to 65535$"):
        model.export_c(tmp_path / "model.h")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="65536"):
        model.size_report("avr")


def test_a_large_model_compiles_in_a_second(tmp_path):
    need("gcc")
    rng = np.random.default_rng(0)
    file = File(tuple(Feature(NUMERIC, blobs.random_edges(rng, 60, 4)) for _ in range(100)), m=250)
    binfm.Model.from_bytes(file.blob(rng)).export_c(tmp_path / "model.h", name="gesture", runtime=True)
    assert (tmp_path / "model.h").stat().st_size > 500_000
    (tmp_path / "main.c").write_text('#include "model.h"\nint main(void) { return (int)gesture_selftest(); }\n')
    began = time.process_time()
    run(["gcc", "-std=c99", "-Os", *STRICT, tmp_path / "main.c", "-o", tmp_path / "main"])
    assert time.process_time() - began < 1
    run([tmp_path / "main"])


@pytest.mark.device
@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("model", ["binary", "labels", "text"])
def test_an_exported_model_tests_itself_on_devices(trained, tmp_path, name, model):
    """The header is compiled into a firmware, which reports the status of its self-test as that of a model."""
    target = TARGETS[name]
    trained[model][0].export_c(tmp_path / "model.h", name="gesture")
    main = tmp_path / "main.c"
    main.write_text(
        '#include "model.h"\n#include "io.h"\n'
        "int main(void) { put_byte((uint8_t)gesture_selftest()); finish(); return 0; }\n"
    )
    machine = "avr.c" if name == "avr" else "semihosting.c"
    elf = target.compile(tmp_path, [main, machine], "self.elf", f"-I{tmp_path}", f"-I{FIRMWARE}")
    (tmp_path / "input").write_bytes(b"\0")
    target.emulate(tmp_path, elf, False)
    assert (tmp_path / "output").read_bytes() == b"\0"
