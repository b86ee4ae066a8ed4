# shellcheck shell=bash
# Missing programs come as packages of Debian; sourced by the services that need some.
# shellcheck disable=SC2154 # $log is common.sh's

have() { command -v "$1" >/dev/null; }

as_root() {
  if [[ $(id -u) -eq 0 ]]; then
    "$@"
  else
    sudo -n "$@"
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
  [[ $(id -u) -eq 0 ]] || have sudo || fail "needs $*; only root may install them (apt-get install $*)"
  say "installs $*"
  {
    # Where this fails, the lists that are there may do.
    as_root apt-get update -q || true
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends \
      -o DPkg::Lock::Timeout=300 "$@"
  } >>"$log" 2>&1 || fail "cannot install $*: $(tail -n 5 "$log")"
}
