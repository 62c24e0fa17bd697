"""Attention measured on this machine: what to measure, the program that does it alone, and the exponent of it all."""
