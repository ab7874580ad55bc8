"""The commands, one file each; a command imports heavy modules in its function, so that `asif
--help` needs none of them."""
