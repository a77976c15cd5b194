"""What other packages do with damaged model files: `make hostile-peers`."""
