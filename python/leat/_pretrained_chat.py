"""_pretrained_chat.py: what leat.PreTrainedTokenizer does with conversations."""
from __future__ import annotations

TYPE_CHECKING = False  # so that `import leat` needs neither typing nor what _chat imports
if TYPE_CHECKING:
    from typing import Any


class Conversations:
    """A part of leat.PreTrainedTokenizer."""
    chat_template: str | dict[str, str] | None = None

    def apply_chat_template(self, conversation, tools=None, documents=None, chat_template: str | None = None,
                            add_generation_prompt: bool = False, continue_final_message: bool | str = False,
                            tokenize: bool = True, sanitize_control_tokens: bool = False,
                            padding: bool | str = False, truncation: bool = False, max_length: int | None = None,
                            return_tensors: str | None = None, return_dict: bool = True,
                            return_assistant_tokens_mask: bool = False, tokenizer_kwargs: dict | None = None, **kwargs):
        """What a call returns for a conversation, a list of dicts with role and content, as a chat template writes
        it, or for a list of conversations. Special tokens in messages are tokens, as in transformers.

        tools       a list of dicts, JSON schemas; documents: a list of dicts
        chat_template
                    a template, or the name of one; None: that of get_chat_template()
        continue_final_message
                    True: the text ends within the last message, after its content, or the member of this name
        tokenize    False: the text alone is returned
        return_dict
                    False: the ids alone are returned
        return_assistant_tokens_mask
                    adds assistant_masks: 1 for the tokens that {% generation %} of the template has written
        tokenizer_kwargs
                    more arguments of the call; all others (**kwargs) are variables of the template

        The template is rendered as leat.pack(chat=...) does it. NotImplementedError where a template has something
        that leat does not render; leat.Error where what it does with the conversation is not supported, such as
        strftime_now(), or where the template itself raises an exception. sanitize_control_tokens is refused.
        """
        from leat import _chat

        if sanitize_control_tokens:
            raise NotImplementedError("leat has no sanitize_control_tokens; leat.pack(chat=...) takes special tokens "
                                      "in messages as ordinary text")
        if "messages" in kwargs:
            raise TypeError("messages is the template's name of the conversation, not a variable beside it")
        if return_assistant_tokens_mask and not (return_dict and tokenize):
            raise ValueError("return_assistant_tokens_mask=True needs return_dict=True and tokenize=True")
        if continue_final_message and (add_generation_prompt or return_assistant_tokens_mask):
            raise ValueError("continue_final_message cannot be used with add_generation_prompt or "
                             "return_assistant_tokens_mask")
        tokenizer: Any = self  # it has the rest of the class
        template = self.get_chat_template(chat_template, tools)
        many = _chat.are_many(conversation)
        rows = _chat.rendered(
            template, conversation if many else [conversation], tools, documents,
            {**tokenizer.special_tokens_map, **kwargs, "add_generation_prompt": add_generation_prompt},
            continue_final_message if isinstance(continue_final_message, str) or not continue_final_message else
            "content", return_assistant_tokens_mask)
        texts = [text for text, _ in rows] if many else rows[0][0]
        if not tokenize:
            return texts
        more = dict(tokenizer_kwargs or {})
        with_offsets = more.pop("return_offsets_mapping", False)
        out = tokenizer(texts, padding=padding, truncation=truncation, max_length=max_length,
                        add_special_tokens=False, return_tensors=return_tensors,
                        return_offsets_mapping=with_offsets or return_assistant_tokens_mask, **more)
        if not return_dict:
            return out["input_ids"]
        if return_assistant_tokens_mask:
            masks = [_chat.mask_of(sequences, offsets, places)
                     for (_, sequences, offsets), (_, places) in zip(out._texts, rows)]
            out["assistant_masks"] = masks if many or return_tensors else masks[0]
            if not with_offsets:
                del out["offset_mapping"]
        return out.convert_to_tensors(return_tensors)

    def get_chat_template(self, chat_template: str | None = None, tools=None) -> str:
        """The template by which apply_chat_template() renders with these arguments: of several, the one called tool_use
        with tools, else default."""
        from leat import _chat

        return _chat.chosen(self.chat_template, chat_template, tools)
