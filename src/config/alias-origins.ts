/**
 * Where each name that is accepted for the sake of old job files comes from: the first of FlinkX 1.5, 1.8, 1.10, ChunJun
 * 1.12, 1.16 that has it, or DataX. Only docs/aliases.md is made of it; a test sees to it that no name is left out.
 */
const FLINKX = 'FlinkX 1.5';
const V8 = 'FlinkX 1.8';
const V10 = 'FlinkX 1.10';
const V12 = 'ChunJun 1.12';
const V16 = 'ChunJun 1.16';
const DATAX = 'DataX';
const FLINK = 'Flink';
const OWN = 'syncx';

/** By place and name; a name alone holds wherever it stands. */
const ORIGINS: Readonly<Record<string, string>> = {
  // The frame.
  core: DATAX,
  common: DATAX,
  entry: DATAX,
  setting: DATAX,
  preHandler: DATAX,
  postHandler: DATAX,
  'content[].reader.table': V12,
  'content[].writer.table': V12,
  semantic: V12,
  nameMapping: V12,
  restoration: V12,
  // setting
  byte: DATAX,
  rebalance: V8,
  isRestore: FLINKX,
  isStream: FLINKX,
  restoreColumnName: FLINKX,
  restoreColumnIndex: FLINKX,
  restoreColumnType: FLINKX,
  maxRowNumForCheckpoint: FLINKX,
  log: FLINKX,
  test: V8,
  metricPluginConf: V12,
  metricPluginConfig: V16,
  keyVersion: DATAX,
  restartAttempts: V8,
  failureRate: V8,
  // Options of plugins.
  mode: V12,
  'fileType format': OWN,
  fileFormat: DATAX,
  skipHeader: DATAX,
  charset: DATAX,
  compressType: V12,
  maxFetchSize: V12,
  columnDelimiter: V16,
  ftpFileName: V10,
  suffix: V16,
  suffixName: DATAX,
  listHiddenFiles: V12,
  nullIsReplacedWithValue: V12,
  nextCheckRows: V12,
  dateFormat: DATAX,
  sqlTableName: DATAX,
  index: FLINKX,
  format: FLINKX,
  value: FLINKX,
  parseFormat: V12,
  splitter: FLINKX,
  isPart: FLINKX,
  notNull: V12,
  random: DATAX,
  haveMixupFunction: DATAX,
  writeDelimiter: V10,
  encoding: DATAX,
  path: DATAX,
  fileName: DATAX,
  recordNumBeforeSleep: DATAX,
  sleepTime: DATAX,
  column: FLINKX,
  codeC: V8,
  // MySQL.
  'connection[].database': OWN,
  snapshot: OWN,
  fetchSize: FLINKX,
  queryTimeOut: FLINKX,
  isOrderBy: V8,
  orderByColumn: FLINKX,
  orderBy: V12,
  restoreColumn: V12,
  increColumnType: V12,
  increColumnIndex: V12,
  increment: V12,
  initReporter: V12,
  requestAccumulatorInterval: V10,
  splitPkStart: V12,
  splitPkEnd: V12,
  parallelism: V12,
  withNoLock: V12,
  fieldDelim: V12,
  nullDelim: V12,
  insertSqlMode: V12,
  mandatoryEncoding: DATAX,
  updateKey: FLINKX,
  flushIntervalMills: V12,
  fullColumn: FLINKX,
  isAutoCommit: V12,
  executeDdlAble: V12,
  session: DATAX,
  batchByteSize: DATAX,
  'topic-pattern': FLINK,
  'csv.field-delimiter': FLINK,
  'csv.quote-character': FLINK,
  'csv.escape-character': FLINK,
  'csv.null-literal': FLINK,
  'scan.startup.mode': FLINK,
  'scan.startup.timestamp-millis': FLINK,
  'scan.startup.specific-offsets': FLINK,
  'canal-json.database.include': FLINK,
  'canal-json.table.include': FLINK,
  'scan.bounded.mode': FLINK,
  'scan.bounded.timestamp-millis': FLINK,
  'scan.bounded.specific-offsets': FLINK,
  'scan.topic-partition-discovery.interval': FLINK,
  'partition-discovery.interval-ms': FLINK,
  'codec format': FLINK,
  tableFields: V12,
  partitionAssignColumns: V12,
  dataCompelOrder: V12,
  partitionStrategy: V16,
  timezone: V10,
  'brokers bootstrap.servers': OWN,
  brokerList: V10,
  addMessage: V16,
  blankIgnore: V10,
  // Names of plugins.
  'plugin file': OWN,
  'plugin stream': FLINKX,
  'plugin mysql': FLINKX,
  'plugin mysqld': FLINKX,
  'plugin mariadb': OWN,
  'plugin socket': FLINKX,
  'plugin kafka': FLINKX,
  txtfile: DATAX,
  localfile: OWN,
};

/** `option`: the main name, where the alias is one; `path`: below `job` or below `parameter`. Null: it is not told. */
export function originOf(alias: string, option: string | null, path: string): string | null {
  if (alias.startsWith('restart-strategy') || isFlinkRestart(path)) return FLINK;
  for (const key of [path, ...(option === null ? [] : [`${option} ${alias}`]), alias]) {
    if (Object.hasOwn(ORIGINS, key)) return ORIGINS[key] ?? null;
  }
  return null;
}

/** Keys of Flink's configuration without their common prefix. */
const isFlinkRestart = (path: string): boolean => /^setting\.restart\.(?:type|[a-z]+-[a-z]+\.[a-z-]+)$/.test(path);

/** Of keys that -confProp takes. */
export function originOfKey(key: string): string {
  if (key.startsWith('flink.')) return V8;
  return key.startsWith('chunjun.') ? V12 : FLINK;
}

const DATAX_FLAGS: readonly string[] = ['m', 'jvm', 'j', 'loglevel'];
const CHUNJUN_FLAGS =
  /^(?:jobType|runMode|pj|jobName|.*ChunJun.*|chunjunDistDir|.*[fF]linkxDistDir|addjar|addShipfile|flinkConfDir|flinkLibDir|hadoopConfDir)$/;

export function originOfFlag(flag: string): string {
  if (DATAX_FLAGS.includes(flag)) return DATAX;
  return CHUNJUN_FLAGS.test(flag) ? V12 : FLINKX;
}
