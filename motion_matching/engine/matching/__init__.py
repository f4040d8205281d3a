"""Motion matching: features, databases, search, and the method that plays them."""
