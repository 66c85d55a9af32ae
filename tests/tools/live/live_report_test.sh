#!/usr/bin/env bash
# The report in folders with entries that are not regular files, and the live report ended at random moments. --all:
# 1000 starts instead of 50.
starts=50
[ "${1:-}" = --all ] && starts=1000
source "$(dirname "$0")/../checks.sh"

# A copy of the program with a separate page, so that this needs no npm.
mkdir report && echo "connect-src 'none' \"@DATA@\"" >report/page.html
cp "$lamina" program

mkdir -p runs/{good,fifo,device,endless,link,folder}
columns=norm,scale,step,hidden_norm,hidden_gradient_norm,summed_input_deviation
printf '%s\nnone,1,1,0.5,0.5,0.5\n' $columns >runs/good/stability.csv
mkfifo runs/fifo/metrics.csv runs/fifo/config.json runs/fifo/bench.json
ln -s /dev/zero runs/device/metrics.csv
ln -s /dev/zero runs/device/config.json
truncate -s 1T runs/endless/metrics.csv
truncate -s 1T runs/endless/config.json
ln -s config.json runs/link/config.json
mkdir runs/folder/metrics.csv

skips_odd_files() {  # the static report is written, and each odd file is named on one line
  timeout 20 ./program report --out page.html >out 2>err || return 1
  for file in fifo/metrics.csv fifo/config.json device/metrics.csv device/config.json endless/metrics.csv \
    endless/config.json folder/metrics.csv; do
    [ "$(grep -c "not shown: runs/$file: " err)" = 1 ] || { echo "  no line on $file"; return 1; }
  done
  [ -s page.html ]
}
check "the report skips what is no regular file, with a line" skips_odd_files

starts_live() {  # starts the live report and sets `server` and `port`
  ./program report --live --port 0 >out 2>err &
  server=$!
  for _ in $(seq 500); do
    port=$(sed -n 's|.*127.0.0.1:\([0-9]*\)/.*|\1|p' out)
    [ -n "$port" ] && return
    sleep 0.01
  done
  return 1
}

ends_within_a_second() {
  kill -TERM "$server"
  timeout 1 tail --pid="$server" -s 0.02 -f /dev/null
  local status=$?
  kill -9 "$server" 2>/dev/null
  wait "$server" 2>/dev/null
  return $status
}

answers() { curl -sS --max-time 5 "http://127.0.0.1:$port/$1" | grep -F "$2" >/dev/null; }

check "the live report starts among odd files" starts_live
check "and shows the others" answers data.json good
check "and its page" answers "" "connect-src 'self'"
check "and ends at once" ends_within_a_second
grown() {
  starts_live && answers data.json runs/good || return 1
  echo none,1,2,0.375,0.5,0.5 >>runs/good/stability.csv
  answers data.json 0.375
  local shown=$?
  ends_within_a_second && [ $shown = 0 ]
}
check "the live report follows a run" grown

ends_whenever() {  # Ctrl-C at a random moment of the first 30 ms, before and after it listens
  local late=0
  for _ in $(seq "$starts"); do
    timeout --foreground -k 1 -s INT "$(printf '0.%03d' $((RANDOM % 30 + 1)))" ./program report --live --port 0 >out 2>err
    [ $? = 137 ] && late=$((late + 1))  # had to be killed after another second
  done
  [ "$late" = 0 ] || { echo "  $late of $starts did not end within a second"; return 1; }
}
check "Ctrl-C ends the live report whenever it comes" ends_whenever
"${lamina%/build/lamina}/tests/tools/in_terminal.py" --stop-at "follows the runs" ./program report --live --port 0 >screen
check "in a terminal, too" [ $? = 0 ]
check "  and it says so, and nothing of saving" eval 'grep -qa "interrupted: ending" screen && ! grep -qa saving screen'
finish
