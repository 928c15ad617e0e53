"""What every stage may use: errors, clock, configuration, files, redaction. Standard library only."""
