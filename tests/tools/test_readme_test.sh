#!/usr/bin/env bash
# tools/test-readme.sh must run what a README shows, notice what fails, and obey its comments.
set -uo pipefail
cd "$(dirname "$0")/../.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0
expect() {  # expect TITLE EXIT-CODE CLOSING-LINE, with the README on standard input
  local output actual
  cat >"$scratch/README.md"
  output=$(tools/test-readme.sh "$scratch/README.md" 2>&1)
  actual=$?
  if [ "$actual" = "$2" ] && [ "$(tail -n 1 <<<"$output")" = "$3" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    printf 'FAILED: %s: exit code %s\n%s\n' "$1" "$actual" "$output"
  fi
}

expect "runs blocks in order, in a mirror of the repository" 0 "2 passed, 0 failed" <<'END'
```sh
[ -f Makefile ] && [ "$LAMINA_SMOKE" = 1 ]
mkdir runs && echo 1 > runs/made-by-block-1
```
```cpp
not a command
```
```sh
[ -f runs/made-by-block-1 ]
```
END
[ -e runs/made-by-block-1 ] && failed=$((failed + 1))

# Otherwise a block that builds leaves a program in the shared build/ that does not know its commit.
export COMMIT=$(git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null)
expect "gives make the commit of the repository" 0 "1 passed, 0 failed" <<'END'
```sh
[ "$(git describe --always --dirty --abbrev=10 --exclude '*' 2>/dev/null)" = "$COMMIT" ]
```
END

expect "notices a failing command in the middle of a block" 1 "1 passed, 1 failed" <<'END'
```sh
false
true
```
```sh
true
```
END

expect "obeys comments" 0 "2 passed, 0 failed, 2 skipped" <<'END'
<!-- not run: it takes a day -->
```sh
false
```

<!-- needs: no/such/data -->

```sh
false
```
<!-- save as: first.txt -->
```cpp
int main() {}
```
<!-- smoke: A=1 B=two -->
```sh
grep main first.txt
[ "$A$B" = 1two ]
```
<!-- not run: words in between end a comment's reach -->
Words.
```sh
true
```
END

expect "fails without any block" 1 "0 passed, 0 failed" <<'END'
No commands here.
END

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
