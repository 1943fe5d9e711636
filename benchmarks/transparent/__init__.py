"""What a trace changes of a program: the same small programs alone and traced, and every difference."""
