import { parseTree, type Node } from 'jsonc-parser';
import type { JsonObject, RowSchema, SimpleValue } from '../../src/plugin-api/index.js';
import { contractTests, writerHarness } from '../../src/plugin-testkit/index.js';
import { writer } from '../../plugins/kafka/index.js';
import { openKafka, type Kafka, type OwnTopic } from '../support/kafka.js';
import { serverSuite } from '../support/services.js';

/** A value as its text stands there: a number keeps its digits, and JSON is JSON. */
function cell(text: string, value: Node, isJson: boolean): SimpleValue {
  if (value.type === 'null') return null;
  if (value.type === 'string' && !isJson) return value.value as string;
  return text.slice(value.offset, value.offset + value.length);
}

function row(text: string, schema: RowSchema): Readonly<Record<string, SimpleValue>> {
  const properties = parseTree(text)?.children ?? [];
  return Object.fromEntries(
    properties.map(({ children = [] }): [string, SimpleValue] => {
      const [key, value] = children;
      const name = String(key?.value);
      const isJson = schema.columns.find((c) => c.name === name)?.type.is === 'json';
      return [name, value === undefined ? null : cell(text, value, isJson)];
    }),
  );
}

/** Partitions that a consumer of committed records would have to wait for. */
async function openTransactions(topic: OwnTopic): Promise<readonly string[]> {
  const [committed, all] = [await topic.read(), await topic.read({ isolation: 'read_uncommitted' })];
  return Object.entries(all.ends).flatMap(([p, end]) => (committed.ends[Number(p)] === end ? [] : [`partition ${p}`]));
}

function tests(kafka: () => Kafka, options: JsonObject): void {
  contractTests(
    writerHarness({
      plugin: writer,
      prepared: 'survive',
      async target(schema) {
        const topic = await kafka().topic({ partitions: 2 });
        return {
          options: { brokers: kafka().brokers, topic: topic.name, ...options },
          readBack: async () => (await topic.records()).map((r) => row(r.value?.toString() ?? '', schema)),
          leftovers: () => openTransactions(topic),
          dispose: async () => {
            await topic[Symbol.asyncDispose]();
          },
        };
      },
      // JSON has no bytes; the writer says base64. And it has one null.
      asRead: (column, value) => {
        if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
        return column.type.is === 'json' && value === 'null' ? null : value;
      },
      waive: {
        'descriptor.defaults': 'brokers and a fixed partition have no default',
        'values.bad-row': 'JSON has a form for every text, so no row is refused',
        'recover.damaged': 'transactions are ended by the broker; C46 has one that it times out before its commit',
      },
    }),
  );
}

serverSuite('kafka', 'the writer of Kafka', (server) => {
  let opened: Kafka | null = null;
  const kafka = (): Kafka => (opened ??= openKafka(server.url));
  tests(kafka, { semantic: 'exactly-once' });
});
