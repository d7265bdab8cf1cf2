"""Profiles for readers: times by operation and by layer, and a page with drawings."""
