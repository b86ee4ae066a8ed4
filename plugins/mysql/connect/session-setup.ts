/** How every session is pinned, so that values and waits do not depend on the server's or the user's defaults. */
import { SyncError } from 'syncx/plugin-api';
import type { Side } from './mysql-errors.js';
import type { RowOfText } from './row-text.js';

export interface ServerFacts {
  /** `10.11.6-MariaDB-0+deb12u1-log` */
  readonly version: string;
  readonly mariadb: boolean;
  /** For KILL; digits. */
  readonly connectionId: string;
  /** Bytes of a statement, at most. */
  readonly maxAllowedPacket: number;
  readonly lowerCaseTableNames: number;
}

interface Asks {
  query(sql: string, doing: string): Promise<readonly RowOfText[]>;
}

export async function readServerFacts(session: Asks): Promise<ServerFacts> {
  const [row] = await session.query(
    'select version(), connection_id(), @@session.max_allowed_packet, @@lower_case_table_names',
    'ask the server who it is',
  );
  const [version, connectionId, maxAllowedPacket, lowerCaseTableNames] = row ?? [];
  if (!version || !connectionId) throw new SyncError('INTERNAL', 'the server did not say who it is');
  return {
    version,
    mariadb: /mariadb/i.test(version),
    connectionId,
    maxAllowedPacket: Number(maxAllowedPacket),
    lowerCaseTableNames: Number(lowerCaseTableNames),
  };
}

/** [5, 5, 9]; of MariaDB its own number, also where it hides behind `5.5.5-`. */
export function versionOf(server: ServerFacts): readonly [number, number, number] {
  const m = /(\d+)\.(\d+)\.(\d+)/.exec(server.version.replace(/^5\.5\.5-(?=\d+\.\d+\.\d+-MariaDB)/i, ''));
  return [Number(m?.[1] ?? 0), Number(m?.[2] ?? 0), Number(m?.[3] ?? 0)];
}

export function atLeast(server: ServerFacts, major: number, minor: number, patch = 0): boolean {
  const [a, b, c] = versionOf(server);
  return a !== major ? a > major : b !== minor ? b > minor : c >= patch;
}

/**
 * Reading takes what is there, be it a date of zeros in a comparison. Writing is strict, keeps zero dates and other days off
 * the calendar as they came, and takes 0 for what it is in AUTO_INCREMENT columns.
 */
export const SQL_MODES: Readonly<Record<Side, string>> = {
  source: 'ALLOW_INVALID_DATES,NO_ENGINE_SUBSTITUTION',
  sink: 'STRICT_ALL_TABLES,ALLOW_INVALID_DATES,NO_AUTO_VALUE_ON_ZERO,NO_ENGINE_SUBSTITUTION',
};

/**
 * At REPEATABLE READ a lane would lock gaps between rows, another lane wait for them, and the epoch for both. A binary log of
 * statements allows nothing less; what the job sets for its sessions stays.
 */
export async function isolationOf(session: Asks, side: Side, own: string | null): Promise<readonly string[]> {
  if (side !== 'sink' || /isolation/i.test(own ?? '')) return [];
  const sql = "show session variables where variable_name in ('log_bin', 'binlog_format')";
  const log = new Map((await session.query(sql, 'ask how changes are logged')).map(([name, value]) => [name, value]));
  if (log.get('log_bin') === 'ON' && log.get('binlog_format') === 'STATEMENT') return [];
  return ['set session transaction isolation level read committed'];
}

/** A slow other end must not make the server give up on us: net_write_timeout is 60 s by default, wait_timeout 8 h. */
const PATIENCE_S = 7 * 24 * 3600;

export function sessionSetup(server: ServerFacts, side: Side, own: string | null): readonly string[] {
  const settings = [
    `time_zone = '+00:00'`,
    `sql_mode = '${SQL_MODES[side]}'`,
    `net_write_timeout = ${String(PATIENCE_S)}`,
    `net_read_timeout = ${String(PATIENCE_S)}`,
    `wait_timeout = ${String(PATIENCE_S)}`,
    'sql_auto_is_null = 0',
    'sql_notes = 1',
    'sql_select_limit = default',
    'autocommit = 1',
    // Servers may end long statements or idle transactions by themselves; ours take as long as the data does.
    ...(server.mariadb && atLeast(server, 10, 1) ? ['max_statement_time = 0'] : []),
    ...(server.mariadb && atLeast(server, 10, 3)
      ? ['idle_transaction_timeout = 0', 'idle_write_transaction_timeout = 0', 'idle_readonly_transaction_timeout = 0']
      : []),
    ...(!server.mariadb && atLeast(server, 5, 7, 8) ? ['max_execution_time = 0'] : []),
    ...(!server.mariadb && atLeast(server, 8, 0, 30) ? ['sql_generate_invisible_primary_key = 0'] : []),
  ];
  return [
    'set names utf8mb4',
    `set session ${settings.join(', ')}`,
    ...(own === null || own.trim() === '' ? [] : [`set session ${own}`]),
  ];
}
