"""Accuracy and fit time of two builds of binfm with the defaults, paired over splits: `make -C benches engine`.

`parts` are the samples of a split, `builds` runs a build in a child process, `child` is that process, `summary` pairs
the results, `page` shows them.
"""
