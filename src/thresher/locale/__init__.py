"""Texts in the language of their reader: English ones that know their translations, and the catalogues."""
