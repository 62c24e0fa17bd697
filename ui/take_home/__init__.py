"""What a reader takes home: the link, the code, the numbers and the pictures of the page."""
