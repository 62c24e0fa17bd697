"""Numbers as they are written: a real minus sign, and no more digits than are true."""


def number(text):
    """A written number, real minus sign and all, and half of its last digit."""
    digits = len(text.partition(".")[2])
    return float(text.replace("−", "-")), 0.5 * 10**-digits * (1 + 1e-9)


def assert_written(texts, values):
    assert len(texts) == len(values)
    for text, value in zip(texts, values, strict=True):
        written, half = number(text)
        assert abs(written - value) <= half, (text, value)
