"""A real model: the trained encoder all-MiniLM-L6-v2, its words, its forward pass by the rooms of core, its heads.

``build`` makes the files of ``model/`` from the public package, ``measure`` the table of what its heads do.
"""
