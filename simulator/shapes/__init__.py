"""How does GitHub spell each thing in JSON? One small factory a thing, with every required field."""
