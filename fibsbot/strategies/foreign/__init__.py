"""What it takes to ask an engine that is another program: its process, its lines, its boards and its plays."""
