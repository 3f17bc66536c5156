"""Judges: does this page fit the topic?"""
