"""Reproduction of the paper's tables and figures, next to the published ones: `make -C benches paper`.

`data` finds the data sets, `systems` has one module per system, `choice` cross-validates settings, `plan` sets the
extent of a run, `tasks` are the measurements, `agenda` lists them and `pool` runs them, `store` keeps the results,
`memory` counts bits, `published` has the paper's figures, `summary` averages ours, `tables`, `checks`, `prose` and
`page` write the page, `figures` draws the plots.
"""
