"""What answers to questions with known answers are worth: pure scores, and reports of them."""
