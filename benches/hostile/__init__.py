"""How other packages handle damaged model files: `make -C benches hostile-peers`."""
