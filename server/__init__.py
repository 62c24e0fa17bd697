"""What surrounds the dashboard on a server: headers, limits, health and readiness, the log. Knows no page."""
