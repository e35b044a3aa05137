output_links.t: what a command writes is a file of its user's. A symbolic or a hard link that somebody has put in its
place, as in a folder that others write to, is refused, and what it leads to stays as it was.

  $ seq -f '{"text":"text %g"}' 100 >in.jsonl
  $ leat pack -t bytes -o corpus in.jsonl >/dev/null
  $ loads='leat-bench load --source corpus --seq-len 8 --batch 1 --steps 2 --checksum'
  $ try_links() { # FILE COMMAND...: a command that writes this file
  >     file=$1
  >     shift
  >     for kind in -s ''; do
  >         echo mine >victim
  >         ln $kind victim "$file"
  >         "$@" >/dev/null || echo "[$?]"
  >         cat victim
  >         rm "$file" victim
  >     done
  >     "$@" >/dev/null
  > }
  $ try_links page.html.partial leat show --html page.html --document 0 corpus
  leat: cannot write page.html: page.html.partial is a symbolic link, where leat writes a file: remove it, or choose another name
  [1]
  mine
  leat: cannot write page.html: page.html.partial has a second name (a hard link), under which it would change too: put a copy in its place, or choose another name
  [1]
  mine
  $ try_links dump $loads --dump dump
  leat-bench: dump is a symbolic link, where leat writes a file: remove it, or choose another name
  [1]
  mine
  leat-bench: dump has a second name (a hard link), under which it would change too: put a copy in its place, or choose another name
  [1]
  mine

Pipes and devices are written to, also by a link to one.

  $ ln -s /dev/stdout out
  $ leat show --html out --document 0 corpus | grep '^</html>$'
  </html>
