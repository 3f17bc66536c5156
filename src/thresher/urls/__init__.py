"""URLs: canonical form, host, tokens, scope, and which addresses may be contacted."""
