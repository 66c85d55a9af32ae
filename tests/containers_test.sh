#!/usr/bin/env bash
# Dockerfile, devcontainer and workflow are run elsewhere; here, that they can be read and name scripts that there are.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
passed=0 failed=0 skipped=0
check() {  # check TITLE COMMAND...
  local title=$1
  shift
  if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $title"; fi
}

while read -r script; do
  check "$script can be run" test -x "$script"
done < <(grep -ohE '(\.ci|tools)/[a-z-]+(\.sh)?' Dockerfile .dockerignore .github/workflows/*.yml | sort -u)
check "the image is not sent more than it copies" grep -qxF '!tools/install-deps.sh' .dockerignore
check "the devcontainer is built from the Dockerfile" python3 -c '
import json, os
build = json.load(open(".devcontainer/devcontainer.json"))["build"]
assert os.path.samefile(os.path.join(".devcontainer", build["dockerfile"]), "Dockerfile")
assert os.path.samefile(os.path.join(".devcontainer", build["context"]), ".")'
if python3 -c 'import yaml' 2>/dev/null; then
  check "the workflow is YAML, and calls .ci/run" python3 -c '
import yaml
jobs = yaml.safe_load(open(".github/workflows/ci.yml"))["jobs"]
assert [step["run"] for step in jobs["all"]["steps"] if "run" in step][-1] == ".ci/run"
assert any("arm" in each["runner"] for each in jobs["other-cpus"]["strategy"]["matrix"]["include"])'
else
  skipped=1
fi
[ "$skipped" = 0 ] && tail= || tail=", $skipped skipped"
echo "$passed passed, $failed failed$tail"
[ "$failed" = 0 ]
