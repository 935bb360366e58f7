"""From the end of an exchange to the books: counted, priced, written up, stored, off the request's path."""
