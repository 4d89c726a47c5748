"""The problem queue: defects of frozen tasks, from the report to the version that has them mended."""
