"""Test accuracy by model size: the best that binfm and its peers reach within a byte budget. `make -C benches pareto`.

`problem` splits the data, `systems` has one module per competitor, `search` cross-validates the peers' settings over
the cuts of a `ladder`, `sizes` counts bytes for packages without a compact format, `store` keeps the results,
`summary` averages them, `report` and `plot` present them.
"""
