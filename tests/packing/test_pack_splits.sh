#!/bin/sh
# test_pack_splits.sh: a folder from the Hugging Face Hub holds texts to train with and texts to test with; both once
# went into one dataset, without a word. Without a choice that is refused, before anything is written: in folders,
# lists, several files, what a shell makes of a pattern, and runs in parts. --split-of takes one split, or all files.
# (python/tests/pack/test_hub_splits.py compares what a split is with the package datasets.)
. tests/cli/cli.sh

key() { # the value of a member of the object that was printed last
    sed -n "s/.*\"$1\": \(\[[^]]*\]\|[^,}]*\).*/\1/p" "$printed"
}
make() { # FILE...: each with one text
    for file in "$@"; do
        mkdir -p "$(dirname "$file")"
        printf '{"text":"%s"}\n' "$file" >"$file"
    done
}
nothing_written() {
    for file in out*; do
        [ ! -e "$file" ] || fail "$ran: left $file"
    done
}
takes() { # INPUTS WORD...: without a word on stderr
    want=$1
    shift
    run leat pack -t bytes --force -o taken --json "$@"
    [ "$code" = 0 ] || fail "$ran: code $code, $(cat "$said")"
    [ "$(key documents)" = "$want" ] || fail "$ran: the documents of $(key documents) files, not of $want"
}

# ---- Without a choice ----

make hub/train-00000-of-00002.jsonl hub/train-00001-of-00002.jsonl hub/test-00000-of-00001.jsonl
list='train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl)'
cure='name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)'
printf 'hub/test-00000-of-00001.jsonl\nhub/train-00000-of-00002.jsonl\nhub/train-00001-of-00002.jsonl\n' >list
refuse 2 "hub $list" leat pack -t bytes -o out hub
refuse 2 "hub/ $list" leat pack -t bytes -o out --dry-run hub/
for words in 'hub/*' @list; do
    refuse 2 "$list" leat pack -t bytes -o out "$words"
done
refuse 2 "$list" leat pack -t bytes -o out hub/*.jsonl
run leat pack -t bytes --run out.run --parts 2 hub
says 2 "$list; $cure"
run leat pack -t bytes -o out --part 1/2 hub
says 2 "$list; $cure"
run leat pack -t bytes -o out --split valid=0.5 hub # which is something else
says 2 "$list; $cure"
nothing_written

# one split and files of none: datasets would leave these out; a name of its own is no reason to refuse a file
make trap/corpus.jsonl trap/test.jsonl
run leat pack -t bytes -o out trap
says 2 'trap do not all belong to one split: test (1 file: test.jsonl), no split (1 file: corpus.jsonl); name'
takes 1 trap/test.jsonl
takes 1 trap/corpus.jsonl
make same/test-1.jsonl same/test-2.jsonl test/a.jsonl test/b.jsonl
takes 2 same
takes 2 test
takes 2 test/a.jsonl test/b.jsonl
takes 2 "$tmp/test"
make two/train/a.jsonl two/test/a.jsonl
run leat pack -t bytes -o out two/train two/test
says 2 'the inputs do not all belong to one split: train (1 file: train/a.jsonl), test (1 file: test/a.jsonl);'
takes 1 --split-of test two/train two/test
takes 1 two/train
# what stands above what was named says nothing, also where only some begin at the root
mkdir -p "$tmp/test/x/here" && cd "$tmp/test/x/here" && make b.jsonl in/c.jsonl
takes 2 b.jsonl "$tmp/test/a.jsonl"
takes 3 "$PWD/b.jsonl" b.jsonl ./b.jsonl
takes 2 b.jsonl "$PWD/in"
takes 2 in "$tmp/test/a.jsonl"
make train/d.jsonl
run leat pack -t bytes -o out b.jsonl "$PWD/train"
says 2 'the inputs do not all belong to one split: train (1 file: train/d.jsonl), no split (1 file: b.jsonl);'
cd "$tmp" && rm -r test/x

# many are counted
i=100
while [ $i -lt 130 ]; do
    make "many/data/a-very-long-name-of-a-split-that-nobody-reads-$i-00000-of-00001.jsonl"
    make "many/data/b-00$i-of-00130.jsonl"
    i=$((i + 1))
done
run leat pack -t bytes -o out many
says 2 'a-very-long-name-of-a-split-that-nob... (1 file: ...obody-reads-100-00000-of-00001.jsonl), '
says 2 ' and 27 more splits; name a narrower folder'
takes 30 --split-of b many

# ---- A choice ----

takes 2 --split-of train hub
[ "$(key skipped_files)" = '["hub/test-00000-of-00001.jsonl"]' ] || fail "left out: $(key skipped_files)"
[ "$(key hub_splits)" = \
    '[{"split": "train", "inputs": 2, "packed": true}, {"split": "test", "inputs": 1, "packed": false}]' ] ||
    fail "the splits: $(cat "$printed")"
says 0 'leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl'
takes 2 --split-of train hub/*
takes 1 --split-of test @list
takes 3 --split-of all hub
[ "$(key hub_splits)" = '[]' ] || fail "splits where nobody asked: $(cat "$printed")"
run leat pack -t bytes -o out --split-of train --dry-run hub
grep -qx 'Packs the split train (2 inputs).' "$printed" || fail "the dry run says: $(cat "$printed")"
grep -qx 'Leaves out test (1 input).' "$printed" || fail "the dry run says: $(cat "$printed")"
for split in validation '' ALL; do
    refuse 2 "hub $split $list" leat pack -t bytes -o out --split-of "$split" hub
done
make plain/a.jsonl plain/b.jsonl
takes 2 --split-of train plain # as datasets has it
refuse 2 'plain test' leat pack -t bytes -o out --split-of test plain
nothing_written

# the choice is part of the run: the same bytes as the files by themselves, in parts, too, and resumed
leat pack -t bytes -o alone hub/train-*.jsonl >"$printed" || fail 'the files alone'
leat pack -t bytes -o chosen --split-of train hub/train-*.jsonl >"$printed" || fail 'the files, chosen'
for kind in tokens leat; do
    cmp alone.$kind chosen.$kind || fail "the choice changes bytes of $kind"
done
run leat pack -t bytes --run run --parts 2 --split-of train hub
[ "$code" = 0 ] || fail "cannot plan: $(cat "$said")"
for part in 1 2; do
    run leat pack --run run --part $part
    [ "$code" = 0 ] || fail "part $part: $(cat "$said")"
done
run leat pack --run run --part 1 --split-of test
says 2 '--split-of belongs to the plan of a run: all parts share it'
run leat pack -t bytes --run run --parts 2 --split-of test hub
says 1 'the run in'
leat merge -o merged run >"$printed" || fail 'cannot merge'
cmp merged.tokens alone.tokens || fail 'parts give other tokens'
printf '{"text":"a"}\n{"x":1}\n{"text":"b"}\n' >hub/train-00000-of-00002.jsonl
run leat pack -t bytes -o stopped --split-of train --max-rejects 0 hub
[ "$code" = 4 ] || fail "not stopped: $code"
run leat pack -t bytes -o stopped --split-of all --max-rejects 9 --resume hub
says 1 'that one had "split-of train"'
run leat pack -t bytes -o stopped --max-rejects 9 --resume hub
says 2 "do not all belong to one split"
run leat pack -t bytes -o stopped --split-of train --max-rejects 9 --resume hub
[ "$code" = 0 ] || fail "not resumed: $(cat "$said")"

# ---- README.md ----

make card/en/a.jsonl card/en/b.jsonl card/fr/a.jsonl
card() {
    { echo ---; cat; echo ---; } >card/README.md
}
card <<TEXT
configs:
- config_name: en
  data_files:
  - split: train
    path: en/a*
  - split: test
    path: en/b*
- config_name: fr
  data_dir: fr
- config_name: of no file
  data_files: de/*
TEXT
run leat pack -t bytes -o out card
case $(cat "$said") in
*'no libyaml'*) # what else README.md says cannot be tried
    says 1 'card/README.md lists configurations, which this build cannot read'
    takes 3 --split-of all card
    finish
    ;;
esac
for choice in --json --split-of=train --split-of=nothing; do
    refuse 2 'card README.md en/a* --split-of' leat pack -t bytes -o out "$choice" card
done
takes 3 --split-of all card
takes 2 card/en # where no README.md is
takes 1 card/fr
rm -r card/fr # as if it had not been downloaded
run leat pack -t bytes -o out card
says 2 'card do not all belong to one split: train (1 file: en/a.jsonl), test (1 file: en/b.jsonl);'
takes 1 --split-of test card
rm -r card/en && make card/train.jsonl card/test.jsonl card/a.jsonl # of which README.md says nothing
takes 1 --split-of train card
card <<TEXT
configs:
- config_name: default
  data_files: "*"
TEXT
takes 3 card # though names say something else
card <<TEXT
configs: [
TEXT
run leat pack -t bytes -o out card
says 2 'card/README.md lists configurations, but its YAML cannot be read: line 3: '
says 2 '; mend it, name a narrower folder, or take all files (--split-of all)'
takes 3 --split-of all card
takes 3 --split-of all card/*.jsonl
takes 1 card/train.jsonl
mkdir other && mv card other && ln -s other/card linked && mkdir other/more && make other/more/a.jsonl
run leat pack -t bytes -o out linked
says 2 'linked/README.md lists configurations, but'
run leat pack -t bytes -o out other # whose own is another one
says 2 'other do not all belong to one split: train (1 file: card/train.jsonl), test'
run leat pack -t bytes -o out other/card other/more
says 2 'other/card/README.md lists configurations, but'
rm other/card/README.md && mkfifo other/card/README.md
takes 1 --split-of train other/card # a pipe is none
nothing_written
finish
