"""The language server: findings as one types, in any editor that speaks the Language Server Protocol."""
