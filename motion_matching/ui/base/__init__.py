"""What panels and operators share."""
