/** The few requests that these tests need of a broker, over one plain connection: independent of the plugin's client. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

type Field =
  readonly ['i8' | 'i16' | 'i32' | 'i64', number] | readonly ['text', string | null] | readonly ['bytes', Buffer];

const WIDTH = { i8: 1, i16: 2, i32: 4, i64: 8 } as const;

function encode(fields: readonly Field[]): Buffer {
  const parts = fields.map(([kind, value]) => {
    if (kind === 'bytes') return Buffer.concat([encode([['i32', value.length]]), value]);
    if (kind === 'text') {
      const bytes = Buffer.from(value ?? '');
      return Buffer.concat([encode([['i16', value === null ? -1 : bytes.length]]), bytes]);
    }
    const b = Buffer.alloc(WIDTH[kind]);
    if (kind === 'i64') b.writeBigInt64BE(BigInt(value));
    else b.writeIntBE(value, 0, WIDTH[kind]);
    return b;
  });
  return Buffer.concat(parts);
}

class Answer {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  number(kind: 'i8' | 'i16' | 'i32' | 'i64'): number {
    const at = this.#at;
    this.#at += WIDTH[kind];
    return kind === 'i64' ? Number(this.#bytes.readBigInt64BE(at)) : this.#bytes.readIntBE(at, WIDTH[kind]);
  }

  bytes(length: number): Buffer {
    this.#at += Math.max(0, length);
    return this.#bytes.subarray(this.#at - Math.max(0, length), this.#at);
  }

  text(): string {
    return this.bytes(this.number('i16')).toString();
  }
}

export interface Fetched {
  readonly error: number;
  readonly highWatermark: number;
  readonly records: Buffer;
}

export class BrokerSocket implements AsyncDisposable {
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(brokers: string): Promise<BrokerSocket> {
    const [host = '', port = ''] = (brokers.split(',')[0] ?? '').split(':');
    const socket = connect({ host, port: Number(port) });
    await once(socket, 'connect');
    return new BrokerSocket(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.end();
    await once(this.#socket, 'close');
  }

  /** One at a time. */
  async #ask(api: number, version: number, body: readonly Field[]): Promise<Answer> {
    const header: readonly Field[] = [
      ['i16', api],
      ['i16', version],
      ['i32', 1],
      ['text', 'wire-test'],
    ];
    this.#socket.write(encode([['bytes', encode([...header, ...body])]]));
    let got = Buffer.alloc(0);
    while (got.length < 4 || got.length < 4 + got.readInt32BE(0)) {
      const [chunk] = (await once(this.#socket, 'data')) as [Buffer];
      got = Buffer.concat([got, chunk]);
    }
    return new Answer(got.subarray(8));
  }

  async createTopic(topic: string, configs: Readonly<Record<string, string>>): Promise<void> {
    const list = Object.entries(configs).flatMap(([k, v]): Field[] => [
      ['text', k],
      ['text', v],
    ]);
    const of: Field[] = [['text', topic], ['i32', 1], ['i16', 1], ['i32', 0], ['i32', list.length / 2], ...list];
    const a = await this.#ask(19, 4, [['i32', 1], ...of, ['i32', 10_000], ['i8', 0]]);
    a.number('i32');
    a.number('i32');
    a.text();
    const error = a.number('i16');
    if (error !== 0) throw new Error(`create ${topic}: ${String(error)} ${a.text()}`);
  }

  async deleteTopics(topics: readonly string[]): Promise<void> {
    await this.#ask(20, 3, [['i32', topics.length], ...topics.map((t): Field => ['text', t]), ['i32', 10_000]]);
  }

  async initProducerId(): Promise<bigint> {
    const a = await this.#ask(22, 1, [
      ['text', null],
      ['i32', 60_000],
    ]);
    a.number('i32');
    const error = a.number('i16');
    if (error !== 0) throw new Error(`init a producer: ${String(error)}`);
    return BigInt(a.number('i64'));
  }

  /** The error's number; 0: none. */
  async produce(topic: string, batch: Buffer): Promise<number> {
    const partition: Field[] = [
      ['i32', 1],
      ['i32', 0],
      ['bytes', batch],
    ];
    const body: Field[] = [['text', null], ['i16', -1], ['i32', 10_000], ['i32', 1], ['text', topic], ...partition];
    const a = await this.#ask(0, 7, body);
    a.number('i32');
    a.text();
    a.number('i32');
    a.number('i32');
    return a.number('i16');
  }

  async fetch(topic: string, offset: number): Promise<Fetched> {
    const limits: Field[] = [
      ['i32', -1],
      ['i32', 500],
      ['i32', 1],
      ['i32', 8 << 20],
      ['i8', 1],
      ['i32', 0],
      ['i32', -1],
    ];
    const partition: Field[] = [
      ['i32', 1],
      ['i32', 0],
      ['i32', -1],
      ['i64', offset],
      ['i64', -1],
      ['i32', 8 << 20],
    ];
    const a = await this.#ask(1, 11, [...limits, ['i32', 1], ['text', topic], ...partition, ['i32', 0], ['text', '']]);
    a.bytes(4 + 2 + 4 + 4);
    a.text();
    a.bytes(4 + 4);
    const error = a.number('i16');
    const highWatermark = a.number('i64');
    a.bytes(8 + 8);
    const aborted = a.number('i32');
    a.bytes(16 * Math.max(0, aborted) + 4);
    return { error, highWatermark, records: a.bytes(a.number('i32')) };
  }
}
