#!/usr/bin/env bash
# Exactly once, to be looked at: words in a topic of Kafka are copied into another topic and into the table t_test. Each job is killed
# with -9 on its way and run again; then the words are counted on all three sides.
#   install/services/kafka-demo.sh
# It starts Kafka and MariaDB where they do not run, and makes the database anew with demo.sh. SYNC_KAFKA_BROKERS and
# SYNC_MARIADB_URL name other servers to use; SYNC_DEMO_DATABASE another database than `demo`. The topics have new names each time.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
if [[ -z ${SYNC_KAFKA_BROKERS:-} ]]; then
  "$here/services.sh" start kafka >&2
  eval "$("$here/services.sh" env kafka)"
fi
: "${SYNC_KAFKA_LIB:?is not set: services.sh env kafka prints it}"
if [[ -z ${SYNC_MARIADB_URL:-} ]]; then
  "$here/services.sh" start mariadb >&2
  eval "$("$here/services.sh" env mariadb)"
fi
eval "$("$here/demo.sh" 2>/dev/null)"
# jdbc:mysql://host:port/database
[[ $SYNC_DEMO_URL =~ ^jdbc:mysql://([^:/]+):([0-9]+)/(.+)$ ]]
host=${BASH_REMATCH[1]} port=${BASH_REMATCH[2]} database=${BASH_REMATCH[3]}
work=$(mktemp -d)
job=
trap '[[ -z $job ]] || kill -9 "$job" 2>/dev/null; rm -rf "$work"' EXIT
export SYNC_STATE_DIR=$work/state

words=words-$(date +%s)-$RANDOM
copy=$words-copy
count=10000

say() { echo "$*" >&2; }
topics() { java -XX:TieredStopAtLevel=1 -cp "$SYNC_KAFKA_LIB/*" org.apache.kafka.tools.TopicCommand --bootstrap-server "$SYNC_KAFKA_BROKERS" "$@" >"$work/topics" 2>&1 || { cat "$work/topics" >&2 && return 1; }; }
ask() { MYSQL_PWD=$SYNC_DEMO_PASSWORD mariadb --host="$host" --port="$port" --user="$SYNC_DEMO_USER" -N "$database" -e "$1"; }
# The keys of the records that a consumer of committed records sees.
keys() { kcat -b "$SYNC_KAFKA_BROKERS" -C -t "$1" -X isolation.level=read_committed -o beginning -e -q -f '%k\n'; }
in_copy() { keys "$copy" | wc -l; }
in_table() { ask 'select count(*) from t_test'; }

# run_twice HELD JOB ARGUMENT…: kills the first start once HELD tells of rows in the target; stops the second one when all are there.
run_twice() {
  local held=$1 rows=0
  shift
  say "\$ sync run $*"
  start "$@"
  while ((rows == 0)); do is_running && rows=$("$held"); done
  kill -9 "$job"
  wait "$job" 2>/dev/null || true
  say "  killed with -9 when $rows of $count records had come; there are $("$held") now. Once more:"
  start "$@"
  while ((rows < count)); do is_running && rows=$("$held"); done
  kill -TERM "$job"
  wait "$job" || (($? == 143)) || { cat "$work/out" >&2 && return 1; }
  job=
  say "  $("$held") records; stopped by a signal, as it has no end"
}
start() {
  "$root/bin/sync" run "$@" >"$work/out" 2>&1 &
  job=$!
}
is_running() { kill -0 "$job" 2>/dev/null || { cat "$work/out" >&2 && exit 1; }; }

topics --create --topic "$words" --partitions 3
topics --create --topic "$copy" --partitions 3
say "$count words go to the topic $words"
awk -v n="$count" 'BEGIN {
  split("to be or not that is the question", word, " ")
  for (i = 1; i <= n; i++) { w = word[1 + (i * (i + 1) / 2) % 8]; printf "%s|{\"id\":%d,\"value\":\"%s\"}\n", w, i, w }
}' | kcat -b "$SYNC_KAFKA_BROKERS" -P -t "$words" -K '|'
ask 'create table t_test (id bigint not null, value varchar(40) not null, insert_time datetime(3) not null) engine=InnoDB'

cd "$root"
run_twice in_copy job-configs/words-to-topic.json -p "from=$words" -p "to=$copy"
run_twice in_table job-configs/words-to-table.json -p "from=$words"

say 'word: in the topic, in the copy, in the table'
counted() { sort | uniq -c | awk '{ print $2, $1 }'; }
keys "$words" | counted >"$work/words"
keys "$copy" | counted >"$work/copy"
ask 'select value from t_test' | counted >"$work/table"
join "$work/words" "$work/copy" | join - "$work/table"
if ! cmp -s "$work/words" "$work/copy" || ! cmp -s "$work/words" "$work/table"; then
  say 'They differ.'
  exit 1
fi
topics --delete --topic "$words"
topics --delete --topic "$copy"
