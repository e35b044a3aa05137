"""leat.integrations: leat's loader where other libraries expect theirs; each module imports its library when used."""
