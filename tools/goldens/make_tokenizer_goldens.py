#!/usr/bin/env python3
"""The token ids of hard texts, by the Hugging Face library (pip install tokenizers), for tests/text:
  tests/golden/tokenizer_tiny/golden.json   with the small tokenizer.json beside it, which stays as it is
  tests/golden/tokenizer_qwen/golden.json   with Qwen's vocabulary, .deps/qwen.tiktoken of tools/bootstrap

The texts are those of the files, and EXTRA where they are not yet there.

  tools/goldens/make_tokenizer_goldens.py [--check]     --check writes nothing and fails where a file would change
"""
import base64
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import environment  # noqa: E402

environment.enter("tokenizers", most=0, flags=("--check",))

from tokenizers import AddedToken, Tokenizer, decoders, models

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests/golden"
EXTRA = [
    "a\u180eb \u180e c",                               # no longer white space
    "'\u017f 'S IT'\u017f 'LL'Ve",                      # a long s is an s without case
    "\u1100\u1161\u11a8 \uac01 \ud55c\u1100",           # Hangul, composed and not
    "a\u0301\u0327\u0323 a\u0323\u0327\u0301 q\u0307\u0323", # marks out of order
    "\u0958 \u0344 \u2126 \uf900 \ufb1d",               # what NFC takes apart
    "<|im_start|><|im_end|>\u0338>\u0338<|im_end",      # a mark behind a token; half a token
    "<|im_end|>\n\n\n<|endoftext|> <|endoftext|>",
    " \t\n \r\n\t x \u0085\u2028\u2029 y\v\fz",
    "a" * 300, " " * 300 + "x", "ab" * 150 + "\n" * 50, "\u65e5" * 120,
    "\x01\x7f\x80\xad\u200d\ufeff\ufffd\U0010ffff",
    "1\u00b2\u0663\u2167\u3007\u4e00 x9y \u2460",
    "x = {'a': [1,2.5e-3]};  // it's\n\tif (y) { return; }\n",
]


def qwen(path, like):
    """The library takes merges, and the file has ranks: each token's two parts are what the tokens before it make of
    its bytes."""
    ranks = {base64.b64decode(token): int(rank) for token, rank in map(str.split, path.read_text().splitlines())}
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    hidden = [byte for byte in range(256) if byte not in plain]
    letter = {byte: chr(byte) for byte in plain} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}
    write = lambda token: "".join(letter[byte] for byte in token)
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = [token[i:i + 1] for i in range(len(token))]
        while len(parts) > 2:
            best, at = min((ranks.get(parts[i] + parts[i + 1], rank), i) for i in range(len(parts) - 1))
            if best == rank:
                break
            parts[at:at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2:
            merges.append((write(parts[0]), write(parts[1])))
    tokenizer = Tokenizer(models.BPE(vocab={write(token): rank for token, rank in ranks.items()}, merges=merges))
    tokenizer.normalizer, tokenizer.pre_tokenizer = like.normalizer, like.pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True, normalized=False)
                                  for text in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")])
    return tokenizer


def main():
    tiny = Tokenizer.from_file(str(GOLDEN / "tokenizer_tiny/tokenizer.json"))
    made = {"tokenizer_tiny": tiny, "tokenizer_qwen": qwen(ROOT / ".deps/qwen.tiktoken", tiny)}
    changed = False
    for name, tokenizer in made.items():
        path = GOLDEN / name / "golden.json"
        before = path.read_text()
        texts = [entry["text"] for entry in json.loads(before)]
        texts += [text for text in EXTRA if text not in texts]
        rows = [json.dumps({"text": text, "ids": tokenizer.encode(text).ids}) for text in texts]
        after = "[\n" + ",\n".join(rows) + "\n]\n"
        changed |= after != before
        if "--check" not in sys.argv:
            path.write_text(after)
        print(f"{name}: {len(texts)} texts")
    return int(changed and "--check" in sys.argv)


sys.exit(main())
