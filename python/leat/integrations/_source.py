"""_source.py: divides documents into tasks, for the sources of all engines. It knows no engine."""
from __future__ import annotations

TASK_TOKENS = 1 << 24  # tokens per task, unless the engine sets the number of tasks


def divide(dataset, tasks: int | None = None, first: int = 0, count: int | None = None) -> list[tuple[int, int]]:
    """Returns ranges (first document, count) for tasks that read documents [first, first + count) (None: to the end).
    Ranges have about equally many tokens, and none is empty. Without `tasks`, each has about TASK_TOKENS."""
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
    """Returns the document that has this token, or 0 for a dataset without tokens."""
    return dataset._native.documents_in(token, 1)[0] if token < dataset.info.tokens else 0
