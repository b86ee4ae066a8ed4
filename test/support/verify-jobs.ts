/** Jobs between two tables, and what sync verify says of them. */
import assert from 'node:assert/strict';
import type { OwnDatabase } from './databases.js';
import { jdbcOf } from './mysql-jobs.js';
import { sync, type SyncResult } from './sync.js';
import type { Workspace } from './workspace.js';

export interface TableJob {
  readonly source: OwnDatabase;
  /** Default: the source's. */
  readonly target?: OwnDatabase;
  readonly reader?: Readonly<Record<string, unknown>>;
  readonly writer?: Readonly<Record<string, unknown>>;
  readonly transform?: readonly unknown[];
  readonly setting?: Readonly<Record<string, unknown>>;
}

export function tableReader(db: OwnDatabase, table: string | readonly string[] = 's') {
  const { username, password } = new URL(db.url);
  const connection = [{ jdbcUrl: [jdbcOf(db.url)], table: typeof table === 'string' ? [table] : table }];
  return { name: 'mysqlreader', parameter: { username, password, connection } };
}

export function tableWriter(db: OwnDatabase, table = 't') {
  const { username, password } = new URL(db.url);
  return {
    name: 'mysqlwriter',
    parameter: { username, password, connection: [{ jdbcUrl: jdbcOf(db.url), table: [table] }] },
  };
}

/** From table `s` to table `t`. */
export function tableJob(ws: Workspace, o: TableJob): string {
  const reader = tableReader(o.source);
  const writer = tableWriter(o.target ?? o.source);
  return ws.job({
    job: {
      content: [
        {
          reader: { ...reader, parameter: { ...reader.parameter, ...o.reader } },
          writer: { ...writer, parameter: { ...writer.parameter, ...o.writer } },
          ...(o.transform ? { transform: o.transform } : {}),
        },
      ],
      setting: o.setting ?? {},
    },
  });
}

export interface Differing {
  readonly is: string;
  readonly key: Readonly<Record<string, string | null>>;
  readonly columns: readonly {
    readonly name: string;
    readonly source: string | null;
    readonly target: string | null;
  }[];
}

export interface Verified {
  readonly result: SyncResult;
  readonly equal: boolean | null;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly by: string | undefined;
  readonly key: readonly string[] | undefined;
  readonly notes: readonly string[];
  readonly repaired: { readonly written: number; readonly deleted: number } | null;
  /** `missing 1`, `different 2: name`; in the order of their keys. */
  readonly differences: readonly string[];
  readonly counts: readonly [missing: number, extra: number, different: number];
}

interface VerifyJson {
  readonly equal: boolean | null;
  readonly exitCode: number;
  readonly error: Verified['error'];
  readonly parts: readonly {
    readonly by: string;
    readonly key: readonly string[];
    readonly notes: readonly string[];
    readonly repaired: Verified['repaired'];
    readonly differences: {
      readonly missing: number;
      readonly extra: number;
      readonly different: number;
      readonly first: readonly Differing[];
    };
  }[];
}

function show({ is, key, columns }: Differing): string {
  const values = Object.values(key).map((v) => v ?? 'NULL');
  return `${is} ${values.join('|')}${columns.length > 0 ? `: ${columns.map((c) => c.name).join(',')}` : ''}`;
}

export async function verified(ws: Workspace, job: string, ...args: readonly string[]): Promise<Verified> {
  const result = await sync(['verify', job, '--output', 'json', ...args], { cwd: ws.dir });
  assert.ok(result.summary, `no result: ${result.stderr}`);
  const json = result.summary as unknown as VerifyJson;
  assert.equal(json.exitCode, result.code);
  const [part] = json.parts;
  const d = part?.differences;
  return {
    result,
    equal: json.equal,
    error: json.error,
    by: part?.by,
    key: part?.key,
    notes: part?.notes ?? [],
    repaired: part?.repaired ?? null,
    differences: (d?.first ?? []).map(show).sort(),
    counts: [d?.missing ?? 0, d?.extra ?? 0, d?.different ?? 0],
  };
}

export function assertEqual(v: Verified, by?: 'digest' | 'rows'): void {
  assert.deepEqual([v.equal, v.error, v.differences], [true, null, []], v.result.stderr);
  if (by !== undefined) assert.equal(v.by, by);
}
