"""The verbs: what sessions do. Knows the nouns of `core` and nothing of screens, disks or wires."""
