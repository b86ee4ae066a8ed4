#!/usr/bin/env bash
# A database to try the MySQL jobs of job-configs/ on: starts MariaDB where it does not run, fills the database, and prints
# what the jobs ask for:
#   eval "$(install/services/demo.sh)" && bin/sync run job-configs/mysql-to-mysql.json
# Again: everything as it was at first. SYNC_MARIADB_URL names another server to use; SYNC_DEMO_DATABASE another name than `demo`.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
database=${SYNC_DEMO_DATABASE:-demo}
if [[ -z ${SYNC_MARIADB_URL:-} ]]; then
  "$here/services.sh" start mariadb >&2
  eval "$("$here/services.sh" env mariadb)"
fi

# mysql://user:password@host:port
[[ $SYNC_MARIADB_URL =~ ^mysql://([^:@/]+):([^@/]*)@([^:/]+):([0-9]+) ]] || {
  echo "demo.sh: SYNC_MARIADB_URL is not mysql://user:password@host:port" >&2
  exit 2
}
user=${BASH_REMATCH[1]} password=${BASH_REMATCH[2]} host=${BASH_REMATCH[3]} port=${BASH_REMATCH[4]}
{
  echo "drop database if exists \`$database\`; create database \`$database\` character set utf8mb4; use \`$database\`;"
  cat "$here/demo.sql"
} | MYSQL_PWD=$password mariadb --host="$host" --port="$port" --user="$user" --default-character-set=utf8mb4

echo "export SYNC_DEMO_URL=jdbc:mysql://$host:$port/$database SYNC_DEMO_USER=$user SYNC_DEMO_PASSWORD=$password"
echo "the database \`$database\` is filled; try: bin/sync plan job-configs/mysql-to-mysql.json" >&2
