"""Values: the vocabulary of the inference, above `syncscan.model.Value`."""
