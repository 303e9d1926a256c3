"""Studies transcripts: errors, luck, performance, dice, results."""
