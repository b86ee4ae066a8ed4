# shellcheck shell=bash
# Kafka 4.3, one process that is broker and controller (KRaft), with a listener for each way to log in:
#   PLAINTEXT       everybody is ANONYMOUS, who may do all; SYNC_KAFKA_PORT is its port
#   SASL_PLAINTEXT  PLAIN, SCRAM-SHA-256, SCRAM-SHA-512; OAUTHBEARER takes any unsigned token (alg "none") with `sub` and `exp`
#   SASL_SSL        the same by TLS: ca.pem signed the server's certificate
#   SSL             a client certificate is required, its CN is the user
# Users (of PLAIN and SCRAM; the `sub` of a token; the CN of a certificate):
#   sync     password          may do all
#   limited  limited-password  topics limited-…: describe, read, write; groups limited-…: read; no transactions, no creation
# Any other `sub` or CN may do nothing. Files of SYNC_KAFKA_CERTS: ca.pem; sync.pem, limited.pem with sync.key, limited.key;
# sync-encrypted.key, whose passphrase is `password`; other-ca.pem with other.pem, other.key (CN=sync), which no one here trusts.
# shellcheck disable=SC2154 # the names of common.sh
. "$here/packages.sh"

version=4.3.0
lib=$cache/kafka-$version

install_programs() {
  need java default-jdk-headless javac default-jdk-headless openssl openssl kcat kcat
  if [[ -d $lib ]]; then return; fi
  need mvn maven
  say "downloads Kafka $version (45 MB)"
  local new=$lib.new said
  rm -rf "$new"
  mkdir "$new"
  # kafka-tools: the command-line and performance tools, which need nothing of Kafka Connect.
  cat >"$new/pom.xml" <<END
<project>
  <modelVersion>4.0.0</modelVersion><groupId>sync</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-tools</artifactId><version>$version</version>
      <exclusions><exclusion><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
END
  said=$(mvn -q -B -C -f "$new/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$new" 2>&1) ||
    fail "cannot download Kafka $version: $(grep -m 1 -i error <<<"$said" || echo "$said")"
  [[ -s $new/kafka_2.13-$version.jar ]] || fail "cannot download Kafka $version: $said"
  mv "$new" "$lib"
}

# Those of the controller and of the listeners besides PLAINTEXT: kept for the next start where they are still free.
choose_more_ports() {
  local -a chosen=("$port")
  local one
  read_more_ports
  for one in "$controller" "$sasl" "$sasl_ssl" "$ssl"; do
    while [[ -z $one || " ${chosen[*]} " == *" $one "* ]] || is_open "$one"; do one=$((20000 + SRANDOM % 12000)); done
    chosen+=("$one")
  done
  echo "${chosen[@]:1}" >"$state/ports"
  read_more_ports
}

read_more_ports() {
  controller='' sasl='' sasl_ssl='' ssl=''
  if [[ -s $state/ports ]]; then read -r controller sasl sasl_ssl ssl <"$state/ports"; fi
}

# Paths are relative to the data folder. The replication factors are those of one broker; few partitions and small buffers make a
# start fast; the short intervals let transactions time out, and records and topics go, as soon as a test asks for it. Without
# a topic's own retention nothing goes by its age: tests write records with times of long ago. A test's own lines come last and win.
write_config() {
  choose_more_ports
  cat >"$state/server.properties" <<END
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$controller
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listeners=PLAINTEXT://127.0.0.1:$port,SASL_PLAINTEXT://127.0.0.1:$sasl,SASL_SSL://127.0.0.1:$sasl_ssl,SSL://127.0.0.1:$ssl,CONTROLLER://127.0.0.1:$controller
advertised.listeners=PLAINTEXT://127.0.0.1:$port,SASL_PLAINTEXT://127.0.0.1:$sasl,SASL_SSL://127.0.0.1:$sasl_ssl,SSL://127.0.0.1:$ssl
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL,SSL:SSL,CONTROLLER:PLAINTEXT
log.dirs=log
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
transaction.abort.timed.out.transaction.cleanup.interval.ms=500
log.cleaner.dedupe.buffer.size=8388608
log.cleaner.backoff.ms=500
log.retention.ms=-1
log.retention.check.interval.ms=1000
log.segment.delete.delay.ms=1000
log.initial.task.delay.ms=1000
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS;User:sync
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
$(login_modules sasl_plaintext)
$(login_modules sasl_ssl)
ssl.keystore.type=PEM
ssl.keystore.location=certs/server.pem
ssl.truststore.type=PEM
ssl.truststore.location=certs/ca.pem
listener.name.ssl.ssl.client.auth=required
ssl.principal.mapping.rules=RULE:^CN=([^,]*).*\$/\$1/,DEFAULT
$(if [[ -s $state/extra.cnf ]]; then cat "$state/extra.cnf"; fi)
END
}

login_modules() {
  local security=org.apache.kafka.common.security listener=listener.name.$1
  cat <<END
$listener.plain.sasl.jaas.config=$security.plain.PlainLoginModule required user_sync="password" user_limited="limited-password";
$listener.scram-sha-256.sasl.jaas.config=$security.scram.ScramLoginModule required;
$listener.scram-sha-512.sasl.jaas.config=$security.scram.ScramLoginModule required;
$listener.oauthbearer.sasl.jaas.config=$security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="sync";
END
}

make_data() {
  local scram
  local -a users=()
  for scram in 256 512; do
    users+=(--add-scram "SCRAM-SHA-$scram=[name=sync,password=password]")
    users+=(--add-scram "SCRAM-SHA-$scram=[name=limited,password=limited-password]")
  done
  (
    cd "$1" && mkdir log certs && make_certificates &&
      run_tool kafka.tools.StorageTool format --cluster-id "$(openssl rand -base64 16 | tr '+/' 'AB' | tr -d =)" \
        --config ../server.properties "${users[@]}"
  )
}

make_certificates() {
  cd certs &&
    make_certificate ca "/CN=sync test CA" -addext basicConstraints=critical,CA:TRUE &&
    make_certificate other-ca "/CN=another CA" -addext basicConstraints=critical,CA:TRUE &&
    make_certificate server /CN=localhost -CA ca.pem -CAkey ca.key -addext subjectAltName=DNS:localhost,IP:127.0.0.1 &&
    make_certificate sync /CN=sync -CA ca.pem -CAkey ca.key &&
    make_certificate limited /CN=limited -CA ca.pem -CAkey ca.key &&
    make_certificate other /CN=sync -CA other-ca.pem -CAkey other-ca.key &&
    logged openssl pkcs8 -topk8 -v2 aes-256-cbc -in sync.key -passout pass:password -out sync-encrypted.key &&
    cat server.key >>server.pem &&
    cd ..
}

# make_certificate NAME SUBJECT ARGUMENT…: NAME.pem and NAME.key
make_certificate() {
  logged openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
    -keyout "$1.key" -out "$1.pem" -subj "$2" "${@:3}"
}

# What a program says goes to the log where it fails only.
logged() {
  local said
  said=$("$@" 2>&1) && return
  echo "$said" >>"$log"
  return 1
}

run_tool() { logged java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$lib/*" "$@"; }

# Warnings and errors go to the log. The temporary folder is for native libraries, which a killed process leaves there.
launch() {
  rm -rf "$state/tmp"
  mkdir "$state/tmp"
  cd "$1" || return
  spawn "$(command -v java)" -Xmx512m -Djava.io.tmpdir="$state/tmp" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -Dorg.slf4j.simpleLogger.showDateTime=true "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS" -cp "$lib/*" kafka.Kafka ../server.properties
}

is_usable() {
  is_open "$port" &&
    kcat -L -b "127.0.0.1:$port" -m 5 2>/dev/null | grep -q "broker 1 at 127.0.0.1:$port" &&
    grant_rights
}

# Rights can be given to a running broker only: at its first start.
grant_rights() {
  if [[ -e $state/data/granted ]]; then return; fi
  allow --operation Describe --operation Read --operation Write --topic &&
    allow --operation Read --operation Describe --group &&
    touch "$state/data/granted"
}

allow() {
  run_tool org.apache.kafka.tools.AclCommand --bootstrap-server "127.0.0.1:$port" --add --allow-principal User:limited \
    --resource-pattern-type prefixed "$@" limited-
}

print_env() {
  read_more_ports
  printf 'export SYNC_KAFKA_BROKERS=127.0.0.1:%s\n' "$port"
  printf 'export SYNC_KAFKA_SASL_PLAINTEXT=127.0.0.1:%s\n' "$sasl"
  printf 'export SYNC_KAFKA_SASL_SSL=127.0.0.1:%s\n' "$sasl_ssl"
  printf 'export SYNC_KAFKA_SSL=127.0.0.1:%s\n' "$ssl"
  printf 'export SYNC_KAFKA_CERTS=%q\n' "$state/data/certs"
  printf 'export SYNC_KAFKA_LIB=%q\n' "$lib"
}
