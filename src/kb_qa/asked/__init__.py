"""What a question asks for, and of which documents: pure, and without a model."""
