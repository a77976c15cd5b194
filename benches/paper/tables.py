"""The paper's three tables, and one of other FM implementations, in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from paper import published
from paper.agenda import DECIMALS, FAMILY, SIZED, STRENGTHS
from paper.summary import SHAPE, Mean, Summary
from paper.systems import LABELS, OTHERS

NONE = "–"
FORMULAS = {
    "fm": "32·(d + m·d)",
    "sefm": "32·(d·b + m·d·b)",
    "dfm": "32·d + m·d",
    "bfm1": "d·b + m·d·b",
    "bfm4": "d·b + m·d·b",
}


def memory_formulas(summary: Summary) -> str:
    """Table 1: bits by the paper's formulas, and the actual file size."""
    rows = []
    for data in SIZED:
        for name in FAMILY:
            record = summary.store.records.get(f"size/{data}/{name}")
            if record is None or data not in summary.data:
                continue
            weights = record["bits"] / 8
            parts = record["parts"] or {}
            largest = ", ".join(f"{part} {count:,}" for part, count in parts.items())
            rows.append(
                [data, LABELS[name], FORMULAS[name], f"{weights:,.0f}", f"{record['bytes']:,}", largest or NONE]
            )
    return table(
        ["data", "", "bits per output", "all outputs, bytes", "file, bytes", "of which"], rows, left=(0, 1, 2, 5)
    )


def accuracies(summary: Summary) -> str:
    rows = []
    for data in summary.data:
        means = {name: summary.mean(data, name) for name in summary.systems}
        best = max((round(mean.accuracy, 2) for mean in means.values() if mean), default=0.0)
        rows.append([f"**{data}**", "here", *[_accuracy(means[name], best) for name in summary.systems]])
        rows.append([summary.data[data].shape, "paper", *[_published(data, name) for name in summary.systems]])
    for data in summary.missing:
        rows.append([f"**{data}**", "here", *["missing"] * len(summary.systems)])
        rows.append(["", "paper", *[_published(data, name) for name in summary.systems]])
    return table(["accuracy %", "", *_labels(summary)], rows, left=(0, 1))


def times(summary: Summary) -> str:
    rows = []
    for data in summary.timed:
        ms = [summary.ms(data, name) for name in summary.systems]
        ours = summary.ms(data, "bfm1")
        rows.append([_name(data), "here, ms", *[NONE if each is None else _digits(each, 3) for each in ms]])
        ratios = [NONE if each is None or not ours else f"{_digits(each / ours, 2)}×" for each in ms]
        rows.append([f"{summary.times(data)['rows']:,} rows", "Binarized FM = 1", *ratios])
        rows.append(["", "paper, ms", *[_published_ms(data, name) for name in summary.systems]])
    return table(["prediction time", "", *_labels(summary)], rows, left=(0, 1))


def memory(summary: Summary) -> str:
    rows = []
    for data in summary.timed:
        ratios = [summary.memory(data, name) for name in summary.systems]
        sizes = [summary.bytes(data, name) for name in summary.systems]
        rows.append(
            [_name(data), "here, FM = 1", *[NONE if each is None else f"{_digits(each, 3)}×" for each in ratios]]
        )
        rows.append(["", "paper, FM = 1", *[_published_memory(data, name) for name in summary.systems]])
        rows.append(["", "bytes", *[NONE if each is None else f"{each:,.0f}" for each in sizes]])
    return table(["memory", "", *_labels(summary)], rows, left=(0, 1))


def scaling(summary: Summary) -> str:
    """Table 3."""
    rows = []
    for data in summary.data:
        accuracy, deviation, ms = published.WITHOUT_SCALING[data]
        theirs = published.TABLE_2[data]["bfm1"]
        cells = [_accuracy(summary.mean(data, name)) for name in ("unscaled", "bfm1")]
        ours = [_ms(summary.ms(data, name)) for name in ("unscaled", "bfm1")]
        rows.append([data, "accuracy %", *cells, f"{accuracy:.2f} ± {deviation:.2f}", _plus_minus(theirs)])
        rows.append(["", "prediction, ms", *ours, f"{ms:g}", f"{theirs.ms:g}"])
    head = ["", "", "without, here", "with, here", "without, paper", "with, paper"]
    return table(head, rows, left=(0, 1))


def others(summary: Summary) -> str:
    names = [name for name in ("fm", *OTHERS) if name not in summary.unavailable]
    splits = summary.plan.few_splits
    rows = []
    for data in summary.data:
        cells = [_accuracy(summary.mean(data, name, splits)) for name in names]
        rows.append([data, *cells, _published(data, "fm"), _accuracy(summary.mean(data, "bfm1", splits))])
    return table(["accuracy %", *[LABELS[n] for n in names], "FM, paper", LABELS["bfm1"]], rows)


def strengths(summary: Summary) -> str:
    """FM and DFM on the first split, by λ per step."""
    rows = []
    for data in summary.data:
        for name in ("fm", "dfm"):
            found = [summary.store.records.get(f"strength/{data}/{name}/{each}") for each in STRENGTHS]
            if any(found):
                cells = [NONE if each is None else f"{each['accuracy']:.2f}" for each in found]
                rows.append([data, LABELS[name], *cells, _published(data, name)])
    return table(["accuracy %, λ per step", "", *[f"{each:g}" for each in STRENGTHS], "paper"], rows, left=(0, 1))


def roundings(summary: Summary) -> str:
    """NFM on ids on the first split, by the number of decimals."""
    rows = []
    for data in summary.data:
        found = [summary.store.records.get(f"rounding/{data}/{decimals}") for decimals in DECIMALS]
        if any(found):
            cells = [NONE if each is None else f"{each['accuracy']:.2f}" for each in found]
            rows.append([data, *cells, _published(data, "nfm")])
    return table(["accuracy %, decimals", *map(str, DECIMALS), "paper"], rows)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,)) -> str:
    rule = ["---" if column in left else "---:" for column in range(len(head))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, rule, *rows)) + "\n"


def _labels(summary: Summary) -> list[str]:
    return [LABELS[name] for name in summary.systems]


def _name(data: str) -> str:
    return "**webspam's shape**, synthetic data" if data == SHAPE else f"**{data}**"


def _accuracy(mean: Mean | None, best: float | None = None) -> str:
    if mean is None:
        return NONE
    text = f"{mean.accuracy:.2f} ± {mean.deviation:.2f}"
    return f"**{text}**" if best == round(mean.accuracy, 2) else text


def _theirs(data: str, name: str) -> published.Published | None:
    column = published.column(name)
    return published.TABLE_2["webspam" if data == SHAPE else data][column] if column else None


def _published(data: str, name: str) -> str:
    theirs = _theirs(data, name)
    return NONE if theirs is None else _plus_minus(theirs)


def _published_ms(data: str, name: str) -> str:
    theirs = _theirs(data, name)
    return NONE if theirs is None else f"{theirs.ms:,g}"


def _published_memory(data: str, name: str) -> str:
    theirs = _theirs(data, name)
    return NONE if theirs is None else f"{theirs.memory:g}×"


def _plus_minus(theirs: published.Published) -> str:
    return f"{theirs.accuracy:.2f} ± {theirs.deviation:.2f}"


def _ms(value: float | None) -> str:
    return NONE if value is None else f"{value:.3g}"


def _digits(value: float, digits: int) -> str:
    """Format with this many significant digits, or as an integer if it has more."""
    return f"{value:,.0f}" if value >= 10**digits else f"{value:.{digits}g}"
