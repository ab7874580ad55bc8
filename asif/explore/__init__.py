"""`asif explore`: a page of this machine on which somebody walks a protocol by hand."""
