"""On the host, binfm.h computes the same scores as Python with every compiler, and never reads out of bounds."""

import time
from dataclasses import replace

import binfm
import blobs
import numpy as np
import pytest
from blobs import NUMERIC, REGRESSION, TEXT, UNUSED, WHOLE, Feature, File
from machines import FIRMWARE, INCLUDE, STRICT, Host, Job, require, run

OK, BAD_LENGTH, BAD_MAGIC, BAD_VERSION, BAD_CHECKSUM, BAD_FORMAT, TOO_LARGE = range(7)
STRICT_CHECK = "-DBINFM_STRICT"
SANITIZED = ("-std=c99", "-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

GCC = {
    "32": Host("gcc", ("-std=c99", "-O2")),
    "8": Host("gcc", ("-std=c99", "-O2", "-DBINFM_WORD_BITS=8u")),
    "plain": Host("gcc", ("-std=c99", "-O2", "-DBINFM_PLAIN_C")),
    "sanitized": Host("gcc", SANITIZED),
    "strict": Host("gcc", (*SANITIZED, STRICT_CHECK)),
    "8, strict": Host("gcc", ("-std=c99", "-O2", "-DBINFM_WORD_BITS=8u", STRICT_CHECK)),
}
MORE = {
    "O0": Host("gcc", ("-std=c99", "-O0")),
    "O3": Host("gcc", ("-std=c99", "-O3", "-march=native")),
    "8, sanitized": Host("gcc", (*SANITIZED, "-DBINFM_WORD_BITS=8u")),
    "big-endian": Host("powerpc-linux-gnu-gcc", ("-static", "-std=c99", "-O2"), "qemu-ppc"),
    "big-endian, plain": Host("powerpc-linux-gnu-gcc", ("-static", "-std=c99", "-Os", "-DBINFM_PLAIN_C"), "qemu-ppc"),
    "c++98": Host("g++", ("-x", "c++", "-std=c++98", "-O2")),
    "clang": Host("clang", ("-std=c99", "-Os")),
    "clang++": Host("clang++", ("-x", "c++", "-std=c++17", "-O2", "-Wno-deprecated")),
    "clang, sanitized": Host("clang", SANITIZED),
    "uninitialized": Host("clang", ("-std=c99", "-O1", "-g", "-fsanitize=memory")),
    "8, uninitialized": Host("clang", ("-std=c99", "-O1", "-g", "-fsanitize=memory", "-DBINFM_WORD_BITS=8u")),
}


def device(machines):
    return [pytest.param(machine, id=name, marks=pytest.mark.device) for name, machine in machines.items()]


def host(machines):
    return [pytest.param(machine, id=name) for name, machine in machines.items()]


def assert_matches_python(jobs, results):
    """Compare header fields, scores and classes with Python's."""
    for job, result in zip(jobs, results, strict=True):
        assert result.status == OK
        want = blobs.expect(job.blob, job.X.astype(np.float32))
        head = (result.features, result.outputs, result.classes, result.exponent)
        assert head == (want.features, want.outputs, want.classes, want.exponent)
        assert [list(row) for row in result.scores] == want.scores
        assert list(result.labels) == want.labels


@pytest.mark.parametrize("machine", host(GCC) + device(MORE))
def test_scores_match_python(machine, folder, jobs):
    assert_matches_python(jobs, machine.run(folder, jobs))


def test_random_files_cover_every_shape(jobs):
    """The tests above rely on it."""
    heads = {tuple(job.blob[14:20]) for job in jobs}
    assert {head[4] for head in heads} >= {1, 2, 3, 4, 5, 6, 7, 40}, "tilings"
    assert len({head[0] for head in heads}) > 30, "numbers of factors"
    assert {head[2] for head in heads} >= {1, 3, 4, 10}, "outputs"
    assert {head[5] for head in heads} == {0, 1, 2, *REGRESSION}, "losses"
    assert {job.blob[20] >> 5 for job in jobs} == set(range(8)), "bits of w"
    for flag in (1, 2, 4, 8, 16):
        assert {job.blob[5] & flag for job in jobs} == {0, flag}
    expected = [blobs.expect(job.blob, job.X[:1].astype(np.float32)) for job in jobs]
    assert any(abs(score) >= 2**53 for a in expected for score in a.scores[0]), "beyond the integers of float64"
    rows = np.concatenate([job.X.ravel() for job in jobs if job.X.dtype == np.float32])
    bits = rows.view(np.uint32)
    for special in blobs.SPECIAL.view(np.uint32):
        assert (bits == special).any(), hex(special)


def test_trained_models_score_like_python(trained, folder):
    """With the public API: the float score is the integer times 2**-e, the class is the index of the label."""
    names = [name for name in trained if name != "text"]
    jobs = [Job(trained[name][0].to_bytes(), np.asarray(trained[name][1], np.float32)) for name in names]
    for name, result in zip(names, GCC["32"].run(folder, jobs), strict=True):
        model, X = trained[name]
        scores = np.array(result.scores, object) * 2.0**-result.exponent
        want = model.decision_function(X)
        np.testing.assert_array_equal(np.squeeze(scores.astype(np.float64)), want)
        if model.classes is not None:
            np.testing.assert_array_equal(model.classes[list(result.labels)], model.predict(X))


def test_string_categories_are_given_by_index(trained, folder):
    model, table = trained["text"]
    strings = model.features[2].categories
    new = np.array([[0.5, None, "mauve", 3, 0], [None, 0.5, strings[1], 4, 0], [0, -0.0, None, None, None]], object)
    table = np.vstack([table[:20], new])
    X = np.array([[np.nan if v is None else index(v, strings) for v in row] for row in table], np.float32)
    (result,) = GCC["32"].run(folder, [Job(model.to_bytes(), X)])
    scores = [row[0] * 2.0**-result.exponent for row in result.scores]
    np.testing.assert_array_equal(scores, model.decision_function(table))


def index(value, strings):
    if not isinstance(value, str):
        return value
    return strings.index(value) if value in strings else len(strings)


def test_first_class_wins_ties(folder):
    """With two classes, the first one if the score is zero."""
    cases = {(5,): 1, (0,): 0, (-1,): 0, (5, 5, 4): 0, (4, 5, 5): 1, (-5, -5, -5): 0, (-2, -1, -1): 1}
    files = [File((Feature(NUMERIC),), outputs=len(k), scales=tuple((b, 0, 0) for b in k)) for k in cases]
    jobs = [Job(file.blob(), np.zeros((1, 1), np.float32)) for file in files]
    for machine in (GCC["32"], GCC["8"]):
        results = machine.run(folder, jobs)
        assert [result.labels[0] for result in results] == list(cases.values())
        assert_matches_python(jobs, results)


@pytest.mark.parametrize("edges", [127, 128, 255, 256, 257, 400])
def test_many_edges(folder, edges):
    """Numbers of edges around which a count takes another byte and an index no longer fits in one."""
    rng = np.random.default_rng(edges)
    jobs = []
    for keys in (
        [int(leading) << 16 for leading in np.linspace(0x0200, 0xFE00, edges)],
        [(int(leading) << 16) + 256 for leading in np.linspace(0x0200, 0xFE00, edges)],
        list(blobs.grid(blobs.UNSIGNED, 3))[:edges],
        list(blobs.grid(blobs.SIGNED, 250))[:edges],
    ):
        file = File((Feature(NUMERIC, tuple(keys)),), m=5)
        jobs.append(Job(file.blob(rng), blobs.samples_for(rng, file, 3 * edges)))
    for machine in (GCC["32"], GCC["8"]):
        assert_matches_python(jobs, machine.run(folder, jobs))


# Limits


def blob_of(active=1, m=1, w_bits=1, c=1, shift_c=0):
    """Return a file with `active` active rows."""
    tilings = next(t for t in range(255, 0, -1) if active % t == 0)
    features = (Feature(NUMERIC),) * (active // tilings)
    scales = ((-(2**31), 65535, c),)
    return File(features, m, tilings=tilings, w_bits=w_bits, shifts=(24, shift_c, 24), scales=scales).blob()


def test_limits(folder):
    """Each pair is the largest accepted model and the smallest rejected one."""
    pairs = [
        (blob_of(active=65_535), blob_of(active=65_536)),
        (blob_of(active=65_280), blob_of(active=65_792)),  # whose square is small modulo 2^32
        (blob_of(active=65_535, m=0, w_bits=5), blob_of(active=65_535, m=0, w_bits=6)),
        (blob_of(active=8191, m=3, w_bits=8), blob_of(active=8192, m=3, w_bits=8)),
        (blob_of(active=8 * 255, m=1032), blob_of(active=8 * 255, m=1033)),
        (blob_of(active=255, m=129, c=32767, shift_c=24), blob_of(active=255, m=130, c=32767, shift_c=24)),
    ]
    jobs = [Job(blob, np.zeros((1, int.from_bytes(blob[10:14], "little")), np.float32)) for p in pairs for blob in p]
    assert [blobs.is_too_large(job.blob) for job in jobs] == [False, True] * len(pairs)
    for machine in (GCC["sanitized"], GCC["8"]):
        results = machine.run(folder, jobs)
        assert [result.status for result in results] == [OK, TOO_LARGE] * len(pairs)
        assert_matches_python(jobs[::2], results[::2])


def test_file_of_four_megabytes_is_rejected(folder):
    categories = (4 * 2**20 - 100) * 4
    small, large = (File((Feature(WHOLE, range(n)),), m=1).blob() for n in (categories, categories + 400))
    assert len(small) < 2**22 <= len(large)
    jobs = [
        Job(small, np.array([[0], [categories - 1], [categories]], np.float32)),
        Job(large, np.zeros((0, 1), np.float32)),
    ]
    results = GCC["32"].run(folder, jobs)
    assert_matches_python(jobs[:1], results[:1])
    assert results[1].status == TOO_LARGE


def test_work_is_bounded_by_the_size_of_a_file(folder):
    """65,535 outputs of as many factors, of a feature that is unused: 131 KB, and no weights."""
    file = File(features=(Feature(UNUSED),), m=65_535, outputs=65_535, scales=((0, 1, 1),) * 65_535)
    begin = time.perf_counter()
    (result,) = GCC["32"].run(folder, [Job(file.blob(), np.zeros((1, 1), np.float32))])
    assert result.status == OK
    assert time.perf_counter() - begin < 2, "including compilation; without a bound, 3 s for each score"


def test_float_weights_are_rejected(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2)).astype(np.float32)
    files = [binfm.train(X, X[:, 0] > 0, method=method, m=2, epochs=1).to_bytes() for method in ("sefm", "dfm", "fm")]
    results = GCC["32"].run(folder, [Job(blob, np.zeros((0, 2), np.float32)) for blob in files])
    assert [result.status for result in results] == [BAD_FORMAT] * 3


# Hostile files


def compare_with_python(folder, machine, candidates):
    """Check that C and Python score the same files alike; return how many C accepted and rejected.

    With BINFM_STRICT both reject the same files. Without it, C may score a file that Python rejects, within its bounds.
    """
    jobs, expected = hostile_jobs(candidates)
    results = machine.run(folder, jobs)
    for job, result, want in zip(jobs, results, expected, strict=True):
        if want is None:
            assert STRICT_CHECK not in machine.options or result.status not in (OK, TOO_LARGE), job.blob.hex()
        elif blobs.is_too_large(job.blob):
            assert result.status == TOO_LARGE, job.blob.hex()
        else:
            assert result.status == OK, job.blob.hex()
            assert [list(row) for row in result.scores] == want.scores, job.blob.hex()
    accepted = sum(result.status == OK for result in results)
    return accepted, len(results) - accepted


def hostile_jobs(candidates):
    """Return a job for each file, and Python's scores of its samples, or None if Python rejects it."""
    rng = np.random.default_rng(0)
    jobs, expected = [], []
    for blob in candidates:
        features = int.from_bytes(blob[10:14], "little")
        X = rng.choice(blobs.SPECIAL, (2, features) if features < 3000 else (0, 0)).astype(np.float32)
        try:
            blobs.binfm.Model.from_bytes(blob)
        except blobs.binfm.ModelFormatError as error:
            if "same name" in str(error) or "card" in str(error):  # the rules that C does not check
                continue
            expected.append(None)
        else:
            expected.append(blobs.expect(blob, X.reshape(len(X), features)))
        jobs.append(Job(blob, X))
    return jobs, expected


@pytest.fixture(scope="session")
def valid_files():
    """Small files that together use every part of the format."""
    rng = np.random.default_rng(0)
    numeric = [Feature(NUMERIC, blobs.random_edges(rng, 4, w), missing=w % 2 == 0) for w in (1, 2, 3, 4, 1, 1, 1)]
    integers = [Feature(WHOLE, (-(2 ** (8 * w - 1)), 0, 1), width=w) for w in (1, 2, 4, 8)]
    strings = Feature(TEXT, ("", "a", "aé", "日", "😀"), missing=True)
    copied = tuple(replace(feature, copies=True) for feature in (numeric[1], integers[0], strings))
    plain = (*numeric, Feature(NUMERIC), Feature(UNUSED))
    return [
        File(plain, m=2, names=b"".join(blobs.string(f"{j}é") for j in range(len(plain)))).blob(),
        File((*integers, Feature(WHOLE, (0, 1, 2))), m=1, loss=3, sparse=True).blob(),
        File((strings, Feature(UNUSED)), m=3, labels=bytes([3])).blob(),
        File((numeric[0], *copied), m=1, tilings=2, labels=bytes([1, 1, 256 - 5, 9])).blob(),
        File(plain[:2], m=1, outputs=3, scales=((1, 2, 3),) * 3, labels=bytes([4, 0, 1, 97, 2, 97, 98])).blob(),
        File(plain[:2], m=0, w_bits=8, tilings=3, card='{"a": [1]}').blob(),
        File(plain[:1], m=4, labels=bytes([2]) + np.array([-1.5, 2.0]).tobytes()).blob(),
        File(plain[:1], m=4, labels=bytes([1, 8]) + np.array([-1, 2**40]).tobytes()).blob(),
    ]


def flips(blob):
    """Yield the file with each bit flipped and the checksum repaired."""
    for bit in range(8 * (len(blob) - 4)):
        body = bytearray(blob[:-4])
        body[bit // 8] ^= 1 << bit % 8
        yield blobs.with_checksum(body)


def truncations(blob):
    """Yield the file truncated at each byte, as is and with length and checksum repaired."""
    for end in range(len(blob)):
        yield blob[:end]
        if end >= 10:
            yield blobs.with_checksum(blob[:6] + (end + 4).to_bytes(4, "little") + blob[10:end])


def splices(blob, rng, n):
    """Yield the file with a few bytes replaced, inserted or removed."""
    for _ in range(n):
        body = bytearray(blob[:-4])
        at = int(rng.integers(10, len(body)))
        end = at + int(rng.integers(0, 4))
        body[at:end] = rng.choice([0, 1, 2, 3, 0x7F, 0x80, 0xFF, rng.integers(0, 256)], rng.integers(0, 5)).tolist()
        body[6:10] = (len(body) + 4).to_bytes(4, "little")
        yield blobs.with_checksum(body)


@pytest.mark.parametrize("machine", ["sanitized", "strict"])
def test_damaged_files_are_rejected_or_score_like_python(folder, valid_files, machine):
    rng = np.random.default_rng(3)
    candidates = [c for v in valid_files for c in (v, *flips(v), *truncations(v), *splices(v, rng, 300))]
    accepted, rejected = compare_with_python(folder, GCC[machine], candidates)
    assert accepted > 1000
    assert rejected > 4000


@pytest.mark.device
@pytest.mark.parametrize("machine", device({n: MORE[n] for n in ("8, sanitized", "clang, sanitized", "uninitialized")}))
def test_more_damaged_files(folder, valid_files, machine):
    rng = np.random.default_rng(4)
    candidates = [c for v in valid_files for c in (*flips(v), *truncations(v), *splices(v, rng, 3000))]
    assert min(compare_with_python(folder, machine, candidates)) > 1000


def test_flipped_bit_is_detected(folder, valid_files):
    jobs = []
    for bit in range(8 * len(valid_files[0])):
        body = bytearray(valid_files[0])
        body[bit // 8] ^= 1 << bit % 8
        jobs.append(Job(bytes(body), np.zeros((0, 0), np.float32)))
    statuses = {result.status for result in GCC["32"].run(folder, jobs)}
    assert statuses == {BAD_LENGTH, BAD_MAGIC, BAD_VERSION, BAD_CHECKSUM}


# Dependencies


def test_no_dependencies(folder):
    """No external symbols, no data, no floating-point registers, no recursion."""
    require("gcc", "nm", "size")
    source = folder / "all.c"
    source.write_text((FIRMWARE / "all.c").read_text())
    flags = ["-std=c99", "-ffreestanding", "-mgeneral-regs-only", "-fcallgraph-info", *STRICT, f"-I{INCLUDE}"]
    for optimize in ("-Os", "-O2", "-O3"):
        run(["gcc", *flags, optimize, "-c", source, "-o", folder / "all.o"], cwd=folder)
        assert run(["nm", "--undefined-only", folder / "all.o"]) == b""
        _, data, bss, *_ = run(["size", folder / "all.o"]).split(b"\n")[1].split()
        assert (data, bss) == (b"0", b"0")
        assert_no_cycle((folder / "all.ci").read_text())


def assert_no_cycle(callgraph):
    """Check the call graph reported by gcc for recursion."""
    calls = {}
    for line in callgraph.splitlines():
        words = line.split('"')
        if line.startswith("edge:"):
            calls.setdefault(words[1], set()).add(words[3])
    assert calls

    def visit(name, callers):
        assert name not in callers, f"{name} is recursive"
        for called in calls.get(name, ()):
            visit(called, callers | {name})

    for name in calls:
        visit(name, frozenset())
