"""leat.integrations: leat's loader as other libraries expect one; each module imports its library."""
