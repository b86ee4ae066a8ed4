import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AccessControlEntry;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.acl.AclPermissionType;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.resource.PatternType;
import org.apache.kafka.common.resource.ResourcePattern;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The Java client behind test/support/kafka.ts, for tests: run by `java -cp 'lib/*' KafkaTool.java BROKERS`. Each line of the input
 * is a request {"id", "op", …}, each of the output an answer {"id", "result"} or {"id", "error": {"name", "message"}};
 * of `consume` come any number of {"id", "records"} before. Requests run at the same time. Bytes are base64, or null.
 * The end of the input ends it at once: transactions that are open stay so, as after the death of a producer.
 */
public class KafkaTool {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final PrintStream OUT = System.out;
  private static final ConcurrentHashMap<String, KafkaProducer<byte[], byte[]>> PRODUCERS = new ConcurrentHashMap<>();
  private static String brokers;
  private static Admin admin;

  public static void main(String[] args) throws Exception {
    brokers = args[0];
    admin = Admin.create(Map.of("bootstrap.servers", brokers));
    ExecutorService pool = Executors.newCachedThreadPool();
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = in.readLine()) != null; ) {
      JsonNode request = JSON.readTree(line);
      pool.execute(() -> answer(request));
    }
    Runtime.getRuntime().halt(0);
  }

  private static void answer(JsonNode request) {
    ObjectNode answer = JSON.createObjectNode().put("id", request.get("id").asInt());
    try {
      answer.set("result", JSON.valueToTree(run(request)));
    } catch (Throwable e) {
      Throwable cause = e;
      while ((cause instanceof ExecutionException || cause.getClass() == KafkaException.class) && cause.getCause() != null) {
        cause = cause.getCause();
      }
      answer.putObject("error").put("name", cause.getClass().getSimpleName()).put("message", String.valueOf(cause.getMessage()));
    }
    print(answer);
  }

  private static synchronized void print(JsonNode line) {
    OUT.println(line);
    OUT.flush();
  }

  private static Object run(JsonNode r) throws Exception {
    String topic = r.path("topic").asText();
    String group = r.path("group").asText();
    switch (r.get("op").asText()) {
      case "createTopic" -> {
        NewTopic wanted = new NewTopic(topic, Optional.of(r.get("partitions").asInt()), Optional.empty());
        admin.createTopics(List.of(wanted.configs(stringsOf(r.get("config"))))).all().get();
      }
      case "deleteTopic" -> admin.deleteTopics(List.of(topic)).all().get();
      case "addPartitions" -> admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(r.get("partitions").asInt()))).all().get();
      case "deleteRecords" -> {
        TopicPartition tp = new TopicPartition(topic, r.get("partition").asInt());
        admin.deleteRecords(Map.of(tp, RecordsToDelete.beforeOffset(r.get("before").asLong()))).all().get();
      }
      case "alterConfig" -> {
        Collection<AlterConfigOp> ops = new ArrayList<>();
        stringsOf(r.get("config")).forEach((k, v) -> ops.add(new AlterConfigOp(new ConfigEntry(k, v), AlterConfigOp.OpType.SET)));
        admin.incrementalAlterConfigs(Map.of(new ConfigResource(ConfigResource.Type.TOPIC, topic), ops)).all().get();
      }
      case "allow" -> admin.createAcls(List.of(acl(r))).all().get();
      case "disallow" -> admin.deleteAcls(List.of(acl(r).toFilter())).all().get();
      case "groupOffsets" -> {
        return groupOffsets(group);
      }
      case "setGroupOffset" -> {
        TopicPartition tp = new TopicPartition(topic, r.get("partition").asInt());
        admin.alterConsumerGroupOffsets(group, Map.of(tp, new OffsetAndMetadata(r.get("offset").asLong()))).all().get();
      }
      case "deleteGroup" -> admin.deleteConsumerGroups(List.of(group)).all().get();
      case "brokers" -> {
        return admin.describeCluster().nodes().get().stream().map(n -> n.id()).toList();
      }
      case "leaders" -> {
        return admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic).partitions().stream()
            .map(p -> p.leader() == null ? -1 : p.leader().id())
            .toList();
      }
      case "transactions" -> {
        return transactions();
      }
      case "consume" -> {
        return consume(r);
      }
      default -> {
        return produce(r);
      }
    }
    return null;
  }

  private static AclBinding acl(JsonNode r) {
    ResourceType type = ResourceType.fromString(r.get("type").asText());
    return new AclBinding(
        new ResourcePattern(type, r.get("name").asText(), PatternType.valueOf(r.get("pattern").asText().toUpperCase(Locale.ROOT))),
        new AccessControlEntry(
            "User:" + r.get("user").asText(), "*", AclOperation.fromString(r.get("operation").asText()), AclPermissionType.ALLOW));
  }

  private static Object groupOffsets(String group) throws Exception {
    List<Map<String, Object>> out = new ArrayList<>();
    admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().forEach((tp, o) -> {
      if (o != null) {
        out.add(Map.of("topic", tp.topic(), "partition", tp.partition(), "offset", o.offset(), "metadata", o.metadata()));
      }
    });
    return out;
  }

  private static Object transactions() throws Exception {
    List<Map<String, Object>> out = new ArrayList<>();
    for (var t : admin.listTransactions().all().get()) {
      out.add(Map.of(
          "transactionalId", t.transactionalId(), "producerId", String.valueOf(t.producerId()), "state", t.state().toString()));
    }
    return out;
  }

  /** All records from the given offsets (else the first ones) up to the ends as they are now: what this isolation may see. */
  private static Object consume(JsonNode r) throws Exception {
    Map<String, Object> config = new HashMap<>(stringsOf(r.get("properties")));
    config.putIfAbsent("bootstrap.servers", brokers);
    config.put("isolation.level", r.get("isolation").asText());
    config.put("enable.auto.commit", "false");
    config.put("auto.offset.reset", "none");
    config.put("default.api.timeout.ms", "20000");
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
      List<TopicPartition> partitions = new ArrayList<>();
      for (PartitionInfo p : consumer.partitionsFor(r.get("topic").asText())) partitions.add(new TopicPartition(p.topic(), p.partition()));
      consumer.assign(partitions);
      Map<TopicPartition, Long> starts = consumer.beginningOffsets(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      JsonNode from = r.path("from");
      for (TopicPartition tp : partitions) consumer.seek(tp, from.path(String.valueOf(tp.partition())).asLong(starts.get(tp)));
      long end = System.nanoTime() + r.get("timeoutMs").asLong() * 1_000_000L;
      while (partitions.stream().anyMatch(tp -> consumer.position(tp) < ends.get(tp))) {
        if (System.nanoTime() > end) throw new IllegalStateException("the ends " + ends + " were not reached in time");
        ArrayNode records = JSON.createArrayNode();
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
          // Others write on: what came after the ends were asked for is not part of the answer.
          if (record.offset() < ends.get(new TopicPartition(record.topic(), record.partition()))) records.add(toJson(record));
        }
        if (!records.isEmpty()) {
          ObjectNode line = JSON.createObjectNode().put("id", r.get("id").asInt());
          line.set("records", records);
          print(line);
        }
      }
      Map<String, Long> reached = new HashMap<>();
      ends.forEach((tp, offset) -> reached.put(String.valueOf(tp.partition()), offset));
      return reached;
    }
  }

  private static ObjectNode toJson(ConsumerRecord<byte[], byte[]> record) {
    ObjectNode out = JSON.createObjectNode().put("partition", record.partition()).put("offset", record.offset());
    out.put("timestamp", record.timestamp()).put("timestampType", record.timestampType().name);
    out.put("key", record.key()).put("value", record.value());
    ArrayNode headers = out.putArray("headers");
    for (Header h : record.headers()) headers.addObject().put("key", h.key()).put("value", h.value());
    return out;
  }

  private static Object produce(JsonNode r) throws Exception {
    String name = r.path("producer").asText();
    String op = r.get("op").asText();
    if (op.equals("open")) {
      Map<String, Object> config = new HashMap<>(stringsOf(r.get("properties")));
      config.putIfAbsent("bootstrap.servers", brokers);
      config.putIfAbsent("max.block.ms", "20000");
      PRODUCERS.put(name, new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer()));
      return null;
    }
    KafkaProducer<byte[], byte[]> producer = PRODUCERS.get(name);
    if (producer == null) throw new IllegalStateException("there is no producer " + name);
    switch (op) {
      case "init" -> producer.initTransactions();
      case "begin" -> producer.beginTransaction();
      case "commit" -> producer.commitTransaction();
      case "abort" -> producer.abortTransaction();
      case "send" -> {
        return send(producer, r);
      }
      case "close" -> PRODUCERS.remove(name).close();
      // Says nothing to the broker: its transaction stays open.
      case "abandon" -> PRODUCERS.remove(name).close(Duration.ZERO);
      default -> throw new IllegalArgumentException("there is no " + op);
    }
    return null;
  }

  private static Object send(KafkaProducer<byte[], byte[]> producer, JsonNode r) throws Exception {
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    for (JsonNode one : r.get("records")) {
      List<Header> headers = new ArrayList<>();
      for (JsonNode h : one.path("headers")) headers.add(new RecordHeader(h.get("key").asText(), bytesOf(h.get("value"))));
      Integer partition = one.hasNonNull("partition") ? Integer.valueOf(one.get("partition").asInt()) : null;
      Long timestamp = one.hasNonNull("timestamp") ? Long.valueOf(one.get("timestamp").asLong()) : null;
      sent.add(producer.send(new ProducerRecord<>(
          r.get("topic").asText(), partition, timestamp, bytesOf(one.get("key")), bytesOf(one.get("value")), headers)));
    }
    producer.flush();
    List<Map<String, Object>> out = new ArrayList<>();
    for (Future<RecordMetadata> f : sent) {
      RecordMetadata m = f.get();
      out.add(Map.of("partition", m.partition(), "offset", m.offset(), "timestamp", m.timestamp()));
    }
    return out;
  }

  private static byte[] bytesOf(JsonNode n) {
    return n == null || n.isNull() ? null : Base64.getDecoder().decode(n.asText());
  }

  private static Map<String, String> stringsOf(JsonNode n) {
    Map<String, String> out = new HashMap<>();
    if (n != null) n.fields().forEachRemaining(e -> out.put(e.getKey(), e.getValue().asText()));
    return out;
  }
}
