#!/usr/bin/env bash
# Training by several processes under mpirun: the same numbers as one, odd batches, wrong starts, deaths, resume, Ctrl-C.
# Skipped where lamina was built without MPI, or there is no mpirun.
source "$(dirname "$0")/../../tools/checks.sh"

check "commands that train nothing refuse several ranks" env OMPI_COMM_WORLD_SIZE=2 bash -c \
  "! '$lamina' geometry 2>err && grep -q 'geometry does not share its work among processes; start it without mpirun' err"
if "$lamina" --version | grep -q 'no MPI' || ! command -v mpirun >/dev/null; then
  check "without MPI several ranks are refused" env OMPI_COMM_WORLD_SIZE=2 bash -c \
    "! '$lamina' mnist --out none 2>err && grep -q 'built without MPI' err"
  echo "no MPI here: training by several processes is not tested"
  skipped=1
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" = 0 ]
  exit
fi

export LAMINA_SMOKE=1 LAMINA_THREADS=1
export TERM=dumb  # mpirun gives its processes a terminal
ranks() {  # ranks N PROGRAM ARGUMENT...: N processes, which may have fewer cores
  local count=$1 user=()
  shift
  [ "$(id -u)" != 0 ] || user=(--allow-run-as-root)
  timeout 300 mpirun "${user[@]}" --oversubscribe --bind-to none -n "$count" "$@" </dev/null
}

# differ.py FOLDER FOLDER LOSSES PARAMETERS LEFT_OUT: the largest relative difference between the losses of two runs, which must
# be below LOSSES, and that between their parameters, relative to the largest value of each but those named LEFT_OUT, which
# must be below PARAMETERS.
cat > differ.py <<'END'
import csv, json, struct, sys
def table(folder):
    rows = list(csv.DictReader(open(folder + "/metrics.csv")))
    return [float(v) for r in rows for k, v in r.items() if k not in ("seconds",) and not k.endswith("_rank") and "error" not in k
            and "_r1" not in k and "_r5" not in k and "_sum" not in k]
def values(folder):
    data = open(folder + "/model.safetensors", "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + at for at in entry["data_offsets"])
            yield name, memoryview(data[begin:end]).cast("d" if entry["dtype"] == "F64" else "f").tolist()
one, other, losses, parameters = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
def require(where, off, allowed):
    if not off < allowed:
        print(f"  {where}: relative difference {off:.2g}, allowed {allowed:.2g}")
        sys.exit(1)
a, b = table(one), table(other)
require("metrics", max(abs(x - y) / max(abs(x), 1e-30) for x, y in zip(a, b)) if a and len(a) == len(b) else 1e9, losses)
if parameters < float("inf"):
    for (name, x), (_, y) in zip(values(one), values(other)):
        if not name.endswith(tuple("." + left_out for left_out in sys.argv[5].split(","))):
            require(name, max(abs(p - q) for p, q in zip(x, y)) / (max(map(abs, x)) or 1), parameters)
END
same() {
  local left_out=none
  # Batch norm subtracts what all cases share, as W h_0: the gradient of h_0 is nothing but rounding, and so is its part in
  # the mean that is subtracted.
  case $1 in *-each-* | *-everywhere-*) left_out=initial_h,hidden_norm.mean ;; esac
  python3 differ.py "$1" "$2" "$3" "$4" $left_out
}

# --- the same numbers for 1, 2 and 4 ranks, 20 steps of every experiment, 10 of handwriting; batches of 62 do not divide by 4. In float the
# losses, of handwriting after 2 steps, since Adam makes large steps of gradients that are rounding errors; with learning rates
# at which these do not grow.
experiments() {  # experiments PROGRAM KIND LOSSES PARAMETERS
  local program=$1 kind=$2 losses parameters=$4 name count arguments
  while read -r name arguments; do
    losses=$3
    # From the third step on weights of rare symbols, whose gradients are rounding errors in float, go ways of their own at any
    # learning rate; after 20 the losses differ by 4e-7 to 4e-4 (seeds 1 to 4, rates 1e-5 to 1e-3), after two by 2e-7 at most.
    [ "$kind-$name" != float-handwriting ] || { arguments=${arguments/--updates 20/--updates 2} losses=1e-6; }
    # shellcheck disable=SC2086  # words
    "$program" $arguments --preset small --out "$kind-$name-1" >/dev/null || { check "$name alone" false; continue; }
    for count in 2 4; do
      # shellcheck disable=SC2086
      ranks $count "$program" $arguments --preset small --out "$kind-$name-$count" >/dev/null
      check "$name, $count ranks, $kind: within $losses of one rank" same "$kind-$name-1" "$kind-$name-$count" "$losses" "$parameters"
    done
  done <<'END'
mnist mnist --norm layer --batch 62
weight mnist --norm weight --batch 62
convnet convnet --norm layer --batch 62 --lr 1e-5
batch mnist --norm batch --sync-batch-norm --batch 62
maps convnet --norm batch --sync-batch-norm --batch 62 --lr 1e-5
draw draw --norm layer --batch 62
handwriting handwriting --norm layer --updates 20 --length 30 --batch 6
order order-embedding --norm layer --batch 62
reader attentive-reader --norm layer --updates 20 --validate-every 10 --batch 6 --lr 1e-5
each attentive-reader --norm batch --sync-batch-norm --updates 20 --validate-every 10 --batch 6 --lr 1e-5
everywhere attentive-reader --norm batch-everywhere --padding cyclic --sync-batch-norm --updates 20 --validate-every 10 --batch 6 --lr 1e-5
skip skip-thoughts --norm layer --batch 22
transformer transformer --norm layer --updates 20 --validate-every 10 --batch 6 --dropout 0.2
END
}
experiments "$lamina" float 1e-5 inf
# Adam divides by the root of the second moment, which magnifies the rounding of gradients near 0: parameters to 1e-11. SGD
# does not: to 1e-12.
(cd "$OLDPWD" && built build/lamina-double) && experiments "${lamina}-double" double 1e-12 1e-11
sgd=(mnist --norm layer --optimizer sgd --lr 0.1 --batch 62 --preset small)
"${lamina}-double" "${sgd[@]}" --out sgd-1 >/dev/null
ranks 4 "${lamina}-double" "${sgd[@]}" --out sgd-4 >/dev/null
check "SGD, 4 ranks: parameters within 1e-12 of one rank" same sgd-1 sgd-4 1e-12 1e-12
# Without dropout the gradients of biases before a batch norm are nothing but rounding, as that of h_0.
blocks=(transformer --norm batch --sync-batch-norm --dropout 0.2 --updates 20 --validate-every 10 --batch 6 --preset small)
"$lamina" "${blocks[@]}" --out blocks-1 >/dev/null
ranks 2 "$lamina" "${blocks[@]}" --out blocks-2 >/dev/null
check "transformer with batch norm, 2 ranks, float: within 1e-5 of one rank" same blocks-1 blocks-2 1e-5 inf
check "local batch norm is another computation" bash -c "
  '$lamina' mnist --norm batch --batch 62 --preset small --out local-1 >/dev/null &&
  $(declare -f ranks); ranks 2 '$lamina' mnist --norm batch --batch 62 --preset small --out local-2 >/dev/null &&
  ! python3 differ.py local-1 local-2 1e-3 inf none >/dev/null"

# --- bit for bit
ranks 4 "$lamina" mnist --norm layer --batch 62 --preset small --out again >/dev/null
check "4 ranks repeat bit for bit" cmp -s again/model.safetensors float-mnist-4/model.safetensors
for name in renorm renorm-again; do
  ranks 2 "$lamina" mnist --norm batch-renorm --batch 62 --preset small --record every=1 --out $name >/dev/null
done
check "2 ranks record the same again" cmp -s renorm/record.csv renorm-again/record.csv
check "config.json holds the ranks" grep -q '"ranks": 4' again/config.json

# --- ranks that share no memory, as on several machines: the same sums, in messages
for name in draw order; do
  case $name in draw) arguments=(draw --norm layer --batch 62) ;; order) arguments=(order-embedding --norm layer --batch 62) ;; esac
  LAMINA_SHARED_MEMORY=0 ranks 2 "$lamina" "${arguments[@]}" --preset small --out "apart-$name" >/dev/null
  check "$name, 2 ranks that share no memory: bit for bit as those that do" cmp -s "apart-$name/model.safetensors" "float-$name-2/model.safetensors"
done

# --- what is said
ranks 2 "$lamina" mnist --batch 62 --preset small --out said >log 2>&1
check "ranks and threads are said once" [ "$(grep -cx '2 ranks on 1 machine, 1 thread each' log)" = 1 ]
check "  and so is the result" [ "$(grep -c '^run folder' log)" = 1 ]
check "--version names MPI" bash -c "'$lamina' --version | grep -q MPI"

# --- wrong starts: one line that names the rank
says() {  # says CODE TEXT COMMAND...: ends with CODE after a line that contains TEXT
  local code=$1 text=$2 status=0
  shift 2
  "$@" >log 2>&1 || status=$?
  [ "$status" = "$code" ] && [ "$(grep -cF -- "$text" log)" = 1 ] && return
  echo "  exit code $status, wanted $code with '$text'; it said:"
  sed 's/^/  | /' log
  return 1
}
check "fewer cases than ranks" says 2 "--batch 3: fewer cases than the 4 ranks" ranks 4 "$lamina" mnist --batch 3 --out few
check "fewer cases a rank than a ghost batch's parts have" says 2 "each of 3 ranks has 21 of --batch 64; give --batch 96 or more" \
  ranks 3 "$lamina" mnist --norm ghost-batch --batch 64 --out few
check "  and as many" ranks 2 "$lamina" mnist --norm ghost-batch --batch 64 --out parts >log
check "another flag on one rank" says 2 "rank 1: a flag of rank 1 is not that of rank 0: --lr 0.2, and --lr 0.1" \
  ranks 1 "$lamina" mnist --batch 64 --lr 0.1 --out lr : -n 1 "$lamina" mnist --batch 64 --lr 0.2 --out lr
check "another experiment on one rank" says 2 "the program of rank 1 is not that of rank 0" \
  ranks 1 "$lamina" mnist --batch 64 --out lr : -n 1 "$lamina" convnet --batch 64 --out lr
mkdir -p place-0/books place-1/books
for _ in $(seq 200); do echo "It is a truth universally acknowledged, that a test is in want of a text."; done >place-0/books/tale.txt
sed '100s/is in/as in/' place-0/books/tale.txt >place-1/books/tale.txt
tale=(transformer --data books --preset small --updates 2 --out tale)
check "data of the same size with another byte on one rank" \
  says 2 "rank 1: the data of rank 1 is not that of rank 0: books/tale.txt: $(stat -c %s place-0/books/tale.txt) bytes, digest" \
  ranks 1 -wdir place-0 "$lamina" "${tale[@]}" : -n 1 -wdir place-1 "$lamina" "${tale[@]}"
check "  which leaves no run behind" [ ! -e place-0/tale ]
check "  and with the same" ranks 1 -wdir place-0 "$lamina" "${tale[@]}" : -n 1 -wdir place-0 "$lamina" "${tale[@]}" >log
check "--sync-batch-norm without batch norm" refuses 2 "--sync-batch-norm: --norm names no batch norm" mnist --norm layer --sync-batch-norm
check "skip-thoughts --lazy" says 2 "--lazy" ranks 2 "$lamina" skip-thoughts --lazy --preset small --out lazy

# --- faults
export LAMINA_SMOKE=50
long=(mnist --norm layer --batch 16 --preset small --epochs 50)
kill_rank() {  # kill_rank NUMBER OF: kills one of OF ranks after the first save; mpirun names it and all are gone soon
  local folder=killed-$1 victim started
  ranks "$2" "$lamina" "${long[@]}" --out "$folder" >log 2>&1 &
  local job=$!
  for _ in $(seq 1500); do [ -s "$folder/state" ] && break; sleep 0.02; done
  victim=$(for pid in $(pgrep -f -- "--out $folder\$"); do
    tr '\0' '\n' <"/proc/$pid/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$pid"; done | head -n 1)
  started=$SECONDS
  kill -9 "$victim"
  wait $job
  [ $((SECONDS - started)) -le 15 ] || { echo "  took $((SECONDS - started)) s"; return 1; }
  ! pgrep -f -- "--out $folder\$" >/dev/null || { echo "  some are left"; return 1; }
  grep -q "rank $1 with PID .*signal 9" log || { sed 's/^/  | /' log; return 1; }
}
for rank in 0 1 2 3; do check "kill -9 of rank $rank" kill_rank $rank 4; done

export LAMINA_SMOKE=2
short=(mnist --norm layer --batch 62 --preset small --epochs 2)
resumed() {  # resumed FROM TO: a run of 1 epoch with FROM ranks, and a second one with TO
  local folder=from-$1-to-$2
  LAMINA_SMOKE=1 ranks "$1" "$lamina" "${short[@]}" --out "$folder" >/dev/null || return 1
  sed -i 's/"smoke": 1/"smoke": 2/; s/"epochs": 1/"epochs": 2/' "$folder/config.json"
  ranks "$2" "$lamina" mnist --resume --out "$folder" >/dev/null 2>log || { cat log; return 1; }
  grep -q "began with $1 ranks and goes on with $2" log && same whole "$folder" 1e-4 inf
}
"$lamina" "${short[@]}" --out whole >/dev/null
check "4 ranks, resumed with 1" resumed 4 1
check "1 rank, resumed with 4" resumed 1 4
check "2 ranks, resumed with 3" resumed 2 3

interrupted() {  # Ctrl-C for every rank: all stop after the same step, saved once, and the run goes on
  LAMINA_SMOKE=50 ranks 2 "$lamina" "${long[@]}" --out stopped >log 2>&1 &
  local job=$!
  for _ in $(seq 1500); do [ -s stopped/state ] && break; sleep 0.02; done
  kill -INT "$(pgrep -f -- "^$lamina ${long[0]} .*--out stopped\$" | tail -n 1)"
  wait $job
  [ $? = 130 ] && [ "$(grep -c '^saved; go on with' log)" = 1 ] || { sed 's/^/  | /' log; return 1; }
}
check "an interrupt of one rank stops and saves all" interrupted

finish
