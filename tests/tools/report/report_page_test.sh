#!/usr/bin/env bash
# The report from outside: its command, and its page in headless Chromium, driven by report_page.mjs. The page is
# skipped where Chromium or npm is missing.
set -uo pipefail
cd "$(dirname "$0")/../../.."
root=$PWD

make --no-print-directory -s build/lamina || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
passed=0 failed=0

check() {  # check TITLE CODE TEXT PROGRAM ARGUMENT...: one line on stderr that contains TEXT, and the exit code
  local title=$1 code=$2 text=$3 status=0
  shift 3
  "$@" >/dev/null 2>"$scratch/err" || status=$?
  if [ "$status" = "$code" ] && [ "$(wc -l <"$scratch/err")" = 1 ] && grep -qF -- "$text" "$scratch/err"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $title: exit code $status; it said: $(cat "$scratch/err")"
  fi
}

cp build/lamina "$scratch/lamina"
check "a program without its page says how to make it" 1 "run make report once" "$scratch/lamina" report
check "a port without --live" 2 "--live" build/lamina report --port 8000

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
if [ -z "$chromium" ] || ! command -v npm >/dev/null; then
  echo "skipped: the report's page needs Chromium and npm (tools/install-deps.sh --dev)"
  echo "$passed passed, $failed failed, 1 skipped"
  [ "$failed" = 0 ]
  exit
fi

make --no-print-directory -s build/report/page.html || exit 1
check "a folder that does not exist" 1 "nowhere: is not a folder" build/lamina report nowhere --out "$scratch/a.html"
check "a place that cannot be written" 1 "/dev/null/a.html" build/lamina report tests --out /dev/null/a.html
modules=build/report-test
if [ tools/report/page/package-lock.json -nt $modules/node_modules ]; then
  mkdir -p $modules && cp tools/report/page/package.json tools/report/page/package-lock.json $modules
  (cd $modules && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null) || exit 1
  touch $modules/node_modules
fi

mkdir "$scratch/page" && cd "$scratch/page" || exit 1
node "$root/tests/tools/report/report_page.mjs" "$root/build/lamina" "$root/$modules" "$chromium" | tee "$scratch/log"
read -r p f <<<"$(sed -nE 's/^([0-9]+) passed, ([0-9]+) failed$/\1 \2/p' "$scratch/log")"
echo "$((passed + ${p:-0})) passed, $((failed + ${f:-1})) failed"
[ $((failed + ${f:-1})) = 0 ]
