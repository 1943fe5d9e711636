"""The text of syntax nodes, and what stands around them."""
