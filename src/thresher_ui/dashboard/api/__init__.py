"""The REST API: a table of operations, from which its routes, validation and OpenAPI document are made."""
