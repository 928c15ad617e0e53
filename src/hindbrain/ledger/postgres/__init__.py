"""The ledger on PostgreSQL: the same tables, the same SQL and the same answers, shared by several machines."""
