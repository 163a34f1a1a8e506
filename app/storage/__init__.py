"""The plug to the disk: sessions as append-only logs, small documents, keys in the keyring."""
