"""What prevents this installation from working? `almanac doctor`: one check per question, each with what to do."""
