"""The paper's tables and figures, ours beside its own. Run by `make paper`.

`data` finds the data sets, `systems` holds a file a system, `choice` finds settings by cross-validation, `plan` says
how much of everything, `tasks` are the measurements, `agenda` lists them and `pool` runs them, `store` keeps the
results, `memory` counts bits, `published` has the paper's figures, `summary` averages ours, `tables`, `checks`,
`prose` and `page` write, `figures` draws.
"""
