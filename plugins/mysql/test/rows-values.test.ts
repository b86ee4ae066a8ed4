/** Each cell arrives equal, or its row is rejected: source types × target columns, by INSERT and by LOAD DATA. */
import assert from 'node:assert/strict';
import { batchOf, column, table, writeAll, type Value } from './rows-support.js';
import { SERVERS, onServers, type ServerKind, type TestDatabase } from './servers.js';

/** What is stored, as the server shows it; `no`: rejected by us, `server`: rejected in the server's words. */
type Outcome = string | typeof no | typeof server | Readonly<Record<ServerKind, string | typeof no | typeof server>>;
const no = Symbol('no');
const server = Symbol('server');

interface Target {
  readonly ddl: string;
  /** How to look at it; `c` where it is text. */
  readonly show?: string;
  readonly from: Readonly<Record<string, readonly (readonly [Value, Outcome])[]>>;
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const POINT = '000000000101000000000000000000F03F0000000000000040';

const TARGETS: readonly Target[] = [
  {
    ddl: 'int',
    from: {
      int32: [
        ['-2147483648', '-2147483648'],
        ['0', '0'],
        [null, '∅'],
      ],
      int64: [
        ['2147483647', '2147483647'],
        ['2147483648', server],
      ],
      boolean: [
        ['true', '1'],
        ['false', '0'],
      ],
      string: [
        ['12', '12'],
        ['+5', '5'],
        ['007', '7'],
        ['-0', '0'],
        ['12 ', no],
        [' 12', no],
        ['1.5', no],
        ['1e3', no],
        ['', no],
        ['x', server],
        ['1x', no],
        ['12\t', no],
        ['0x10', no],
        ['99999999999', no],
      ],
      'decimal(10,2)': [
        ['5.00', '5'],
        ['-0.50', no],
        ['7', '7'],
      ],
      float64: [
        ['5', '5'],
        ['5.5', no],
        ['1e+21', server],
        ['-0', '0'],
        ['NaN', no],
      ],
      binary: [
        [Buffer.from('12'), '12'],
        [hex('00'), no],
      ],
      year: [['1999', '1999']],
      'bit(8)': [['255', '255']],
      date: [['2024-01-01', no]],
    },
  },
  {
    ddl: 'tinyint unsigned',
    from: {
      int8: [
        ['-1', server],
        ['127', '127'],
      ],
      uint16: [
        ['255', '255'],
        ['256', server],
      ],
    },
  },
  {
    ddl: 'bigint unsigned',
    from: {
      uint64: [['18446744073709551615', '18446744073709551615']],
      string: [
        ['18446744073709551615', '18446744073709551615'],
        ['18446744073709551616', no],
        ['-1', no],
      ],
      'decimal(20,0)': [
        ['18446744073709551616', server],
        ['9007199254740993', '9007199254740993'],
      ],
    },
  },
  {
    ddl: 'decimal(5,2)',
    from: {
      'decimal(5,2)': [
        ['999.99', '999.99'],
        ['-0.01', '-0.01'],
      ],
      'decimal(8,4)': [
        ['1.5500', '1.55'],
        ['1.5550', no],
        ['1000', server],
        ['-1.2', '-1.20'],
      ],
      int32: [
        ['999', '999.00'],
        ['1000', server],
      ],
      float64: [
        ['1.5', '1.50'],
        ['1e+21', server],
        ['1e-7', no],
        ['0.005', no],
        ['NaN', no],
        ['-0', '0.00'],
      ],
      string: [
        ['1.5', '1.50'],
        ['1.555', no],
        ['1e2', '100.00'],
        [' 1.5', no],
        ['', no],
        ['x', server],
        ['.5', '0.50'],
      ],
      boolean: [['true', '1.00']],
    },
  },
  {
    ddl: 'decimal(5,2) unsigned',
    from: {
      'decimal(5,2)': [
        ['-0.01', server],
        ['0.01', '0.01'],
      ],
    },
  },
  {
    ddl: 'decimal(65,30)',
    from: {
      'decimal(65,30)': [
        [
          '99999999999999999999999999999999999.999999999999999999999999999999',
          '99999999999999999999999999999999999.999999999999999999999999999999',
        ],
        ['-0.000000000000000000000000000001', '-0.000000000000000000000000000001'],
      ],
      float64: [
        ['1e-30', '0.000000000000000000000000000001'],
        ['5e-324', no],
      ],
    },
  },
  {
    ddl: 'float',
    show: 'c*1e0',
    from: {
      float32: [
        ['16777216', '16777216'],
        ['345.6789', '345.67889404296875'],
        ['-0', { mariadb: '0', mysql55: '-0' }],
        ['Infinity', no],
      ],
      float64: [
        ['0.5', '0.5'],
        ['0.1', '0.10000000149011612'],
        ['0.1234567890123', no],
        ['1e+39', no],
        ['NaN', no],
      ],
      int32: [
        ['16777216', '16777216'],
        ['16777217', no],
      ],
      'decimal(10,2)': [
        ['0.10', '0.10000000149011612'],
        ['1234567.89', no],
      ],
      string: [
        ['1.10', '1.100000023841858'],
        ['1e39', no],
        ['x', server],
        ['-1', '-1'],
      ],
    },
  },
  {
    ddl: 'double',
    from: {
      float64: [
        ['5e-324', '5e-324'],
        ['1.7976931348623157e+308', '1.7976931348623157e308'],
        ['-0', { mariadb: '0', mysql55: '-0' }],
        ['NaN', no],
        ['-Infinity', no],
        ['0.1', '0.1'],
      ],
      int64: [
        ['9007199254740993', no],
        ['9007199254740992', '9.007199254740992e15'],
        ['-5', '-5'],
      ],
      'decimal(30,20)': [
        ['0.12345678901234567890', no],
        ['0.50000000000000000000', '0.5'],
      ],
      float32: [['0.1', '0.1']],
      string: [
        ['1e999', no],
        ['1.25e2', '125'],
        ['abc', server],
      ],
    },
  },
  {
    ddl: 'float(7,2)',
    show: 'c',
    from: {
      float32: [
        ['1.5', '1.50'],
        ['1.555', no],
      ],
    },
  },
  {
    ddl: 'bit(8)',
    show: 'c+0',
    from: {
      'bit(8)': [
        ['255', '255'],
        ['0', '0'],
        [null, '∅'],
      ],
      'bit(9)': [
        ['255', '255'],
        ['256', no],
      ],
      int32: [
        ['-1', no],
        ['5', '5'],
      ],
      string: [
        ['5', '5'],
        ['x', no],
      ],
      boolean: [['true', '1']],
    },
  },
  {
    ddl: 'bit(64)',
    show: 'c+0',
    from: {
      'bit(64)': [
        ['18446744073709551615', '18446744073709551615'],
        ['9007199254740993', '9007199254740993'],
      ],
      int64: [['-1', no]],
    },
  },
  {
    ddl: 'year',
    from: {
      year: [
        ['1901', '1901'],
        ['2155', '2155'],
        ['0000', '0000'],
      ],
      int32: [
        ['1999', '1999'],
        ['99', no],
        ['0', no],
        ['2156', server],
        ['1900', server],
      ],
      string: [
        ['0', no],
        ['99', no],
        ['2024', '2024'],
        ['x', server],
      ],
    },
  },
  {
    ddl: 'date',
    from: {
      date: [
        ['2024-02-29', '2024-02-29'],
        ['0000-00-00', '0000-00-00'],
        ['2024-02-31', '2024-02-31'],
        ['2024-00-15', '2024-00-15'],
      ],
      'datetime(6)': [
        ['2024-01-02 00:00:00.000000', '2024-01-02'],
        ['2024-01-02 00:00:01', no],
      ],
      string: [
        ['20240101', no],
        ['24-01-01', no],
        ['2024-1-1', no],
        ['2024-01-01', '2024-01-01'],
        ['2024-13-01', no],
        ['abc', server],
      ],
      int32: [['20240101', no]],
      time: [['10:11:12', no]],
    },
  },
  {
    ddl: 'datetime',
    from: {
      datetime: [
        ['2024-03-31 02:30:00', '2024-03-31 02:30:00'],
        ['0000-00-00 00:00:00', '0000-00-00 00:00:00'],
      ],
      'datetime(3)': [
        ['2024-01-02 10:11:12.500', no],
        ['2024-01-02 10:11:12.000', '2024-01-02 10:11:12'],
      ],
      date: [['2024-01-02', '2024-01-02 00:00:00']],
      string: [
        ['2024-01-02T10:11:12', '2024-01-02 10:11:12'],
        ['10:11:12', no],
        ['2024-01-01', '2024-01-01 00:00:00'],
        ['abc', server],
        ['2024-01-01 25:00:00', no],
      ],
      time: [['10:11:12', no]],
    },
  },
  {
    ddl: 'timestamp null',
    from: {
      timestamp: [
        ['1970-01-01 00:00:01', '1970-01-01 00:00:01'],
        ['2038-01-19 03:14:07', '2038-01-19 03:14:07'],
        ['1969-12-31 23:59:59', server],
        ['2038-01-19 03:14:08', server],
        ['0000-00-00 00:00:00', '0000-00-00 00:00:00'],
        ['2024-02-31 10:00:00', server],
        [null, '∅'],
      ],
      string: [['2024-01-01T02:00:00+02:00', '2024-01-01 00:00:00']],
    },
  },
  {
    ddl: 'timestamp not null default current_timestamp',
    from: {
      timestamp: [
        [null, no],
        ['2024-01-01 00:00:00', '2024-01-01 00:00:00'],
      ],
    },
  },
  {
    ddl: 'time',
    from: {
      time: [
        ['838:59:59', '838:59:59'],
        ['-838:59:59', '-838:59:59'],
        ['839:00:00', server],
      ],
      'time(6)': [
        ['10:11:12.500000', no],
        ['-10:11:12.000000', '-10:11:12'],
      ],
      string: [
        ['11:12', no],
        ['2024-01-01 10:11:12', no],
        ['abc', server],
      ],
    },
  },
  {
    ddl: `enum('small','B','1','')`,
    from: {
      string: [
        ['small', 'small'],
        ['SMALL', no],
        ['1', '1'],
        ['2', no],
        ['small ', no],
        ['', ''],
      ],
      int32: [
        ['1', '1'],
        ['2', no],
      ],
      enum: [
        ['B', 'B'],
        ['b', no],
      ],
    },
  },
  {
    ddl: `enum('a')`,
    from: {
      string: [
        ['', no],
        ['zz', no],
      ],
    },
  },
  {
    ddl: `set('x','y z')`,
    from: {
      set: [
        ['y z,x', 'x,y z'],
        ['', ''],
      ],
      string: [
        ['3', no],
        ['X', no],
        ['x,x', no],
        ['x,q', no],
        ['x', 'x'],
      ],
      int8: [['3', no]],
    },
  },
  {
    ddl: 'char(3) charset utf8mb4',
    show: 'hex(c)',
    from: {
      string: [
        ['ab ', no],
        ['abc', '616263'],
        ['abcd', server],
        ['', ''],
        ['😀', 'F09F9880'],
      ],
      int32: [['12', '3132']],
    },
  },
  {
    ddl: 'varchar(3) charset utf8mb4',
    show: 'hex(c)',
    from: {
      string: [
        ['ab ', '616220'],
        ['abc ', no],
        ['éé ', 'C3A9C3A920'],
        ['ééé ', no],
        ['abcd', server],
        ['\0\x1a\\', '001A5C'],
      ],
      binary: [
        [hex('c3a9'), 'C3A9'],
        [hex('ff'), no],
      ],
      boolean: [['true', server]],
    },
  },
  {
    ddl: 'tinytext',
    show: 'length(c)',
    from: {
      string: [
        ['x'.repeat(255), '255'],
        ['x'.repeat(256), server],
        [`${'x'.repeat(255)} `, no],
      ],
    },
  },
  {
    ddl: 'varchar(10) charset latin1',
    show: 'hex(c)',
    from: {
      string: [
        ['café€', '636166E980'],
        ['東', server],
        ['a😀', server],
      ],
    },
  },
  {
    ddl: 'varchar(10) charset utf8',
    show: 'hex(c)',
    from: {
      string: [
        ['測', 'E6B8AC'],
        ['a😀', server],
      ],
    },
  },
  {
    ddl: 'varchar(10) charset gbk',
    show: 'hex(c)',
    from: {
      string: [
        ['测试\\', 'B2E2CAD45C'],
        ['😀', server],
      ],
    },
  },
  { ddl: 'varchar(10) charset utf16', show: 'hex(c)', from: { string: [['é😀\\', '00E9D83DDE00005C']] } },
  {
    ddl: 'binary(3)',
    show: 'hex(c)',
    from: {
      binary: [
        [hex('610000'), '610000'],
        [hex('61'), no],
        [hex('61620000'), no],
      ],
      string: [
        ['abc', '616263'],
        ['a', no],
      ],
    },
  },
  {
    ddl: 'varbinary(3)',
    show: 'hex(c)',
    from: {
      binary: [
        [hex('00ff5c'), '00FF5C'],
        [hex('61202020'), server],
        [hex(''), ''],
      ],
      string: [['é', 'C3A9']],
    },
  },
  {
    ddl: 'geometry',
    show: 'hex(c)',
    from: {
      geometry: [
        [hex(POINT), POINT],
        [
          hex('e6100000010100000000000000000000000000000000000000'),
          'E6100000010100000000000000000000000000000000000000',
        ],
        [null, '∅'],
      ],
      binary: [
        [hex(POINT), POINT],
        [hex(''), no],
        [hex('00000000616263616263616263'), server],
      ],
    },
  },
  {
    ddl: 'blob',
    show: 'hex(c)',
    from: {
      geometry: [[hex(POINT), POINT]],
      string: [
        ['\\N', '5C4E'],
        ['\t\n\r', '090A0D'],
      ],
    },
  },
];

const outcome = (o: Outcome, kind: ServerKind): string | symbol => (typeof o === 'object' ? o[kind] : o);

async function check(db: TestDatabase, load: 'auto' | 'never'): Promise<void> {
  const wrong: string[] = [];
  for (const { ddl, show = 'c', from } of TARGETS) {
    for (const [type, cells] of Object.entries(from)) {
      await db.run('drop table if exists t', `create table t (id int primary key, c ${ddl}) engine=InnoDB`);
      const rows = cells.map(([value], i) => [String(i), value]);
      const batch = batchOf([column('id', 'int'), column('c', type)], rows);
      const { rejected, to } = await writeAll(db, 't', [batch], { load });
      const stored = new Map((await db.rows(`select id, ${show} from t`)).map(([id, c]) => [Number(id), c ?? '∅']));
      const wanted = cells.map(([, o]) => outcome(o, db.kind));
      wanted.forEach((want, i) => {
        const value = cells[i]?.[0];
        const got = stored.get(i);
        if (got === (typeof want === 'symbol' ? undefined : want)) return;
        wrong.push(
          `${type} ${value === null ? 'NULL' : `'${String(value).slice(0, 40)}'`} in ${ddl}: ${String(got)}, not ${String(want)}`,
        );
      });
      const ours = rejected.filter((r) => r.startsWith('c: `c` cannot')).length;
      const theirs = rejected.filter((r) => /^(?:c: |-: 1416 )/.test(r)).length - ours;
      const counts = [wanted.filter((w) => w === no).length, wanted.filter((w) => w === server).length];
      const inserts = to.sent.filter((q) => q.startsWith('insert')).length;
      if (load === 'auto' && inserts > 0 && theirs === 0) wrong.push(`${type} in ${ddl}: not by LOAD DATA`);
      if (ours !== counts[0] || theirs !== counts[1] || rejected.length !== ours + theirs) {
        wrong.push(
          `${type} in ${ddl}: ${String(ours)}+${String(theirs)} rejected, not ${counts.join('+')}: ${rejected.join('; ')}`,
        );
      }
    }
  }
  assert.deepEqual(wrong, []);
}

onServers(SERVERS, 'values by INSERT', (db) => check(db, 'never'));
onServers(SERVERS, 'values by LOAD DATA', (db) => check(db, 'auto'));

onServers(['mariadb'], 'fractions and JSON of MariaDB', async (db) => {
  await db.run(
    'create table t (id int primary key, d datetime(3), t time(2), s timestamp(6) null, j json, u uuid) engine=InnoDB',
  );
  const columns = [
    column('id', 'int'),
    column('d', 'datetime(6)'),
    column('t', 'time(6)'),
    column('s', 'timestamp(6)'),
    column('j', 'json'),
    column('u', 'string'),
  ];
  const uuid = '123e4567-e89b-12d3-a456-426655440000';
  for (const load of ['never', 'auto'] as const) {
    await db.run('delete from t');
    const rows = [
      [
        '1',
        '2024-01-02 03:04:05.123',
        '-01:02:03.45',
        '2024-01-02 03:04:05.123456',
        '{"a": 2.50, "b":"\\n\\u00e9"}',
        uuid,
      ],
      ['2', '2024-01-02 03:04:05.123000', '01:02:03.450000', null, 'null', null],
      ['3', '2024-01-02 03:04:05.1234', null, null, null, null],
      ['4', null, '01:02:03.456', null, null, null],
      ['5', null, null, null, '{', null],
      ['6', null, null, null, null, uuid.toUpperCase()],
      ['7', null, null, null, null, 'nothing'],
    ];
    const { rejected } = await writeAll(db, 't', [batchOf(columns, rows)], { load });
    assert.deepEqual(await table(db, 'select * from t order by id'), [
      `1|2024-01-02 03:04:05.123|-01:02:03.45|2024-01-02 03:04:05.123456|{"a": 2.50, "b":"\\n\\u00e9"}|${uuid}`,
      '2|2024-01-02 03:04:05.123|01:02:03.45|∅|null|∅',
    ]);
    assert.deepEqual(rejected.map((r) => r.slice(0, 18)).sort(), [
      '-: 4025 CONSTRAINT',
      'd: `d` cannot hold',
      't: `t` cannot hold',
      'u: `u` cannot hold',
      'u: `u` cannot hold',
    ]);
  }
});

onServers(SERVERS, 'numbers that the server would give out', async (db) => {
  await db.run('create table t (id int auto_increment primary key, n int not null) engine=InnoDB');
  for (const load of ['never', 'auto'] as const) {
    await db.run('delete from t');
    const rows = [
      ['0', '1'],
      [null, '1'],
      ['5', null],
      ['7', '2'],
    ];
    const { rejected } = await writeAll(db, 't', [batchOf([column('id', 'int'), column('n', 'int')], rows)], { load });
    assert.deepEqual(await table(db, 'select * from t order by id'), ['0|1', '7|2']);
    assert.match(rejected[0] ?? '', /^id: `id` cannot be NULL: the server would store the next number/);
    assert.match(rejected[1] ?? '', /^n: 1048 Column 'n' cannot be null/);
    assert.equal(rejected.length, 2);
    // Left out, they are given out.
    await writeAll(db, 't', [batchOf([column('n', 'int')], [['3']])], { load });
    assert.deepEqual(await table(db, 'select count(*) from t where n = 3 and id > 7'), ['1']);
  }
});

onServers(SERVERS, 'labels: the same ones need no look, whatever their order', async (db) => {
  await db.run(`create table t (id int primary key, e enum('b','1','a'), s set('y','x')) engine=InnoDB`);
  const columns = [
    column('id', 'int'),
    { name: 'e', type: { is: 'enum', labels: ['1', 'a'] } as const },
    { name: 's', type: { is: 'set', labels: ['x', 'y'] } as const },
  ];
  const rows = [
    ['1', '1', 'x,y'],
    ['2', 'a', ''],
    ['3', null, 'x'],
    // What MySQL gives for a value that it once failed to store.
    ['4', '', null],
  ];
  for (const load of ['never', 'auto'] as const) {
    await db.run('delete from t');
    const { rejected } = await writeAll(db, 't', [batchOf(columns, rows)], { load });
    assert.deepEqual(await table(db, 'select * from t order by id'), ['1|1|y,x', '2|a|', '3|∅|x']);
    assert.deepEqual(rejected, ["e: 1265 Data truncated for column 'e'"]);
  }
});
