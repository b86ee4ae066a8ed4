# shellcheck shell=bash
# Oracle's MySQL 5.5.9, the newest that comes as a package without an account: from a Maven artifact of MySQL's.
# shellcheck disable=SC2154 # the names of common.sh
. "$here/packages.sh"
. "$here/mysql-common.sh"

artifact=mysql:mysql-connector-mxj-db-files:5.0.12
sum=02525626a05bbbf8018662e77b17335c90f290c885a6b87a556ff1671fe76f97
base=$cache/mysql-5.5.9

install_programs() {
  [[ $(uname -s)-$(uname -m) == Linux-x86_64 ]] || fail "there is one for Linux on x86-64 only"
  # The client of MariaDB, as that of this version wants libraries that Debian has no more.
  need mariadb mariadb-client
  need_time_zones
  if [[ -d $base ]]; then return; fi
  need mvn maven unzip unzip
  say "downloads MySQL 5.5.9 (140 MB)"
  local new=$base.new said
  rm -rf "$new"
  mkdir "$new"
  said=$(mvn -q -B dependency:copy -Dartifact=$artifact -DoutputDirectory="$new" 2>&1) ||
    fail "cannot download $artifact: $(grep -m 1 -i error <<<"$said" || echo "$said")"
  local jar=$new/mysql-connector-mxj-db-files-5.0.12.jar
  echo "$sum  $jar" | sha256sum --check --status || fail "$artifact is not the one that is known: its checksum differs"
  unzip -q -j "$jar" 5-5-9/Linux-x86_64/mysqld 5-5-9/share_dir.jar 5-5-9/data_dir.jar -d "$new"
  unzip -q "$new/share_dir.jar" 'share/*' -d "$new"
  unzip -q "$new/data_dir.jar" 'mysql/*' 'performance_schema/*' -d "$new/data"
  chmod +x "$new/mysqld"
  rm "$new"/*.jar
  ! ldd "$new/mysqld" | grep 'not found' >&2 || fail "lacks the libraries above"
  mv "$new" "$base"
}

write_config() {
  cat >"$state/my.cnf" <<END
[mysqld]
basedir="$base"
lc-messages-dir="$base/share"
$(common_config)
character-set-server=utf8mb4
expire-logs-days=1
innodb-buffer-pool-size=128M
innodb-log-file-size=64M
END
}

make_data() {
  cp -R "$base/data/." "$1" &&
    {
      # root stays without a password, on this host only; see mariadb.sh for the anonymous ones.
      cat <<END
USE mysql;
FLUSH PRIVILEGES;
DELETE FROM user WHERE User = '' OR Host <> 'localhost';
DELETE FROM db WHERE User = '';
FLUSH PRIVILEGES;
GRANT ALL ON *.* TO sync@'%' IDENTIFIED BY 'password' WITH GRANT OPTION;
END
      time_zones
    } | "$base/mysqld" --defaults-file="$state/my.cnf" --datadir="$1" --bootstrap >>"$log" 2>&1
}

launch() { spawn "$base/mysqld" --defaults-file="$state/my.cnf" --datadir="$1" "${as_root_user[@]}"; }
