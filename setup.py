"""Finds the packages; all else that the build must know is in pyproject.toml."""

from setuptools import find_packages, setup

setup(packages=[*find_packages(include=["syncscan", "syncscan.*"]), "syncscan.rules"])
