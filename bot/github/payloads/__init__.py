"""What do GitHub's JSON keys mean? They appear only in this package; everything else uses frozen, typed objects."""
