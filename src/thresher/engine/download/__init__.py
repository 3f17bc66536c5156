"""Downloads by libcurl, with limits: header and body size, time, decompression, slow hosts."""
