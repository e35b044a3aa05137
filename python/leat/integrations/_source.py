"""_source.py: what the sources of all engines share: how documents are divided into tasks. It knows no engine."""
from __future__ import annotations

TASK_TOKENS = 1 << 24  # that a task reads, unless the engine says how many tasks there are


def divide(dataset, tasks: int | None = None) -> list[tuple[int, int]]:
    """Ranges (first document, count) for tasks that read all documents, of about as many tokens each; none is empty.
    None: as many tasks as TASK_TOKENS each need."""
    documents, tokens = dataset._count(), dataset.info.tokens
    if documents == 0:
        return []
    tasks = max(1, min(documents, tasks or -(-tokens // TASK_TOKENS)))
    begins = [0]
    for task in range(1, tasks):
        begin = _document_at(dataset, tokens * task // tasks)
        if begin > begins[-1]:
            begins.append(begin)
    return [(begin, end - begin) for begin, end in zip(begins, [*begins[1:], documents])]


def _document_at(dataset, token: int) -> int:
    """The document that has this token; without any token, document 0."""
    return dataset._native.documents_in(token, 1)[0] if token < dataset.info.tokens else 0
