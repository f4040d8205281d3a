"""What steers a character: each input turns a device, a path or a recording into intents."""
