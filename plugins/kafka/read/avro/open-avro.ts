/** From the options to what makes rows of Avro; loaded by jobs of codec avro alone. */
import { readFile } from 'node:fs/promises';
import { SyncError } from 'syncx/plugin-api';
import { columnSpecs } from 'syncx/plugin-kit';
import type { ReaderOptions } from '../../reader-options.js';
import type { Place } from '../rows/record-cells.js';
import type { NullValues, RecordRows } from '../rows/record-rows.js';
import { AvroRows } from './avro-rows.js';
import { AvroSchemaProblem, parseAvroSchema, type AvroRecord } from './avro-schema.js';

const PLACE = 'reader.parameter.avroSchema';

/** @throws SyncError JOB_INVALID where the schema cannot be used, COLUMN_MISMATCH where it lacks a wanted field. */
export async function openAvro(o: ReaderOptions): Promise<(place: Place, nulls: NullValues) => RecordRows> {
  const record = recordOf(await jsonOf(o.avroSchema), typeof o.avroSchema === 'string' ? o.avroSchema : PLACE);
  const { avroSchemaId: id = [] } = o;
  const ids = o.avroFraming === 'confluent' ? new Set(typeof id === 'number' ? [id] : id) : null;
  const given = new Set(o.column.flatMap((c) => (typeof c !== 'string' && c.type !== undefined ? [c.name] : [])));
  const columns = columnSpecs(o.column) ?? (['*'] as const);
  const wanted = { columns, typed: (c: { readonly name: string | null }) => given.has(c.name ?? '') };
  return (place, nulls) => new AvroRows(record, ids, wanted, place, nulls);
}

async function jsonOf(schema: ReaderOptions['avroSchema']): Promise<unknown> {
  if (typeof schema !== 'string') return schema;
  let text: string;
  try {
    text = await readFile(schema, 'utf8');
  } catch (e) {
    throw invalid(`${schema} cannot be read: ${e instanceof Error ? e.message : String(e)}`, schema);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid(`${schema} is no JSON`, schema);
  }
}

function recordOf(json: unknown, place: string): AvroRecord {
  try {
    const type = parseAvroSchema(json);
    if (type.is === 'record') return type;
  } catch (e) {
    if (e instanceof AvroSchemaProblem) throw invalid(e.message, place);
    throw e;
  }
  throw invalid('the schema is no record, so that it has no columns', place);
}

function invalid(message: string, place: string): SyncError {
  const hint = 'avroSchema is the path of an .avsc file, or the schema itself, as the values were written with.';
  return new SyncError('JOB_INVALID', message, { place, blame: 'config', hint });
}
