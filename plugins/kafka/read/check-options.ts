import type { Finding } from 'syncx/plugin-api';
import { checkColumns, checkCsv, columnSpecs, hasStar } from 'syncx/plugin-kit';
import type { ReaderOptions } from '../reader-options.js';
import { readerConnection } from '../open-client.js';
import { parseOffsets } from './offset-text.js';
import { isChangeCodec } from './rows/codec-rows.js';

/** Null: they depend on what there is. */
export function topicNames(o: ReaderOptions): readonly string[] | null {
  if (o.topicPattern !== undefined) return null;
  return (
    o.topics ??
    (o.topic ?? '')
      .split(',')
      .map((t) => t.trim())
      .filter((t) => t !== '')
  );
}

const RESETS: ReadonlySet<string> = new Set(['earliest', 'latest', 'none']);
const ISOLATIONS: ReadonlySet<string> = new Set(['read_committed', 'read_uncommitted']);

/** False: records of open and aborted transactions come too. */
export const committedOnly = (o: ReaderOptions): boolean =>
  (o.isolation ?? textOf(o, 'isolation.level') ?? 'read_committed') === 'read_committed';

/** What the schema alone cannot say. */
export function checkReaderOptions(o: ReaderOptions): readonly Finding[] {
  const findings: Finding[] = [];
  const say = (path: string, message: string, hint: string): void => void findings.push({ path, message, hint });
  const given = (['topic', 'topics', 'topicPattern'] as const).filter((k) => o[k] !== undefined);
  if (given.length !== 1) {
    const message = given.length === 0 ? 'no topic is named' : `${given.join(' and ')} exclude each other`;
    say(given[1] ?? 'topic', message, 'Give one of topic, topics and topicPattern.');
  } else if (topicNames(o)?.length === 0) say('topic', 'no topic is named', 'Name one, or several with commas.');
  if (o.topicPattern !== undefined && !isPattern(o.topicPattern))
    say('topicPattern', `\`${o.topicPattern}\` is no regular expression`, 'Write it as orders_.*');
  const needs = (mode: string, path: 'timestamp' | 'offset' | 'boundedTimestamp' | 'boundedOffset'): void => {
    if (o[path] === undefined) say(path, `${mode} needs ${path}`, `Give ${path}.`);
  };
  if (o.mode === 'timestamp') needs('mode timestamp', 'timestamp');
  if (o.mode === 'specific-offsets') needs('mode specific-offsets', 'offset');
  if (o.bounded === 'timestamp') needs('bounded timestamp', 'boundedTimestamp');
  if (o.bounded === 'offsets') needs('bounded offsets', 'boundedOffset');
  const reset = textOf(o, 'auto.offset.reset');
  if (reset !== null && !RESETS.has(reset))
    say('consumerSettings', `auto.offset.reset is \`${reset}\``, 'It is earliest, latest or none.');
  const isolation = textOf(o, 'isolation.level');
  if (isolation !== null && !ISOLATIONS.has(isolation))
    say('consumerSettings', `isolation.level is \`${isolation}\``, 'It is read_committed or read_uncommitted.');
  for (const path of ['offset', 'boundedOffset'] as const) {
    const parsed = o[path] === undefined ? null : parseOffsets(o[path], topicNames(o));
    if (typeof parsed === 'string') say(path, parsed, 'Write it as partition:0,offset:42;partition:1,offset:300.');
  }
  if (o.mode === 'group-offsets' && groupOf(o) === null)
    say('groupId', 'mode group-offsets needs a group', 'Give groupId, or another mode.');
  const changes = isChangeCodec(o.codec);
  const json = o.codec === 'json' || changes || o.codec === 'avro';
  const csv = o.codec === 'csv';
  if (csv && hasStar(columnSpecs(o.column)))
    say('column', 'codec csv needs the columns', 'Name them in the order of the fields, or give each its index.');
  const avro = o.codec === 'avro';
  if (avro && o.avroSchema === undefined)
    say('avroSchema', 'codec avro needs the schema', 'Name its file, or write it as an object. No registry is asked.');
  if (avro && o.avroFraming === 'confluent' && o.avroSchemaId === undefined)
    say(
      'avroSchemaId',
      'avroFraming confluent needs the id of the schema',
      'The registry tells it; values of other schemas are then dirty rows, and none is misread.',
    );
  const indexed = csv ? -1 : o.column.findIndex((c) => typeof c !== 'string' && c.index !== undefined);
  if (indexed >= 0) say(`column[${String(indexed)}].index`, 'an index is for codec csv', 'Give the name only.');
  if (changes && o.nullValues !== undefined)
    say('nullValues', `it has no meaning with codec ${o.codec}`, 'Leave it out: deletes have records of their own.');
  for (const path of ['databaseInclude', 'tableInclude'] as const) {
    const pattern = o[path];
    if (pattern === undefined) continue;
    if (!changes) say(path, `it has no meaning with codec ${o.codec}`, 'Leave it out, or read a codec of changes.');
    if (!isPattern(pattern)) say(path, `\`${pattern}\` is no regular expression`, 'Write it as orders_.*');
  }
  o.column.forEach((c, i) => {
    if (changes || typeof c === 'string' || (c.meta !== 'database' && c.meta !== 'table')) return;
    say(
      `column[${String(i)}].meta`,
      `codec ${o.codec} knows of no ${c.meta}`,
      'Read a codec of changes, or leave it out.',
    );
  });
  if (o.codec === 'raw' && (o.column.length !== 1 || o.column[0] !== '*'))
    say('column', 'codec raw has columns of its own: value, key, headers, timestamp', 'Leave column out.');
  return [
    ...findings,
    ...(csv ? checkCsv(o) : []),
    ...readerConnection(o).findings,
    ...checkColumns(o.column, { json, star: changes || csv || avro ? null : json ? 'json' : 'message' }),
  ];
}

export function isPattern(text: string): boolean {
  try {
    return new RegExp(`^(?:${text})$`).test('') || true;
  } catch {
    return false;
  }
}

export function groupOf(o: ReaderOptions): string | null {
  return o.groupId ?? textOf(o, 'group.id');
}

/** A setting of the Java client; null: it is not there. */
export function textOf(o: ReaderOptions, key: string): string | null {
  const value = o.consumerSettings[key];
  return value === undefined ? null : String(value);
}
