#!/usr/bin/env bash
# Real servers for tests, demos and benchmarks, on 127.0.0.1 only:
#   services.sh start|stop|status|env [NAME…]    all of them where no name is given
# `env` prints export lines for those that run: eval "$(install/services/services.sh env)"
#
#   SYNC_SERVICES_DIR      data, ports, logs (default .work/services); each such folder has servers of its own
#   SYNC_SERVICES_CACHE    downloads, shared by all of them (default .work/cache)
#   SYNC_<NAME>_PORT       the port; without it a free one is chosen, and kept for the next start
#   SYNC_SERVICES_TIMEOUT  seconds to wait until a server is usable (default 60)
#
# Exit: 0 done; 1 failed, or status: one of them does not run; 2 usage, or no such service.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=common.sh
. "$here/common.sh"

# Each is a file NAME.sh here; common.sh says which functions it has.
known=(mariadb mysql55 kafka)
# Those that later versions bring.
planned=(hdfs)

refuse() {
  echo "services.sh: $*" >&2
  exit 2
}

among() {
  local wanted=$1 one
  shift
  for one in "$@"; do
    if [[ $one == "$wanted" ]]; then return 0; fi
  done
  return 1
}

verb=${1:-}
among "$verb" start stop status env || refuse "usage: services.sh start|stop|status|env [NAME…]    (NAME: ${known[*]})"
shift
for name in "$@"; do
  if among "$name" "${planned[@]}"; then refuse "there is no $name yet; there are: ${known[*]}"; fi
  among "$name" "${known[@]}" || refuse "no service is called '$name'; there are: ${known[*]}"
done
[[ $# -gt 0 ]] || set -- "${known[@]}"

if [[ $# -eq 1 ]]; then
  use_service "$1"
  # shellcheck source=/dev/null
  . "$here/$1.sh"
  "${verb}_service"
else
  # A process each, so that nothing that one sets or fails at reaches the next.
  result=0
  for name in "$@"; do "$here/services.sh" "$verb" "$name" || result=1; done
  exit "$result"
fi
