"""The Perform panel and what a live session draws."""
