"""binfm beside other systems: speed and memory, taken in one run on one machine. Run by `make bench-peers`."""
