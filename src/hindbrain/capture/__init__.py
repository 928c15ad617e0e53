"""An agent's hook payload or transcript line -> Event."""
