"""Files of other programs: transcripts to text and back."""
