"""What profiles show: times by operation and by layer, and a page with drawings."""
