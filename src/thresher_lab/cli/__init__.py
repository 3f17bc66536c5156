"""Commands of the lab; entry points add them to `thresher`."""
