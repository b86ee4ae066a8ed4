# shellcheck shell=bash
# The MariaDB of Debian (10.11 in Debian 12) on a data dir of its own; the service that Debian's package starts is not used.
# shellcheck disable=SC2154 # the names of common.sh
. "$here/packages.sh"
. "$here/mysql-common.sh"

install_programs() {
  need mariadbd mariadb-server mariadb-install-db mariadb-server mariadb mariadb-client
  need_time_zones
}

write_config() {
  cat >"$state/my.cnf" <<END
[mysqld]
$(common_config)
character-set-server=utf8mb4
binlog-row-image=FULL
binlog-row-metadata=FULL
gtid-strict-mode=1
binlog-expire-logs-seconds=3600
performance-schema=OFF
innodb-buffer-pool-size=256M
innodb-log-file-size=128M
END
}

make_data() {
  # From inside, and without --user: that script does not quote paths.
  (cd "$1" && mariadb-install-db --defaults-file=../my.cnf --datadir=. \
    --auth-root-authentication-method=normal --skip-test-db --skip-name-resolve) >>"$log" 2>&1 &&
    {
      # Anonymous users would win over sync@'%' for a client on this host.
      cat <<END
USE mysql;
FLUSH PRIVILEGES;
DELETE FROM global_priv WHERE User = '' OR (User = 'root' AND Host <> 'localhost');
DELETE FROM db WHERE User = '';
FLUSH PRIVILEGES;
CREATE USER sync@'%' IDENTIFIED BY 'password';
GRANT ALL ON *.* TO sync@'%' WITH GRANT OPTION;
END
      time_zones
    } | mariadbd --defaults-file="$state/my.cnf" --datadir="$1" --bootstrap >>"$log" 2>&1
}

launch() { spawn "$(command -v mariadbd)" --defaults-file="$state/my.cnf" --datadir="$1" "${as_root_user[@]}"; }
