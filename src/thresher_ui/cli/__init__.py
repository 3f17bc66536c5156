"""The commands of the interfaces."""
