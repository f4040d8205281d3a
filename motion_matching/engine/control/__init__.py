"""What every controller shares: intents, trajectories, inertialization, displacement, takes."""
