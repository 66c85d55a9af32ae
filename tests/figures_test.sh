#!/usr/bin/env bash
# Every figure in the repository carries the commit that made it, and the repository has that commit. The course's are
# drawn again by tests/models/course/course_test.sh and compared.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0
# Ten digits: in a PNG the checksum follows, whose first byte may look like one more.
for figure in $(git ls-files '*.svg' '*.png' ':!models/course' 2>/dev/null); do
  commit=$(grep -aoE 'commit [0-9a-f]{10}(-dirty)?' "$figure" | head -n 1 | cut -d' ' -f2)
  if [ -z "$commit" ] || [ "${commit%-dirty}" != "$commit" ]; then
    echo "FAILED: $figure names ${commit:-no commit}; draw it with a program built from a clean checkout"
    failed=$((failed + 1))
  elif [ "$(git rev-parse --is-shallow-repository)" = true ]; then
    skipped=$((skipped + 1))  # the commit may be missing from a shallow clone
  elif git cat-file -e "$commit^{commit}" 2>/dev/null; then
    passed=$((passed + 1))
  else
    echo "FAILED: $figure names commit $commit, which is not in this repository"
    failed=$((failed + 1))
  fi
done
[ "$skipped" = 0 ] && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" = 0 ]
