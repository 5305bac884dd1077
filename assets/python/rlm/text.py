"""Text that can leave the interpreter: what is not UTF-8 becomes U+FFFD, what is too long is cut."""


def clean(text):
    """The text without lone surrogates; a pair of them becomes the character that it means."""
    try:
        text.encode()
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def shorten(text, limit):
    """The start and end of a text that is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n... [{len(text) - 2 * half} characters left out] ...\n{text[-half:]}"
