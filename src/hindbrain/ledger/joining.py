"""A memory that another took the place of -> whether that one says the same and stands for it: a condition, for statements.

A dream lets the best worded of several that say the same stand for the others. Nothing has ended then: what was joined holds as
long as the statement does that it was joined into. recall.joined has it too, as the hook loads no module of the ledger.
"""

JOINED = """
EXISTS (
    SELECT 1 FROM links AS joins WHERE joins.memory_id = memories.superseded_by AND joins.target_memory_id = memories.id
    AND joins.role = 'supersedes' AND joins.joined = 1
)
"""
