"""_source.py: what the sources of all engines share: how documents are divided into tasks. It knows no engine."""
from __future__ import annotations

TASK_TOKENS = 1 << 24  # that a task reads, unless the engine says how many tasks there are


def divide(dataset, tasks: int | None = None, first: int = 0, count: int | None = None) -> list[tuple[int, int]]:
    """Ranges (first document, count) for tasks that read documents [first, first + count) (None: to the end), of about
    as many tokens each; none is empty. Without `tasks`, as many as TASK_TOKENS each need."""
    end = dataset._count() if count is None else first + count
    if first == end:
        return []
    start, (last, length) = dataset._native.document(first)[0], dataset._native.document(end - 1)
    tokens = last + length - start
    tasks = max(1, min(end - first, tasks or -(-tokens // TASK_TOKENS)))
    begins = [first]
    for task in range(1, tasks):
        begin = _document_at(dataset, start + tokens * task // tasks)
        if begins[-1] < begin < end:
            begins.append(begin)
    return [(begin, next - begin) for begin, next in zip(begins, [*begins[1:], end])]


def _document_at(dataset, token: int) -> int:
    """The document that has this token; without any token, document 0."""
    return dataset._native.documents_in(token, 1)[0] if token < dataset.info.tokens else 0
