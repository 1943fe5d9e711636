"""Sync-free components of an inference runtime, to import or to paste.

One module for each family; ``syncscan recipe list`` names the components. This package imports
nothing itself, so that their sources can be read where torch is not installed.

``syncscan.reference.blocking`` has the blocking form that each component replaced.
"""
