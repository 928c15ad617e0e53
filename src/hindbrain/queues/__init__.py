"""Work that is to be done later -> work that was done once, whatever happens to the workers."""
