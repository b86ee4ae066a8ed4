#!/usr/bin/env bash
# Demo data for the jobs of job-configs that read or write MySQL: demo.sh; then type what it prints.
# Starts the service mariadb, or uses the server of SYNC_MARIADB_URL. Makes the databases `demo` (customers, orders and their
# items) and `demo_copy` (the targets, empty) anew: run it again to begin again.
#
#   SYNC_DEMO_DATABASE   the name of the first, in place of demo; the other one is named after it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

fail() {
  echo "demo.sh: $*" >&2
  exit 1
}

[[ $# -eq 0 ]] || fail "it takes no arguments; see the beginning of $0"
demo=${SYNC_DEMO_DATABASE:-demo}
[[ $demo =~ ^[A-Za-z0-9_]+$ ]] || fail "SYNC_DEMO_DATABASE: letters, digits and _ only"

if [[ -z ${SYNC_MARIADB_URL:-} ]]; then
  "$here/services.sh" start mariadb
  eval "$("$here/services.sh" env mariadb)"
fi
[[ $SYNC_MARIADB_URL =~ ^mysql://([^:@/]+):([^@/]*)@([^:/]+):([0-9]+) ]] ||
  fail "SYNC_MARIADB_URL is not of the form mysql://user:password@host:port"
user=${BASH_REMATCH[1]} password=${BASH_REMATCH[2]} host=${BASH_REMATCH[3]} port=${BASH_REMATCH[4]}
client=$(command -v mariadb || command -v mysql) || fail "the client is missing: install mariadb-client"

MYSQL_PWD=$password "$client" --no-defaults --protocol=tcp --host="$host" --port="$port" --user="$user" \
  --default-character-set=utf8mb4 >/dev/null <<END
SET time_zone = '+00:00';
DROP DATABASE IF EXISTS $demo;
DROP DATABASE IF EXISTS ${demo}_copy;
CREATE DATABASE $demo CHARACTER SET utf8mb4;
CREATE DATABASE ${demo}_copy CHARACTER SET utf8mb4;
USE $demo;

CREATE TABLE customers (
  id INT UNSIGNED NOT NULL PRIMARY KEY,
  name VARCHAR(80) NOT NULL,
  email VARCHAR(120) NULL,
  country CHAR(2) NOT NULL,
  born DATE NULL,
  credit DECIMAL(12,2) NOT NULL,
  active TINYINT(1) NOT NULL,
  created_at TIMESTAMP(6) NOT NULL
);
CREATE TABLE orders (
  id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
  customer_id INT UNSIGNED NOT NULL,
  status ENUM('new','paid','shipped','cancelled') NOT NULL,
  amount DECIMAL(12,2) NOT NULL,
  note TEXT NULL,
  ordered_at DATETIME NOT NULL,
  updated_at TIMESTAMP(6) NOT NULL,
  KEY (customer_id),
  KEY (updated_at)
);
CREATE TABLE order_items (
  order_id BIGINT UNSIGNED NOT NULL,
  line SMALLINT UNSIGNED NOT NULL,
  product VARCHAR(60) NOT NULL,
  quantity INT NOT NULL,
  price DECIMAL(10,2) NOT NULL,
  PRIMARY KEY (order_id, line)
);

INSERT INTO customers
WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
SELECT i,
  CONCAT(ELT(1 + i MOD 8, 'Ada', 'Linus', 'Zoë', 'Иван', '美咲', 'José', 'Fatima', 'O''Neil'), ' ',
    ELT(1 + i MOD 7, 'Lovelace', 'Müller', 'Søren', 'Nguyễn', 'Okafor', 'da Silva', 'Kowalski')),
  IF(i MOD 11 = 0, NULL, CONCAT('user', i, '@example.com')),
  ELT(1 + i MOD 6, 'DE', 'FR', 'JP', 'BR', 'NG', 'PL'),
  IF(i MOD 13 = 0, NULL, DATE_ADD('1950-01-01', INTERVAL i * 19 DAY)),
  (i * 7919) MOD 1000000 / 100,
  i MOD 9 <> 0,
  DATE_ADD('2024-01-01', INTERVAL i * 4001000123 MICROSECOND)
FROM n;

INSERT INTO orders
SELECT c.id * 5 + k.k, c.id, ELT(1 + (c.id + k.k) MOD 4, 'new', 'paid', 'shipped', 'cancelled'), 0,
  CASE (c.id + k.k) MOD 10 WHEN 0 THEN 'ring twice,\nthen wait' WHEN 1 THEN '' WHEN 2 THEN 'a "gift" 🎁' END,
  DATE_ADD('2024-05-01', INTERVAL c.id * 97 + k.k MINUTE),
  DATE_ADD('2024-06-01', INTERVAL (c.id * 5 + k.k) * 7000321 MICROSECOND)
FROM customers c JOIN (SELECT 0 AS k UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) k;

INSERT INTO order_items
SELECT o.id, l.l, ELT(1 + (o.id + l.l) MOD 5, 'tea', 'Kaffee', 'café crème', '抹茶', 'mug'), 1 + (o.id * l.l) MOD 4,
  ((o.id * 31 + l.l * 17) MOD 9900 + 99) / 100
FROM orders o JOIN (SELECT 1 AS l UNION ALL SELECT 2 UNION ALL SELECT 3) l ON l.l <= 1 + o.id MOD 3;

UPDATE orders o
  JOIN (SELECT order_id, SUM(quantity * price) AS amount FROM order_items GROUP BY order_id) s ON s.order_id = o.id
  SET o.amount = s.amount, o.updated_at = o.updated_at;
ANALYZE NO_WRITE_TO_BINLOG TABLE customers, orders, order_items;

CREATE TABLE ${demo}_copy.orders LIKE orders;
CREATE TABLE ${demo}_copy.latest_orders LIKE orders;
END

names="DEMO_SERVER=$host:$port"
[[ $demo == demo ]] || names+=" DEMO_DATABASE=$demo"
[[ $user == sync ]] || names+=" DEMO_USER=$user"
cat <<END
The database $demo is ready: 1,000 customers, 5,000 orders and their items. Now type (or see first what it would do: plan for run)

  export $names$([[ $password == password ]] || echo ' DEMO_PASSWORD=…')
  bin/sync run job-configs/mysql-to-file.json
  bin/sync run job-configs/mysql-to-mysql.json
  bin/sync run job-configs/file-to-mysql.json
  bin/sync run job-configs/mysql-incremental.json
END
