"""From syntax trees to instructions: each function is lowered once, without knowing any value."""
