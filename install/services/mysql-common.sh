# shellcheck shell=bash
# What MariaDB and MySQL have in common.
# shellcheck disable=SC2154,SC2034 # the names of common.sh; those for the files that source this one

# A server that root starts must be told to stay root's.
as_root_user=()
if [[ $(id -u) -eq 0 ]]; then as_root_user=(--user=root); fi

# Lines of my.cnf. A tmpdir of its own: servers remove temporary tables of other ones there when they start. Flushing is for tests and benchmarks: it survives a kill of the server, not the loss of the machine.
common_config() {
  mkdir -p "$state/tmp"
  cat <<END
port=$port
bind-address=127.0.0.1
socket="$socket"
pid-file="$state/server.pid"
tmpdir="$state/tmp"
server-id=$port
log-bin=binlog
binlog-format=ROW
sync-binlog=0
max-binlog-size=128M
innodb-flush-log-at-trx-commit=2
innodb-file-per-table=1
skip-name-resolve
max-connections=300
max-allowed-packet=64M
local-infile=1
END
  # Options of a test's own server; the last of a name counts.
  if [[ -s $state/extra.cnf ]]; then cat "$state/extra.cnf"; fi
}

need_time_zones() {
  need mariadb-tzinfo-to-sql mariadb-server
  if [[ ! -e /usr/share/zoneinfo/Europe/Berlin ]]; then add_packages tzdata; fi
}

# The time-zone tables as statements of a line each, which the bootstrap of every version takes.
time_zones() {
  mariadb-tzinfo-to-sql /usr/share/zoneinfo 2>/dev/null |
    awk '/^(TRUNCATE|INSERT INTO|SET @time_zone_id)/ { inside = 1 }
         inside { printf "%s", $0; if (/;$/) { print ""; inside = 0 } }'
}

# Asks for the socket: another server on that port would have another one.
is_usable() {
  [[ $(MYSQL_PWD=password mariadb --no-defaults --protocol=tcp --host=127.0.0.1 --port="$port" --user=sync \
    --connect-timeout=5 --batch --skip-column-names --execute='SELECT @@socket' 2>/dev/null) == "$socket" ]]
}

print_env() {
  printf 'export SYNC_%s_URL=%q\n' "${name^^}" "mysql://sync:password@127.0.0.1:$port"
  printf 'export SYNC_%s_SOCKET=%q\n' "${name^^}" "$socket"
}
