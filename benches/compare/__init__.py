"""Speed and memory of binfm and other systems, measured in one run on one machine: `make -C benches bench-peers`."""
