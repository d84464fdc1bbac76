"""How does GitHub represent each object in JSON? One small factory per object, with every required field."""
