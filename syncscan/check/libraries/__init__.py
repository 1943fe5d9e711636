"""Installed packages that a project imports: what the project uses of their source is read with it, and nothing is reported there.

`environment` finds the packages, and `module` knows what the statements of a module bind. `needed` follows names from the project to
what defines them; `reading` keeps the answer between runs.
"""
