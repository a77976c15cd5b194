"""The default call of binfm and of other systems, over many data sets: `make -C benches defaults`.

`sets` has the data sets and their splits, `regression` and `packaged` the tables for regression, `systems` the calls,
`measure` fits and tests one of them, `summary` averages the results, `page` and `picture` show them.
"""
