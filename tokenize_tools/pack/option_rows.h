/*
 * option_rows.h: the table of the options of packing. Each consumer defines the macros that it needs, includes this
 * file where its own table stands, and gets a row for each option:
 *
 *   PACK_OPTION(kind, member, keyword, plan, ...)   an option of struct leat_pack_options: what it takes; its member;
 *                          its keyword in Python, after the group that has it, if any; whether it belongs to the plan
 *                          of a run in parts; then the words of its struct option_row (cli/options.h)
 *   PACK_KEYWORD(kind, member, keyword, plan)       an option that Python has and the command does not
 *   PACK_HINT(name, command, python)   how the command and Python spell the hint LEAT_HINT_name
 *   PACK_COMMAND(row)      an option of the command alone: its struct option_row
 *
 * Rows stand in the order of `leat pack --help all`. To add an option: the member in leat/pack.h, a row here, its type
 * and its words for Python in python/leat/options.py, and the code that uses it.
 *
 * Kinds: FLAG; CHOICE of words; COUNT, SIZE and TIME, which are numbers; TEXT; TEXTS and SPLITS, which are lists; TOKEN
 * of the tokenizer; CHAT, a template; THREADS. Three have two members: SEED (`shuffle` and `seed`), PART (`part` and
 * `parts`) and LIMIT (a number, and a share whose name ends in _ppm).
 *
 * Plans: SHARED is in the plan, and no part has it otherwise; STEP is in the plan, and each step may set it; OWN is not
 * in the plan.
 */
#ifndef PACK_OPTION
#define PACK_OPTION(...)
#endif
#ifndef PACK_KEYWORD
#define PACK_KEYWORD(...)
#endif
#ifndef PACK_HINT
#define PACK_HINT(...)
#endif
#ifndef PACK_COMMAND
#define PACK_COMMAND(...)
#endif

/* The words of a choice, in the order of their numbers. */
#define PACK_WORDS(...)                                                                                                \
    (const char *const[])                                                                                              \
    {                                                                                                                  \
        __VA_ARGS__, NULL                                                                                              \
    }
#define PACK_FORMAT(number, name) , #name

PACK_COMMAND({ .name = "output",
               .letter = 'o',
               .type = OPTION_TEXT,
               .field = VALUE(output),
               .value = "NAME",
               .help = "the dataset to write: NAME.tokens and NAME.leat",
               .more = "It is required, except with --run and --dry-run.",
               .path = true })
PACK_COMMAND(COMMANDS_TOKENIZER_SPEC(struct pack_values, .preset = "gpt2", .shared = true))
PACK_OPTION(CHOICE, format, "Files.format", SHARED, .name = "format", .value = "FORMAT",
            .standard = "auto, by the name", .help = "of the inputs: " RECORD_FORMAT_VALUES,
            .more = "jsonl is JSON with one document per object: in lines, in an array, or one object after another "
                    "over any number of lines. csv, tsv and parquet have one document per row, and name their columns. "
                    "A text is one document.",
            .group = "Input", .rare = true, .choices = PACK_WORDS("auto" RECORD_FORMATS(PACK_FORMAT)))
PACK_HINT(FORMAT, "(--format NAME)", "(leat.Files(..., format=NAME))")
PACK_OPTION(TEXTS, include, "Files.include", SHARED, .name = "include", .value = "PATTERN",
            .help = "of folders, pack only files that match: '*.jsonl', 'en/**'; repeatable",
            .more = "A pattern without a slash is compared with names, one with a slash with paths below the folder "
                    "that is named; ** stands for any folders. Files that are named themselves are packed.",
            .rare = true)
PACK_OPTION(TEXTS, exclude, "Files.exclude", SHARED, .name = "exclude", .value = "PATTERN",
            .help = "of folders, pack no files that match, likewise", .rare = true)
PACK_OPTION(TEXT, split_of, "Files.split_of", SHARED, .name = "split-of", .value = "NAME|all",
            .standard = "the only one", .help = "pack this split of folders from the Hugging Face Hub",
            .more = "NAME is train, validation, test or another split, as the package datasets finds it in README.md "
                    "or by the names of files; all packs every file. Without this option, inputs of several splits, or "
                    "of a split and of none, are refused. (--split is something else: it divides what is packed.)",
            .rare = true)
PACK_HINT(SPLIT, "(--split-of train, for example, or --split-of all)",
          "(leat.Files(..., split_of=\"train\"), for example, or \"all\")")
PACK_HINT(SPLIT_ALL, "(--split-of all)", "(leat.Files(..., split_of=\"all\"))")
PACK_OPTION(FLAG, skip_unknown, "Files.skip_unknown", SHARED, .name = "skip-unknown",
            .help = "skip files of folders that cannot be read, such as Arrow",
            .more = "Without it, files that may hold texts and cannot be read are an error.", .rare = true)
PACK_HINT(SKIP, "(--skip-unknown)", "(leat.Files(..., skip_unknown=True))")
PACK_OPTION(FLAG, allow_binary, "Files.allow_binary", SHARED, .name = "allow-binary",
            .help = "pack what does not look like UTF-8 text as text",
            .more = "Without it, such files are errors, and such texts are rejected.", .rare = true)
PACK_HINT(BINARY, "(--allow-binary packs it all the same)", "(leat.Files(..., allow_binary=True) packs it anyway)")
PACK_OPTION(FLAG, follow_links, "Files.follow_links", SHARED, .name = "follow-links",
            .help = "also pack the targets of symbolic links that lead out of a folder",
            .more = "Without it, such links are left out and named.", .rare = true)
PACK_HINT(FOLLOW, "(--follow-links)", "(leat.Files(..., follow_links=True))")
PACK_OPTION(TEXT, text, "text", SHARED, .name = "text", .value = "FIELD", .preset = "text",
            .help = "the JSON member or the column that holds the text",
            .more = "Dots lead into objects and groups: meta.body. A JSON member that has dots in its own name cannot "
                    "be named.",
            .group = "Text")
PACK_HINT(TEXT, "(--text NAME)", "(text=NAME)")
PACK_OPTION(TEXT, id, "id", SHARED, .name = "id", .value = "FIELD", .preset = "id",
            .help = "the member or column that holds the document's id, if there is one",
            .more = "An id is a string or a number. An empty FIELD stores no ids.", .rare = true)
PACK_HINT(ID, "(leat pack --id FIELD)", "(leat.pack() with id=FIELD)")
PACK_OPTION(TEXTS, keep, "keep", SHARED, .name = "keep", .value = "CONDITION",
            .help = "pack only records for which this holds: 'score >= 3 and not meta.url exists'; repeatable",
            .more = "Records are JSON objects and rows of tables. Signs: = (or ==) != < <= > >=; and, or, not and "
                    "brackets join. Numbers are compared with numbers, exactly, also sums ('a - 2 * b > 0'); other "
                    "values (in double or single quotes if they have blanks) with strings, by bytes. No comparison "
                    "holds for a missing field, a null, or another type. If no document is left, the run fails; but a "
                    "part of a run may be empty.")
PACK_OPTION(CHOICE, reject_invalid, "invalid_utf8", SHARED, .name = "invalid-utf8", .value = "HOW",
            .standard = "replace", .help = "malformed UTF-8: replace it by U+FFFD, or reject the record",
            .more = "replace does what Python's errors=\"replace\" does.", .rare = true,
            .choices = PACK_WORDS("replace", "reject"))
PACK_OPTION(TEXT, mask_field, "mask_field", SHARED, .name = "mask-field", .value = "FIELD", .standard = "no mask",
            .help = "a list of the parts of the text that training learns",
            .more = "This member of a JSON record, or column, is a list of stretches of the text, [[BEGIN, END], ...], "
                    "in characters and in order. A token is learned if any part of it is in a stretch; the labels of "
                    "others are -100. A record without the member is rejected.",
            .rare = true)
PACK_HINT(MASK_FIELD, "(--mask-field NAME)", "(mask_field=NAME)")
PACK_OPTION(TEXT, prompt, "Pairs.prompt", SHARED, .name = "prompt", .value = "FIELD",
            .standard = "prompt, with --completion", .help = "records are pairs; this member or column is the prompt",
            .more = "Prompt and completion are encoded as one text, and training learns the tokens that hold any byte "
                    "of the completion, with the end token. With --chat, both are lists of messages, and those of the "
                    "completion are learned. A record without one of them is rejected.",
            .excludes = "text|messages|mask-field", .rare = true)
PACK_OPTION(TEXT, completion, "Pairs.completion", SHARED, .name = "completion", .value = "FIELD",
            .standard = "completion, with --prompt",
            .help = "records are pairs; this member or column is the completion",
            .excludes = "text|messages|mask-field", .rare = true)
PACK_HINT(PAIR, "(--prompt NAME, --completion NAME)", "(leat.Pairs(prompt=NAME, completion=NAME))")
PACK_OPTION(FLAG, alpaca, "Pairs.alpaca", SHARED, .name = "alpaca",
            .help = "records are pairs of Alpaca's: instruction, input, output",
            .more = "They get the prompt of Stanford's Alpaca, with the input if it is not empty; training learns the "
                    "output.",
            .excludes = "text|chat|mask-field", .rare = true)
PACK_OPTION(TEXT, weight, "weight", SHARED, .name = "weight", .value = "FIELD", .standard = "each counts as 1",
            .help = "a number from 0 to 1 that says how much the record counts",
            .more = "This member of a JSON record, or column, multiplies the mask of the record, rounded to 255ths; "
                    "training weighs the loss by it. A record without it, or with another value, is rejected.",
            .rare = true)
PACK_OPTION(TEXTS, column, "column", SHARED, .name = "column", .value = "COLUMN",
            .help = "make a column of a member: score=meta.score:f32:document; repeatable",
            .more = "COLUMN is NAME=FIELD:TYPE[xK]:document, or FIELD:TYPE[xK]:document. A column has a value for each "
                    "document, beside the dataset: a number (u8, u16, u32, i32, i64, f16, bf16, f32), a list of K "
                    "numbers, or with the type category a string. A record without one that the type holds is "
                    "rejected.",
            .rare = true)
PACK_OPTION(COUNT, max_length, "max_length", SHARED, .name = "max-length", .value = "N", .standard = "no limit",
            .help = "limit for the tokens of a document, begin and end tokens included",
            .more = "Longer ones are counted; --too-long says what becomes of them.", .rare = true, .min = 1,
            .max = UINT32_MAX)
PACK_OPTION(CHOICE, too_long, "too_long", SHARED, .name = "too-long", .value = "HOW", .standard = "reject",
            .help = "documents longer than --max-length: reject, cut, split",
            .more = "cut keeps the first tokens. split, with --chat, makes several conversations of whole turns, each "
                    "with the system message; a turn that is too long by itself is rejected.",
            .needs = "max-length", .rare = true, .choices = PACK_WORDS("reject", "cut", "split"))
PACK_OPTION(CHAT, chat, "chat", SHARED, .name = "chat", .value = "FILE|tokenizer",
            .help = "render conversations by this chat template, or by the one of the tokenizer",
            .more = "Records are conversations, and FILE is a template in Jinja; tokenizer takes the one in the "
                    "tokenizer's folder. Python renders it, with jinja2 and leat's Python package. Training learns "
                    "only what the assistant says, with the token that ends its turn, or what the template puts into "
                    "{% generation %}.",
            .group = "Conversations", .path = true)
PACK_HINT(CHAT, "(--text NAME, or --chat FILE for conversations)", "(text=NAME, or chat=FILE for conversations)")
PACK_OPTION(TEXT, messages, "Chat.messages", SHARED, .name = "messages", .value = "FIELD", .standard = "messages",
            .help = "the member or column that holds the conversation",
            .more = "It is a list of objects with role and content.", .rare = true)
PACK_HINT(MESSAGES, "(--messages NAME)", "(leat.Chat(..., messages=NAME))")
PACK_OPTION(TEXT, tools, "Chat.tools", SHARED, .name = "tools", .value = "FIELD", .standard = "tools, if there is one",
            .help = "the member or column that holds the conversation's tools",
            .more = "It is a list of objects, or a string that holds one as JSON. With an empty FIELD the template "
                    "gets no tools.",
            .rare = true)
PACK_OPTION(TEXT, chat_date, "Chat.date", SHARED, .name = "chat-date", .value = "DATE", .standard = "refused",
            .help = "the date that strftime_now() of the template writes: 2026-01-31",
            .more = "The current date would not give the same bytes tomorrow.", .rare = true)
PACK_HINT(CHAT_DATE, "(--chat-date DATE)", "(leat.Chat(..., date=\"YYYY-MM-DD\"))")
PACK_OPTION(COUNT, chat_seconds, "Chat.seconds", STEP, .name = "chat-seconds", .value = "N", .standard = "10",
            .help = "end the run if rendering one conversation takes longer", .rare = true, .min = 1, .max = 86400)
PACK_OPTION(FLAG, skip_slow_chats, "Chat.skip_slow_chats", SHARED, .name = "skip-slow-chats",
            .help = "reject conversations that take longer, instead of ending the run",
            .more = "Which ones these are depends on the machine.", .rare = true)
PACK_HINT(CHAT_TIME, "(--chat-seconds N, or --skip-slow-chats)", "(leat.Chat(..., seconds=N), or skip_slow_chats=True)")
PACK_OPTION(CHOICE, learn, "Chat.learn", SHARED, .name = "learn", .value = "WHAT", .standard = "assistant",
            .help = "what training learns: assistant (all answers), last, final, all",
            .more = "last is the last answer, final what follows its reasoning and tool calls, all every token. A "
                    "message's own word (--message-weight) comes before it.",
            .rare = true, .choices = PACK_WORDS("assistant", "last", "final", "all"))
PACK_OPTION(CHOICE, learn_reasoning, "Chat.learn_reasoning", SHARED, .name = "learn-reasoning", .value = "yes|no",
            .standard = "yes", .help = "learn the reasoning of answers", .rare = true,
            .choices = PACK_WORDS("yes", "no"))
PACK_OPTION(CHOICE, learn_tool_calls, "Chat.learn_tool_calls", SHARED, .name = "learn-tool-calls", .value = "yes|no",
            .standard = "yes", .help = "learn the tool calls of answers", .rare = true,
            .choices = PACK_WORDS("yes", "no"))
PACK_OPTION(CHOICE, learn_end, "Chat.learn_end", SHARED, .name = "learn-end", .value = "all|last|no", .standard = "all",
            .help = "learn the tokens that end turns", .rare = true, .choices = PACK_WORDS("all", "last", "no"))
PACK_OPTION(TEXT, message_weight, "Chat.message_weight", SHARED, .name = "message-weight", .value = "FIELD",
            .standard = "weight and others", .help = "the member that says how much a message is learned",
            .more = "true, false or a number from 0 to 1; without this option, the members train, training, loss, "
                    "loss_mask, weight and loss_scale; none: no member. It decides for its message, of whatever role, "
                    "over --learn. Messages need not have it.",
            .rare = true)
PACK_OPTION(TOKEN, end_token, "end", SHARED, .name = "end", .value = "ID|TOKEN|none",
            .standard = "the tokenizer's; with --chat none", .help = "the token after each document",
            .more = "A chat template writes its own, as in transformers.", .group = "Tokens", .rare = true)
PACK_OPTION(TOKEN, begin_token, "begin", SHARED, .name = "begin", .value = "ID|TOKEN|none",
            .standard = "none, or the tokenizer's", .help = "the token before each document",
            .more = "Without --begin and --end, it is the token that the post-processor of a tokenizer.json puts "
                    "before each text (Llama, Gemma, BERT), unless it puts another token than the end token after the "
                    "text.",
            .rare = true)
PACK_OPTION(FLAG, special, "special", SHARED, .name = "special",
            .help = "encode strings of special tokens in the text as these tokens",
            .more = "Without it, they are ordinary text and are counted.", .rare = true)
PACK_COMMAND(COMMANDS_PATTERN(struct pack_values, .shared = true))
PACK_KEYWORD(FLAG, store_mask, "store_mask", SHARED)
PACK_OPTION(SEED, shuffle, "shuffle", OWN, .name = "shuffle", .value = "SEED", .standard = "in order",
            .help = OUTPUTS_SHUFFLE_HELP, .group = "Output")
PACK_OPTION(FLAG, dedup, "dedup", OWN, .name = "dedup", .help = OUTPUTS_DEDUP_HELP)
PACK_OPTION(SPLITS, splits, "split", SHARED, .name = "split", .value = "NAME=SHARE,...", .help = OUTPUTS_SPLIT_HELP,
            .more = OUTPUTS_SPLIT_MORE, .once = true)
PACK_OPTION(TEXT, by, "by", SHARED, .name = "by", .value = "FIELD", .standard = "one dataset",
            .help = "make a dataset NAME.VALUE for each value of this field: lang, meta.source",
            .more = "FIELD is a JSON member or a column. A record without it is rejected; more than 1,024 values are "
                    "refused.",
            .rare = true)
PACK_HINT(BY, "(--by NAME)", "(by=NAME)")
PACK_OPTION(FLAG, allow_empty, "allow_empty", SHARED, .name = "allow-empty",
            .help = "make a dataset without documents, if --keep leaves none",
            .more = "For a run in parts, it is an option of leat merge.", .rare = true)
PACK_HINT(EMPTY, "(--allow-empty makes it all the same)", "(allow_empty=True makes it anyway)")
PACK_OPTION(FLAG, force, "force", OWN, .name = "force", .help = "replace NAME, once the new one is finished",
            .more = "Datasets of the earlier run that this one does not write (NAME.SPLIT, NAME.VALUE) stay, and are "
                    "named.")
PACK_COMMAND({ .name = "dry-run",
               .type = OPTION_FLAG,
               .field = VALUE(dry_run),
               .help = "write nothing: show what to expect, and what would go wrong",
               .more = "It shows the inputs, the first text, and an estimate from a sample that is packed for some "
                       "seconds into a temporary folder; and it finds wrong fields, tokenizers and names, and disks "
                       "that are too small." })
PACK_OPTION(THREADS, threads, "threads", STEP, .name = "threads", .value = "N", .standard = "all cores",
            .help = "threads that do the work", .min = 1, .max = 4096)
PACK_COMMAND(RETRY_OPTION_ROW)
PACK_OPTION(SIZE, memory, "memory", STEP, .name = "memory", .value = "SIZE",
            .standard = "2GiB, or less in a control group", .help = "limit on resident memory",
            .more = "It holds for any input, except for a larger page of Parquet in LZ4.", .rare = true, .min = 1)
PACK_OPTION(CHOICE, write, "write", STEP, .name = "write", .value = "HOW", .standard = "auto",
            .help = "how tokens get to the disk: auto, cached, direct",
            .more = "cached writes through the page cache, where training finds the tokens next. direct takes less CPU "
                    "time and lets more than 8 threads write at once, on file systems that can (ext4, XFS). auto "
                    "writes directly what comes after a quarter of the free memory, or after 1 GiB with more than 8 "
                    "threads.",
            .rare = true, .choices = PACK_WORDS("auto", "cached", "direct"))
PACK_KEYWORD(TIME, created, "created", STEP)
PACK_COMMAND(COMMANDS_PROGRESS(struct pack_values))
PACK_COMMAND(OPTIONS_JSON(struct pack_values, "print the summary as one JSON object"))
PACK_OPTION(PART, part, "part", OWN, .name = "part", .value = "I/N|auto/N",
            .help = "pack only part I of N; `leat merge` joins all parts. auto: the scheduler's number",
            .more = "A part is the I-th of N shares of the inputs' bytes; `leat merge` joins all N into the bytes of "
                    "one run. auto takes I from Slurm, Kubernetes, AWS Batch, PBS, MPI and others, from the "
                    "environment; auto+K adds K to it, for an array that counts from 0, or several arrays. With --run, "
                    "/N can be left out.",
            .group = "Many machines", .rare = true)
PACK_COMMAND({ .name = "run",
               .type = OPTION_TEXT,
               .field = VALUE(run),
               .value = "DIR",
               .help = "the shared folder of a run in many parts: plan it (--parts), or pack a part (--part)",
               .more = "With --parts and inputs, the plan is written down. Then `leat pack --run DIR --part I` or "
                       "`--part auto`, without inputs, packs a part, or goes on with it; `leat status DIR` and `leat "
                       "merge -o NAME DIR` follow. --dedup and --shuffle are for that merge; with --split, DIR/NAME is "
                       "a dataset, too.",
               .excludes = "output|dry-run",
               .rare = true,
               .path = true })
PACK_COMMAND({ .name = "parts",
               .type = OPTION_COUNT,
               .field = VALUE(parts),
               .value = "N",
               .help = "how many parts the run of --run has",
               .rare = true,
               .min = 1,
               .max = LEAT_RUN_MAX_PARTS })
PACK_OPTION(FLAG, resume, "resume", OWN, .name = "resume",
            .help = "continue a run that was stopped or killed, with the same arguments",
            .more = "The bytes are those of an unbroken run.", .group = "Failures")
PACK_OPTION(LIMIT, max_rejects, "max_rejects", STEP, .name = "max-rejects", .value = "N|P%", .preset = "1%",
            .help = "end with code 4 if more records than this cannot be packed",
            .more = "Records that cannot be packed go to NAME.rejects.jsonl with their reasons.", .rare = true)
PACK_OPTION(FLAG, allow_truncated, "allow_truncated", STEP, .name = "allow-truncated",
            .help = "an input that is cut off or broken is a warning, not a failure",
            .more = "This is about compressed inputs and Parquet files; what was readable is packed either way.",
            .rare = true)

#undef PACK_OPTION
#undef PACK_KEYWORD
#undef PACK_COMMAND
#undef PACK_HINT
#undef PACK_WORDS
#undef PACK_FORMAT
