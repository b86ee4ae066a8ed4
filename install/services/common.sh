# shellcheck shell=bash
# What all services share; sourced by services.sh, and by the process that becomes a server.
#
# A service is a file NAME.sh with these functions. They may use $name, $cache, $state (its own folder), $port, $socket and $log:
#   install_programs   makes the programs available (packages, downloads); called under a lock
#   write_config       writes what depends on port and folders; called before every start
#   make_data DIR      fills a new data dir; a failure leaves none
#   launch DIR         calls `spawn PROGRAM ARGUMENT…`
#   is_usable          succeeds when a real request works
#   print_env          prints `export` lines

# shellcheck disable=SC2154 # $here is services.sh's
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

say() { echo "$name: $*" >&2; }
fail() {
  say "$*"
  exit 1
}

# Sets the names above for one service.
use_service() {
  local root
  root=$(cd "$here/../.." && pwd)
  name=$1
  state=${SYNC_SERVICES_DIR:-$root/.work/services}
  cache=${SYNC_SERVICES_CACHE:-$root/.work/cache}
  mkdir -p "$state" "$cache"
  state=$(cd "$state" && pwd)/$name
  cache=$(cd "$cache" && pwd)
  log=$state/log
  port_variable=SYNC_${name^^}_PORT
  read_places
}

# Once more when a lock is held: another start may have chosen them.
read_places() {
  port=
  socket=
  if [[ -s $state/port ]]; then port=$(<"$state/port"); fi
  if [[ -s $state/socket ]]; then socket=$(<"$state/socket"); fi
}

lock() {
  exec 9>"$state/lock"
  flock 9
  read_places
}

# When a process began, in ticks since the machine's start: with the pid this names a process for ever. Fails for dead ones,
# zombies too (nobody reaps them in some containers).
began() {
  local stat
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  read -r -a stat <<<"${stat##*) }"
  [[ ${stat[0]} != [ZX] ]] && echo "${stat[19]}"
}

# Sets $pid to the server's where it lives; a pid that another process has got by now is none.
is_alive() {
  local noted
  pid=
  if [[ ! -s $state/pid ]]; then return 1; fi
  read -r pid noted <"$state/pid"
  if [[ $(began "$pid") == "$noted" ]]; then return 0; fi
  pid=
  return 1
}

# Starts a program as the server, detached from the caller's terminal, output and time zone. The process itself notes its pid, and
# gives up the lock only then: so a start that is killed leaves no server that nobody knows of.
spawn() {
  # shellcheck disable=SC2016
  setsid env -u TZ bash -c '
    . "$0/common.sh"; state=$1; shift
    echo "$$ $(began $$)" >"$state/pid.new" && mv "$state/pid.new" "$state/pid" && exec 9>&- "$@"
  ' "$here" "$state" "$@" </dev/null >>"$log" 2>&1 &
  while [[ ! -s $state/pid ]]; do
    kill -0 $! 2>/dev/null || [[ -s $state/pid ]] || fail "cannot be started: $(tail -n 5 "$log")"
    sleep 0.01
  done
}

is_open() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Below the ports that systems give to outgoing connections.
choose_port() {
  local given=${!port_variable:-}
  if [[ -n $given ]]; then
    port=$given
  elif [[ -z $port ]]; then
    port=$((20000 + SRANDOM % 12000))
    while is_open "$port"; do port=$((20000 + SRANDOM % 12000)); done
  fi
  if is_open "$port"; then fail "port $port is taken by another process; give another one: $port_variable=…"; fi
  echo "$port" >"$state/port"
}

# A socket's path has at most 107 bytes: a work dir with a longer one has it in a folder of its own under /tmp.
choose_socket() {
  local LC_ALL=C
  local in_state=$state/sock
  if [[ ${#in_state} -le 100 ]]; then
    socket=$in_state
  elif [[ $socket != /tmp/sync-* || ! -O ${socket%/*} ]]; then
    socket=$(mktemp -d /tmp/sync-XXXXXX)/sock
  fi
  echo "$socket" >"$state/socket"
}

start_service() {
  mkdir -p "$state"
  lock
  if is_alive && [[ -e $state/ready ]]; then
    say "runs already (pid $pid, port $port)"
    return
  fi
  # Alive and not ready: a start was killed while it waited.
  if [[ -z $pid ]]; then
    rm -f "$state/pid" "$state/ready"
    (
      exec 8>"$cache/lock"
      flock 8
      install_programs
    )
    choose_port
    choose_socket
    write_config
    if [[ ! -d $state/data ]]; then
      rm -rf "$state/data.new"
      mkdir "$state/data.new"
      make_data "$state/data.new" || fail "cannot make the data folder: $(tail -n 20 "$log")"
      mv "$state/data.new" "$state/data"
    fi
    launch "$state/data"
  fi
  wait_until_usable
  touch "$state/ready"
  say "runs (pid $pid, port $port)"
}

wait_until_usable() {
  local end=$((SECONDS + ${SYNC_SERVICES_TIMEOUT:-60}))
  until is_alive && is_usable; do
    if [[ -z $pid ]]; then
      rm -f "$state/pid"
      fail "ended instead of starting; the end of $log:"$'\n'"$(tail -n 30 "$log")"
    fi
    if [[ $SECONDS -ge $end ]]; then
      end_process
      fail "was not usable in time; the end of $log:"$'\n'"$(tail -n 30 "$log")"
    fi
    sleep 0.05
  done
}

# Waits for the end of the server; kills it when a clean shutdown takes more than a minute.
end_process() {
  local signal end
  for signal in TERM KILL; do
    if ! is_alive; then break; fi
    if [[ $signal == KILL ]]; then say "does not stop: it is killed"; fi
    kill "-$signal" "$pid" || ! is_alive || fail "process $pid is not this user's to stop"
    end=$((SECONDS + 60))
    while is_alive && [[ $SECONDS -lt $end ]]; do sleep 0.02; done
  done
  if is_alive; then fail "process $pid does not end"; fi
  rm -f "$state/pid" "$state/ready"
}

stop_service() {
  if [[ ! -d $state ]]; then return; fi
  lock
  if is_alive; then
    end_process
    say "stopped"
  fi
  # Those of a server that died.
  rm -f "$state/pid" "$state/ready"
  if [[ $socket == /tmp/sync-* && -O ${socket%/*} ]]; then
    rm -rf "${socket%/*}"
    rm -f "$state/socket"
  fi
}

# name, running|starting|stopped, pid, port
status_service() {
  local how=stopped
  if is_alive; then
    if [[ -e $state/ready ]]; then how=running; else how=starting; fi
  fi
  echo "$name $how ${pid:--} ${port:--}"
  [[ $how == running ]]
}

env_service() {
  if is_alive && [[ -e $state/ready ]]; then print_env; fi
}
