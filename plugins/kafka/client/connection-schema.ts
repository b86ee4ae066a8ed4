/** The options that reader and writer have alike: where the brokers are, and who we are there. */

export const BROKERS = {
  title: 'Brokers',
  description:
    'Some of the brokers, as host:port; the others are learned from them. Also as `bootstrap.servers` of the settings.',
  anyOf: [
    { type: 'string', minLength: 1 },
    { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
  ],
  examples: ['127.0.0.1:9092', ['k1:9092', 'k2:9092']],
  'x-aliases': ['bootstrap.servers', 'brokerList'],
  'x-state': 'tuning',
} as const;

export const CLIENT_ID = {
  title: 'Client id',
  description: "Name of this client in the brokers' logs and quotas.",
  type: 'string',
  minLength: 1,
  examples: ['sync-orders'],
  'x-state': 'tuning',
} as const;

const PEM = (title: string, description: string, example: string) =>
  ({
    title,
    description: `${description}: path of a PEM file, or its text.`,
    type: 'string',
    minLength: 1,
    examples: [example],
  }) as const;

export const SSL = {
  title: 'TLS',
  description: 'True, or what TLS needs besides the authorities that Node.js knows. Also as `ssl.…` of the settings.',
  anyOf: [
    { type: 'boolean' },
    {
      type: 'object',
      additionalProperties: false,
      properties: {
        ca: PEM('CA certificates', 'The authorities that the brokers are checked against', 'ca.pem'),
        cert: PEM('Client certificate', 'Our own certificate, for brokers that ask for one', 'client.pem'),
        key: { ...PEM('Client key', "Our certificate's private key, PKCS#8", 'client-key.pem'), 'x-secret': true },
        passphrase: {
          title: 'Passphrase',
          description: 'Of an encrypted key.',
          type: 'string',
          'x-secret': true,
        },
        servername: {
          title: 'Server name',
          description: "Name in the brokers' certificates, where it is not that of the host.",
          type: 'string',
          examples: ['kafka.example'],
        },
        rejectUnauthorized: {
          title: 'Check the brokers',
          description: 'False: any certificate will do, so that anybody between can read and write all.',
          type: 'boolean',

          examples: [false],
        },
      },
    },
  ],
  examples: [true, { ca: 'ca.pem' }],
  'x-state': 'tuning',
} as const;

export const SASL = {
  title: 'Login',
  description: 'SASL mechanism with user and password, or with a token. Also as `sasl.…` of the settings.',
  type: 'object',
  additionalProperties: false,
  required: ['mechanism'],
  properties: {
    mechanism: {
      title: 'Mechanism',
      description: 'How to log in.',
      type: 'string',
      enum: ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'],
      examples: ['SCRAM-SHA-512'],
      'x-values': {
        plain: 'PLAIN',
        'scram-sha-256': 'SCRAM-SHA-256',
        'scram-sha-512': 'SCRAM-SHA-512',
        oauthbearer: 'OAUTHBEARER',
      },
    },
    username: { title: 'User', description: 'For PLAIN and SCRAM.', type: 'string', examples: ['sync'] },
    password: {
      title: 'Password',
      description: 'For PLAIN and SCRAM; better not in the file: ${env:NAME} or ${file:path}.',
      type: 'string',
      'x-secret': true,
    },
    token: {
      title: 'Token',
      description: 'For OAUTHBEARER; for a job that ends before the token does.',
      type: 'string',
      'x-secret': true,
    },
    tokenFile: {
      title: 'Token file',
      description:
        'For OAUTHBEARER: file with the token and nothing else. It is read at each login, so that whoever renews the token writes it there.',
      type: 'string',
      minLength: 1,
      'x-secret': true,
    },
    tokenUrl: {
      title: 'Token endpoint',
      description:
        'For OAUTHBEARER: address that gives tokens for clientId and clientSecret (OAuth client credentials). A new one is asked for before the one at hand ends.',
      type: 'string',
      minLength: 1,
      examples: ['https://login.example.com/oauth2/token'],
      'x-secret': true,
    },
    clientId: { title: 'Client of OAuth', description: 'For tokenUrl.', type: 'string', examples: ['sync'] },
    clientSecret: {
      title: 'Secret of the client',
      description: 'For tokenUrl; better not in the file: ${env:NAME} or ${file:path}.',
      type: 'string',
      'x-secret': true,
    },
    scope: { title: 'Scope', description: 'For tokenUrl, where it wants one.', type: 'string', examples: ['kafka'] },
  },
  examples: [{ mechanism: 'PLAIN', username: 'sync', password: '${env:KAFKA_PASSWORD}' }],
  'x-state': 'tuning',
} as const;

/** `consumerSettings`, `producerSettings`. */
export const SETTINGS = {
  title: 'Client settings',
  description:
    "Settings by the names of Kafka's Java clients, as `bootstrap.servers`, `security.protocol`, `sasl.jaas.config`; stores must be PEM.",
  type: 'object',
  additionalProperties: { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
  default: {},
  examples: [{ 'bootstrap.servers': '127.0.0.1:9092' }],
  'x-secret': 'properties',
  'x-state': 'tuning',
} as const;
