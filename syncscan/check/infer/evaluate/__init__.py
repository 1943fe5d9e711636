"""One evaluation of one function: its frame, what it reads and what it tells."""
