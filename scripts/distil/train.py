"""What both teachers say of tokens and pieces -> a table with one row of 256 small numbers for each token.

    python -m scripts.distil.train --vectors vectors.npz --out src/hindbrain/recall/table

1. Target. Each teacher's vectors are centred (granite's all point one way otherwise) and laid side by side; what is common to the
   pieces is kept in the 256 directions that hold most of it.
2. Start. A token's row is a linear map of what the teachers say of the token alone, fitted by ridge regression so that the
   weighted mean of a piece's rows comes near the piece's target. Tokens that the text does not have get a row by this alone.
3. Training. The rows themselves move: towards the target of each piece, and so that pieces are as alike as their targets are.
4. The rows are rounded to eight bits, each with its own scale.

The weights of tokens in a mean are those used at run time, the square root of idf; here by the counts of the training text. Every
step is seeded and runs on one thread: the same vectors give the same table on the same machine.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from hindbrain.recall.static import RECIPE, Floats, checksum, weights_of
from hindbrain.recall.wordpiece import WordPiece

UNKNOWN: Final = "[UNK]"


@dataclass(frozen=True)
class Recipe:
    """Everything that may be chosen."""

    seed: int = 7
    dimensions: int = 256
    ridge: float = 0.1  # a large one makes tokens alike, and training does not mend that where the text is new
    epochs: int = 10
    batch: int = 256
    rate: float = 3e-3
    likeness: float = 1.0  # weight of "pieces as alike as their targets" beside "each near its target"
    warmth: float = 0.1  # temperature of that likeness
    hold: float = 0.0  # pull back towards the start, so that rare tokens do not follow single pieces
    granite: float = 1.0  # its share beside MiniLM


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--vectors", type=Path, required=True, help="what scripts.distil.vectors wrote")
    asked.add_argument("--out", type=Path, required=True, help="folder for the table")
    asked.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="another choice in the recipe")
    given = asked.parse_args()
    torch.set_num_threads(1)
    recipe = Recipe(**{name: type(getattr(Recipe, name))(value) for name, value in (each.split("=") for each in given.set)})
    with np.load(given.vectors) as held:
        vectors = dict(held)
    make(vectors, recipe, given.out)


def make(vectors: dict[str, Any], recipe: Recipe, folder: Path) -> None:
    """The table, written to a folder."""
    every = [str(token) for token in vectors["tokens"]]
    kept = [number for number, token in enumerate(every) if token == UNKNOWN or not token.startswith("[") or len(token) == 1]
    vocabulary = [every[number] for number in kept]
    cut = _cut(vocabulary, [str(piece) for piece in vectors["pieces"]])
    counts = np.bincount([token for tokens in cut for token in set(tokens)], minlength=len(vocabulary))
    weights = weights_of(counts, len(cut))
    target, features = _target(vectors, recipe, kept)
    bags = Bags(cut, weights)
    rows = _start(bags, features, target, recipe)
    rows = _trained(bags, rows, target, recipe)
    _write(folder, vocabulary, rows, weights, recipe)


class Bags:
    """Pieces as tokens with weights that sum to one, to be turned into means in batches."""

    def __init__(self, cut: list[list[int]], weights: Floats) -> None:
        self.cut = [torch.tensor(tokens or [0]) for tokens in cut]
        held = torch.from_numpy(weights)
        self.shares = [held[tokens] / held[tokens].sum().clamp(min=1e-6) for tokens in self.cut]

    def __len__(self) -> int:
        return len(self.cut)

    def means(self, rows: torch.Tensor, chosen: torch.Tensor, *, sparse: bool = False) -> torch.Tensor:
        """The weighted mean of the rows of each chosen piece."""
        numbers = chosen.tolist()
        flat = torch.cat([self.cut[number] for number in numbers])
        shares = torch.cat([self.shares[number] for number in numbers])
        lengths = torch.tensor([0, *(len(self.cut[number]) for number in numbers[:-1])])
        return torch.nn.functional.embedding_bag(
            flat, rows, lengths.cumsum(0), mode="sum", per_sample_weights=shares, sparse=sparse
        )


def _cut(vocabulary: list[str], pieces: list[str]) -> list[list[int]]:
    words = WordPiece(vocabulary)
    return [words.tokens(piece) for piece in pieces]


def _target(vectors: dict[str, Any], recipe: Recipe, kept: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """The pieces' targets of length 1, and the tokens' features in the teachers' own space."""
    sides, features = [], []
    for key, share in (("minilm", 1.0), ("granite", recipe.granite)):
        pieces = torch.from_numpy(vectors[f"{key}_pieces"].astype(np.float32))
        tokens = torch.from_numpy(vectors[f"{key}_tokens"].astype(np.float32))[kept]
        sides.append(share * torch.nn.functional.normalize(pieces - pieces.mean(0), dim=-1))
        features.append(share * torch.nn.functional.normalize(tokens - tokens.mean(0), dim=-1))
    both = torch.cat(sides, 1)
    _, _, directions = torch.linalg.svd(both.T @ both)
    return torch.nn.functional.normalize(both @ directions[: recipe.dimensions].T, dim=-1), torch.cat(features, 1)


def _start(bags: Bags, features: torch.Tensor, target: torch.Tensor, recipe: Recipe) -> torch.Tensor:
    means = bags.means(features, torch.arange(len(bags)))
    inner = means.T @ means + recipe.ridge * torch.eye(means.shape[1])
    found: torch.Tensor = features @ torch.linalg.solve(inner, means.T @ target)
    return found


def _trained(bags: Bags, start: torch.Tensor, target: torch.Tensor, recipe: Recipe) -> torch.Tensor:
    scale = float(start.norm(dim=1).mean())
    start = start / scale
    rows = torch.nn.Parameter(start.clone())
    steps = torch.optim.SparseAdam([rows], lr=recipe.rate)
    chance = torch.Generator().manual_seed(recipe.seed)
    for epoch in range(recipe.epochs):
        for group in steps.param_groups:
            group["lr"] = recipe.rate * (1 - epoch / recipe.epochs)
        total = 0.0
        for chosen in torch.randperm(len(bags), generator=chance).split(recipe.batch):
            means = bags.means(rows, chosen, sparse=True)
            loss = _loss(torch.nn.functional.normalize(means, dim=-1), target[chosen], recipe)
            steps.zero_grad()
            loss.backward()
            steps.step()
            total += float(loss.detach()) * len(chosen)
        with torch.no_grad():
            rows.add_(recipe.hold * (start - rows))
        print(f"epoch {epoch + 1}: loss {total / len(bags):.4f}", file=sys.stderr, flush=True)
    return rows.detach()


def _loss(found: torch.Tensor, wanted: torch.Tensor, recipe: Recipe) -> torch.Tensor:
    near = (1 - (found * wanted).sum(-1)).mean()
    itself = torch.eye(len(found), dtype=torch.bool)
    ours, theirs = ((each @ each.T / recipe.warmth).masked_fill(itself, -1e4) for each in (found, wanted))
    alike = torch.nn.functional.kl_div(ours.log_softmax(-1), theirs.log_softmax(-1), log_target=True, reduction="batchmean")
    return near + recipe.likeness * alike


def _write(folder: Path, vocabulary: list[str], rows: torch.Tensor, weights: Floats, recipe: Recipe) -> None:
    plain = rows.numpy()
    scales = np.maximum(np.abs(plain).max(1), 1e-6) / 127
    small = np.rint(plain / scales[:, None]).astype(np.int8)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocabulary.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    np.save(folder / "rows.npy", small)
    np.save(folder / "scales.npy", scales.astype(np.float16))
    np.save(folder / "weights.npy", weights.astype(np.float16))
    made = {**asdict(recipe), "sha256": checksum(folder)}
    (folder / RECIPE).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
