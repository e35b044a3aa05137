"""small_gpt.py: a GPT of a few layers, for the examples: nothing in it is leat's."""
import math

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_mlp = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        rows, length, width = x.shape
        qkv = self.qkv(self.before_attention(x)).view(rows, length, 3, self.heads, width // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(rows, length, width))
        return x + self.mlp(self.before_mlp(x))


class GPT(nn.Module):
    def __init__(self, vocabulary, length, width=64, layers=2, heads=4):
        super().__init__()
        self.tokens, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.last = nn.LayerNorm(width)
        nn.init.normal_(self.tokens.weight, std=1 / math.sqrt(width))

    def logits(self, inputs):
        x = self.tokens(inputs) + self.places(torch.arange(inputs.shape[1], device=inputs.device))
        return self.last(self.blocks(x)) @ self.tokens.weight.T

    def forward(self, inputs, labels):
        """The mean loss over the labels that count (those that are not -100)."""
        return F.cross_entropy(self.logits(inputs).flatten(0, 1), labels.flatten())
