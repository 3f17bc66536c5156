"""Downloads with limits: header and body size, decompression, slow hosts."""
