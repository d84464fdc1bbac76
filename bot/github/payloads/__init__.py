"""What do GitHub's JSON keys mean? They exist in this package only: past it there are frozen, typed objects."""
