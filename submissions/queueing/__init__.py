"""What a vendor is told of the queue: a coarse place and coarse times, noted at most once an hour."""
