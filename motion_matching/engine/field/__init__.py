"""Motion fields: a controller that blends the motion states around it; reference 003 (Lee et al. 2010)."""
