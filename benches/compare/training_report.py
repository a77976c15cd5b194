"""The sections of the page that compare training."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pages import number, ratio, table

from compare.peers import BY_NAME, Binfm, BinfmTiled, Hessboost, LightGbm, ModernFm


def fits(results: Any) -> Iterator[str]:
    fitting = results["fitting"]["1"]
    yield f"## Training on {fitting['data']}"
    yield ""
    rivals = (LightGbm.name, Hessboost.name)
    systems = (BinfmTiled.name, Binfm.name, *rivals)
    yield from _compared(fitting["fits"], systems, rivals, results["sizes"]["epochs"])


def many_classes(results: Any) -> Iterator[str]:
    found = results["many_classes"]
    yield f"## Training on {found['data']}"
    yield ""
    systems = (BinfmTiled.name, LightGbm.name)
    yield from _compared(found["fits"], systems, systems[1:], results["sizes"]["many_epochs"])


def large(results: Any) -> Iterator[str]:
    found = results["large"]
    epochs, seconds = results["sizes"]["few_epochs"], found["seconds"]
    *others, last = map(str, found["compared"])
    yield f"## Training on several threads ({found['rows']:,} × 22)"
    yield ""
    yield f"{BinfmTiled.name}: {BinfmTiled.settings(epochs)}; synthetic, two classes. The models of {', '.join(others)}"
    yield f"and {last} threads {'have the same bytes' if found['same_model'] else '**differ**'}."
    yield ""
    rows = [(threads, number(taken), ratio(seconds["1"], taken)) for threads, taken in seconds.items()]
    yield from table(("threads", "fit, s", "speedup"), rows)


def sparse(results: Any) -> Iterator[str]:
    found = results["sparse"]
    ns, seconds = by_system(found["fits"], "ns"), by_system(found["fits"], "seconds")
    epochs = results["sizes"]["few_epochs"]
    yield f"## Training on one-hot fields ({found['rows']:,} × {found['fields']})"
    yield ""
    yield f"A CSR matrix of {found['columns']:,} columns, one stored value per field, Zipf-distributed; one thread."
    yield "Time per stored value, factor and epoch, reading the matrix included. With four tilings, a stored value"
    yield "has four rows of parameters, otherwise one."
    yield ""
    rows = [
        (name, BY_NAME[name].settings(epochs), number(seconds[name]), number(one), ratio(one, ns.get(ModernFm.name)))
        for name, one in ns.items()
    ]
    yield from table(("system", "settings", "fit, s", "ns", f"÷ {ModernFm.name}"), rows, left=2)


def search(results: Any) -> Iterator[str]:
    found = results["search"]
    seconds = found["seconds"]
    call = f"binfm.train(X, y, max_bytes={found['max_bytes']})"
    yield f"## Search ({found['rows']:,} × {found['features']})"
    yield ""
    rows = [(f"`{call}`" if name == "search" else name, number(taken)) for name, taken in seconds.items()]
    rows.append(("ratio", ratio(seconds["search"], seconds.get(LightGbm.name))))
    yield from table((f"on {found['threads']} threads", "s"), rows)


def by_system(found: Iterable[Any], key: str) -> dict[str, float]:
    """Return the first figure of each system."""
    first: dict[str, float] = {}
    for one in found:
        first.setdefault(one["system"], one[key])
    return first


def _compared(found: Any, systems: Iterable[str], rivals: Iterable[str], epochs: int) -> Iterator[str]:
    """Yield a table of fit times on one thread, each divided by those of the rivals."""
    seconds = by_system(found, "seconds")
    rows = []
    for name in systems:
        if name in seconds:
            ratios = (ratio(seconds[name], seconds.get(rival)) for rival in rivals)
            rows.append((name, BY_NAME[name].settings(epochs), number(seconds[name]), *ratios))
    return table(("system", "settings", "fit, s", *(f"÷ {rival}" for rival in rivals)), rows, left=2)
