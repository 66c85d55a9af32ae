#!/usr/bin/env bash
# Installs Lamina's dependencies from Debian's own packages, skipping those that are already installed.
#
#   tools/install-deps.sh           to build, test and plot
#   tools/install-deps.sh --report  also npm, with which `make report` installs uPlot
#   tools/install-deps.sh --dev     also Open MPI, the formatter, the linter, clang++, the fuzzer, CMake, Doxygen, mutool, numpy, and npm and a browser for the report
#   tools/install-deps.sh --bench   also PyTorch and dlib, which `make bench` and `make bench-small` compare with
#   tools/install-deps.sh --slides  also pandoc (170 MB), with which `make slides` makes slides of the course
#   tools/install-deps.sh --plan    says what it would install, how large it is and how long that takes, and installs none
set -euo pipefail

packages=(g++ make pkg-config libopenblas-openmp-dev doctest-dev libcli11-dev nlohmann-json3-dev zlib1g-dev
          libpugixml-dev libcpp-httplib-dev gnuplot-nox graphviz)
# Node from elsewhere, which includes its own npm, conflicts with Debian's npm.
npm=() only_plan=
command -v npm >/dev/null && command -v node >/dev/null || npm=(nodejs npm)
for option in "$@"; do
  case $option in
    --report) packages+=("${npm[@]}") ;;
    --dev) packages+=(git cmake libopenmpi-dev openmpi-bin iproute2 doxygen mupdf-tools python3-numpy clang clang-format clang-tidy libclang-rt-dev libomp-dev chromium "${npm[@]}") ;;
    --bench) packages+=(python3-torch python3-numpy libdlib-dev) ;;
    --slides) packages+=(pandoc) ;;
    --plan) only_plan=1 ;;
    *) echo "usage: tools/install-deps.sh [--report] [--dev] [--bench] [--slides] [--plan]" >&2; exit 2 ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  cat >&2 <<'END'
There is no apt-get here; install these yourself, then run make again:
  a C++20 compiler with OpenMP (g++ 11 or clang 14, or later), GNU make, pkg-config
  OpenBLAS built for OpenMP, zlib, pugixml: libraries and headers
  doctest 2.4, CLI11 2.1, nlohmann-json 3.11: headers, or later versions of them
  cpp-httplib 0.11 as a shared library
  gnuplot 5.4 or later, for figures, Graphviz, for graphs of the tape, Node 18 and npm, for the report (all optional)
  an MPI 3, for training on several machines, and iproute2, for the test of what slow networks cost (optional)
  git, CMake 3.18 (for the test of its packages), Doxygen 1.9 (for make docs), MuPDF's mutool (for tools/paper-curves.py), clang with its runtime libraries, clang-format and clang-tidy 14 (for make lint and make fuzz), Python 3 with numpy (for tests/oracle/models) and torch (for make bench), dlib 19 (for make bench-small), pandoc (for make slides)
END
  exit 1
fi

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
need_root() {
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null && return
  echo "Installing needs root: run this as root, or install sudo. To do: $1" >&2
  exit 1
}

missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done

tenths_a_package=6  # of a second: 133 packages took 81 s on a bare Debian 12 on a busy virtual machine, download included
# "86 packages, 40.3 MB to download, 204 MB on the disk: about 56 s and the download"; nothing where apt-get has no lists.
size() {
  local said all download disk
  # Without locks, so that it also answers to who is not root.
  said=$(LC_ALL=C apt-get -o Debug::NoLocking=1 install --assume-no --no-install-recommends "${missing[@]}" 2>/dev/null || true)
  all=$(sed -n 's|^.* upgraded, \([0-9]*\) newly installed.*|\1|p' <<<"$said")
  download=$(sed -n 's|^Need to get \([^/]* [kMG]*B\).*|\1|p' <<<"$said")
  disk=$(sed -n 's|^After this operation, \(.*\) of additional.*|\1|p' <<<"$said")
  [ -z "$download" ] || echo "$all packages, $download to download, $disk on the disk: about $((all * tenths_a_package / 10 + 5)) s and the download"
}

# Counts on one line of a terminal what apt-get downloads, unpacks and sets up; elsewhere it says the last of each.
count() {  # count TOTAL
  local line what before='' n=0
  while IFS= read -r line; do
    case $line in
      Get:*) what="packages downloaded" ;;
      'Unpacking '*) what="packages unpacked" ;;
      'Setting up '*) what="packages set up" ;;
      *) continue ;;
    esac
    [ "$what" = "$before" ] && n=$((n + 1)) || n=1
    before=$what
    if [ -t 1 ]; then
      printf '\r[%s/%s] %s\033[K' "$n" "$1" "$what"
    elif [ "$n" = "$1" ]; then
      echo "[$n/$1] $what"
    fi
  done
  [ ! -t 1 ] || [ -z "$before" ] || echo
}

if [ -n "$only_plan" ]; then
  [ ${#missing[@]} = 0 ] && exit
  echo "${missing[*]}"
  size
  exit
fi

if [ ${#missing[@]} -gt 0 ]; then
  echo "Will install with apt-get: ${missing[*]}" | fold -s -w 80
  need_root "apt-get install ${missing[*]}"
  # A fresh machine has no package lists, and old lists name files that the mirrors no longer have.
  echo "Reading the mirrors' lists ..."
  as_root apt-get update -qq
  sizes=$(size)
  [ -z "$sizes" ] || echo "$sizes"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q -o Dpkg::Use-Pty=0 --no-install-recommends "${missing[@]}" \
    </dev/null 2>&1 | tee "$log" | count "${sizes%% *}" || {
    tail -n 20 "$log" >&2
    echo "apt-get could not install all of them; see above" >&2
    exit 1
  }
else
  echo "Nothing to install."
fi

# Several builds of OpenBLAS can be installed side by side, and Debian prefers the one with its own threads. Inside
# an OpenMP program two sets of threads then compete for the cores, which is up to nine times slower.
triplet=$(gcc -dumpmachine)
for name in libopenblas.so.0 libopenblas.so; do
  wanted=/usr/lib/$triplet/openblas-openmp/$name
  if [ -e "$wanted" ] && [ "$(readlink -f "/usr/lib/$triplet/$name")" != "$(readlink -f "$wanted")" ]; then
    echo "Will make the OpenMP build of OpenBLAS the system's $name (now $(readlink -f "/usr/lib/$triplet/$name"))"
    need_root "update-alternatives --set $name-$triplet $wanted"
    as_root update-alternatives --set "$name-$triplet" "$wanted" >/dev/null
  fi
done
