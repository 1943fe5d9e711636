"""The source text and the CST context of syntax nodes."""
