-- Which tenants hold ids of events as they were made before. See the SQLite ledger's migration of the same name.
INSERT INTO meta (tenant, key, value)
SELECT tenant, 'event ids of version 1', 'yes' FROM (SELECT tenant FROM sessions UNION SELECT tenant FROM events) AS holding;
