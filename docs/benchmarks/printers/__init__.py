"""What prints the blocks of the pages. Each module makes BLOCKS: the name of a block -> a function that returns its text."""
