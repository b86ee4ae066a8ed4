/** How to reach the brokers; of reader and writer. */
export const CONNECTION_OPTIONS = {
  brokers: {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } },
    ],
    description:
      'Some of the brokers, as `host:port`, a list or a text with commas; the others are learned from them. Without it bootstrap.servers of the settings.',
    'x-state': 'tuning',
    examples: ['localhost:9092', ['k1:9092', 'k2:9092']],
  },
  consumerSettings: {
    type: 'object',
    default: {},
    additionalProperties: true,
    description: 'Settings as the Java client names them: bootstrap.servers, group.id, auto.offset.reset …',
    'x-state': 'tuning',
  },
} as const;
