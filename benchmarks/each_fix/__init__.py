"""Every fix of a project, one at a time, under the project's own tests."""
