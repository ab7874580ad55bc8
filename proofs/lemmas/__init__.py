"""The lemmas, a package or file for each protocol: dropping one in registers it.

Rule of this package: `proofs.lemmas.upstream_backup` belongs to the protocol `upstream-backup`.
A module here, or a user's own file, holds LEMMAS and ABSTRACTIONS.
"""
