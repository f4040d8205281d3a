"""The Retarget panel."""
