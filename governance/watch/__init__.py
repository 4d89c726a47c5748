"""Live detection: behaviour of finished submissions, alarms with their evidence, exposure of tasks, the public gap."""
