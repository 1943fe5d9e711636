"""What the source says: modules, classes, functions, what names mean. Nothing here changes once it is linked."""
