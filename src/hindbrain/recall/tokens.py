"""Text -> an upper estimate of how many tokens a model will count.

Tokenizers differ between models and none is at hand without a download, so the estimate errs to the high side: a block
that fits by this count fits by theirs. A word costs one token for every four letters; keys, hashes and encoded data look
like words but are cut to pieces, so each pair of letters that words do not have costs one more. Digits, punctuation and
scripts other than Latin are charged piece by piece. A test holds it against a real tokenizer.

Imported by the hook when no worker answers: nothing but built-ins.
"""

# The letters that follow each letter in ordinary words and in names in code; these pairs are 99.8 % of such text.
_FOLLOW = {
    "a": "bcdefghiklmnprstuvwxyz", "b": "aeijlorstuy", "c": "acehikloprstuy", "d": "abdegilnorsuvy",
    "e": "abcdefghiklmnopqrstuvwxy", "f": "aefilmorstu", "g": "aeghilmnorsuvy", "h": "aeilnorstuy",
    "i": "abcdefgiklmnoprstvxz", "j": "aeiosu", "k": "adeilnstu", "l": "adefiklmopstuvwy", "m": "abcdefimopstuy",
    "n": "acdefgijklmnostuvy", "o": "abcdefghijklmnoprstuvwyz", "p": "adeghiloprstuy", "q": "lu",
    "r": "acdefgiklmnoprstuvwy", "s": "acefhiklmnopqrstuwy", "t": "acdefghilmoprstuwy", "u": "abcdefgilmnprst", "v": "aeio",
    "w": "aehilnors", "x": "aceipt", "y": "abcdeilnopst", "z": "aei",
}  # fmt: skip
# As they may be written: lower case, upper case, a capital before a small letter. A small one before a capital is a new piece.
_PAIRS = frozenset(
    pair
    for first, others in _FOLLOW.items()
    for second in others
    for pair in (first + second, first.upper() + second.upper(), first.upper() + second)
)


# What a word costs is asked again and again by a worker; it keeps the answers for this many.
_MAX_KNOWN = 20_000
_MAX_WORD = 40
_known: dict[str, int] = {}


def tokens_in(text: str) -> int:
    """At least as many tokens as common tokenizers count."""
    count = 0
    for word in text.split(" ") if text else ():  # a single space goes with the word behind it
        cost = _known.get(word)
        if cost is None:
            cost = _piece(word)
            if len(_known) < _MAX_KNOWN and len(word) <= _MAX_WORD:
                _known[word] = cost
        count += cost
    return count


def _piece(text: str) -> int:
    """The tokens of a text without spaces; of nothing at all, which stands between two spaces, one."""
    if not text:
        return 1
    count = run = 0  # run: length of the word at hand
    before = ""
    for letter in text:
        if letter.isascii():
            if letter.isalpha():
                if run and before + letter not in _PAIRS:
                    count += 1
                run += 1
            else:
                count += _word(run) + 1
                run = 0
        else:
            count += _word(run) + _other(letter)
            run = 0
        before = letter
    return count + _word(run)


def _word(length: int) -> int:
    return 0 if length == 0 else 1 + (length - 1) // 4


def _other(letter: str) -> int:
    """Where a tokenizer knows no letter it counts its bytes. Small Cyrillic letters and kana it knows."""
    if "а" <= letter <= "я":
        return 1
    return 2 if "ぁ" <= letter <= "ヿ" else len(letter.encode("utf-8", "surrogatepass"))
