#!/usr/bin/env bash
# Runs the commands of README.md, CONTRIBUTING.md and of the pages in core/, models/*/ and tools/bench, so that they stay correct.
#
#   tools/test-readme.sh [FILE...]
#
# Every ```sh block is one test: bash -e runs it in a copy of the repository's top folder, where a file's blocks find
# what earlier ones made (runs/ is empty at first). LAMINA_SMOKE=1 is set: training then ends after a few seconds, and
# everything else runs as written. HOME is a temporary folder. A comment on a line before a block can change this:
#
#   <!-- smoke: EPOCHS=1 NAME=value -->   sets environment variables for this block
#   <!-- needs: data/mnist -->            skips the block when this path does not exist
#   <!-- not run: it takes a day -->      skips the block; the reason is printed
#   <!-- save as: first.cpp -->           saves the block, which can be in any language, for a later one to use
set -uo pipefail
cd "$(dirname "$0")/.."
root=$PWD
seconds_for_a_block=300

if [ $# = 0 ]; then
  shopt -s nullglob
  set -- README.md CONTRIBUTING.md core/*.md core/gemm/*.md models/*/*.md tools/bench/*.md
fi

# The mirror is no clone, and build/, which it shares, is to stay that of this commit.
git_folder=$(git rev-parse --absolute-git-dir 2>/dev/null) && export GIT_DIR=$git_folder GIT_WORK_TREE=$root
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0 skipped=0

# Writes block N of a file to DIR/N.sh and its comments to DIR/N.comments ("line 12", "needs data/mnist", ...).
split_blocks() {  # split_blocks FILE DIR
  awk -v dir="$2" '
    inside && /^ *```/ { inside = 0; comments = ""; close(out); next }
    inside { print > out; next }
    match($0, /^<!-- *(smoke|needs|not run|save as):.*-->/) {
      line = substr($0, RSTART, RLENGTH)
      sub(/^<!-- */, "", line); sub(/ *-->$/, "", line); sub(/: */, " ", line)
      comments = comments line "\n"
      next
    }
    /^ *```/ {
      inside = 1
      out = "/dev/null"
      if ($0 ~ /^ *```(sh|bash)$/ || comments ~ /(^|\n)save as /) {
        name = sprintf("%s/%03d", dir, ++count)
        printf "line %d\n%s", NR, comments > (name ".comments")
        close(name ".comments")
        out = name ".sh"
        printf "" > out
      }
      next
    }
    /[^ ]/ { comments = "" }' "$1"
}

run_block() {  # run_block FILE BLOCK WORK: in the folder WORK, a mirror of the repository
  local comments=${2%.sh}.comments reason path variables
  local name="$1:$(sed -n 's/^line //p' "$comments")"
  reason=$(sed -n 's/^not run //p' "$comments")
  path=$(sed -n 's/^needs //p' "$comments")
  variables=$(sed -n 's/^smoke //p' "$comments")
  if grep -q '^save as ' "$comments"; then
    cp "$2" "$3/$(sed -n 's/^save as //p' "$comments")"
  elif [ -n "$reason" ]; then
    echo "skipped $name: $reason"
    skipped=$((skipped + 1))
  elif [ -n "$path" ] && [ ! -e "$path" ]; then
    echo "skipped $name: there is no $path"
    skipped=$((skipped + 1))
  # $variables is not quoted because it is a list of words.
  elif (cd "$3" && env LAMINA_SMOKE=1 HOME="$scratch/home" $variables \
        timeout "$seconds_for_a_block" bash -euo pipefail "$2") </dev/null >"$scratch/log" 2>&1; then
    echo "passed  $name"
    passed=$((passed + 1))
  else
    echo "FAILED  $name with exit code $? (124: longer than $seconds_for_a_block s); the block and what it printed:"
    sed 's/^/  | /' "$2" "$scratch/log"
    failed=$((failed + 1))
  fi
}

mkdir -p build "$scratch/home"
number=0
for file in "$@"; do
  number=$((number + 1))
  blocks=$scratch/blocks$number work=$scratch/work$number
  mkdir "$blocks" "$work"
  # The mirror shares sources and build with the repository; the commands' output is not written there.
  for entry in "$root"/*; do
    case ${entry##*/} in runs | report) ;; *) ln -s "$entry" "$work/" ;; esac
  done
  split_blocks "$file" "$blocks" || failed=$((failed + 1))
  for block in "$blocks"/*.sh; do
    [ -e "$block" ] && run_block "$file" "$block" "$work"
  done
done

[ "$skipped" = 0 ] && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" = 0 ] && [ $((passed + skipped)) -gt 0 ]
