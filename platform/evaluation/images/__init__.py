"""OCI image archives: checked, flattened, unpacked into a read-only root, kept by digest. No Django, no app."""
