"""What stands in the way of this installation? `almanac doctor`: one check a question, each with what to do."""
