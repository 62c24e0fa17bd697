"""Exercises with their right answers, and the answers that mistakes with a name would give."""
