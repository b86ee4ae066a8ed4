# shellcheck shell=bash
# Missing programs come as packages of Debian; sourced by the services that need some.
# shellcheck disable=SC2154 # $log is common.sh's

have() { command -v "$1" >/dev/null; }

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  elif have sudo; then
    sudo -n "$@"
  else
    fail "only root may install packages: $*"
  fi
}

# need PROGRAM PACKAGE [PROGRAM PACKAGE]…: installs the packages of those that are missing.
need() {
  local -a packages=()
  while [[ $# -gt 0 ]]; do
    have "$1" || [[ " ${packages[*]} " == *" $2 "* ]] || packages+=("$2")
    shift 2
  done
  if [[ ${#packages[@]} -gt 0 ]]; then add_packages "${packages[@]}"; fi
}

add_packages() {
  have apt-get || fail "needs $*; they are installed by themselves on Debian only"
  say "installs $*"
  {
    # The lists may be missing or old; packages that are there need none.
    as_root apt-get update -q
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=300 "$@"
  } >>"$log" 2>&1 || fail "cannot install $*: $(tail -n 5 "$log")"
}
