"""What is the truth of each item? One module per posterior of plausibilities."""
