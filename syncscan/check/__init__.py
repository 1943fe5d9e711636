"""`syncscan check`: source files to findings, without running them."""
