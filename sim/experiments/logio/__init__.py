"""LOG.io and asynchronous barrier snapshotting, as the LOG.io paper timed them (Section 9)."""

NAMES = (
    "logio-crossing",
    "logio-fig5",
    "logio-fig6",
    "logio-fig7",
    "logio-fig8",
    "logio-fig9",
    "logio-fig11",
    "logio-fig12",
    "logio-fig13",
)
