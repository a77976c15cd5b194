"""Test accuracy by model bytes: binfm and its peers, each doing its best under a limit. Run by `make pareto`.

`problem` splits the data, `systems` holds one file a competitor, `search` cross-validates the peers' settings over the
cuts of a `ladder`, `sizes` counts bytes where a package has no small format of its own, `store` keeps the results,
`summary` averages them, `report` and `plot` show them.
"""
