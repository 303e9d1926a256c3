"""Match analysis: errors, luck, performance, dice and results."""
