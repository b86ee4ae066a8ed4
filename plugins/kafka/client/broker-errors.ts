/** What the broker says, as coded errors. Numbers and words: Kafka's protocol guide. */
import { SyncError, isSyncError, type Blame, type ErrorCode, type RetryClass } from 'syncx/plugin-api';
import type { LinkFailure } from './link-failure.js';
import { missingRight } from './rights.js';

export type Side = 'source' | 'sink';

/** By number, from -1. */
const WORDS =
  `UNKNOWN_SERVER_ERROR NONE OFFSET_OUT_OF_RANGE CORRUPT_MESSAGE UNKNOWN_TOPIC_OR_PARTITION INVALID_FETCH_SIZE LEADER_NOT_AVAILABLE
  NOT_LEADER_OR_FOLLOWER REQUEST_TIMED_OUT BROKER_NOT_AVAILABLE REPLICA_NOT_AVAILABLE MESSAGE_TOO_LARGE STALE_CONTROLLER_EPOCH
  OFFSET_METADATA_TOO_LARGE NETWORK_EXCEPTION COORDINATOR_LOAD_IN_PROGRESS COORDINATOR_NOT_AVAILABLE NOT_COORDINATOR
  INVALID_TOPIC_EXCEPTION RECORD_LIST_TOO_LARGE NOT_ENOUGH_REPLICAS NOT_ENOUGH_REPLICAS_AFTER_APPEND INVALID_REQUIRED_ACKS
  ILLEGAL_GENERATION INCONSISTENT_GROUP_PROTOCOL INVALID_GROUP_ID UNKNOWN_MEMBER_ID INVALID_SESSION_TIMEOUT
  REBALANCE_IN_PROGRESS INVALID_COMMIT_OFFSET_SIZE TOPIC_AUTHORIZATION_FAILED GROUP_AUTHORIZATION_FAILED
  CLUSTER_AUTHORIZATION_FAILED INVALID_TIMESTAMP UNSUPPORTED_SASL_MECHANISM ILLEGAL_SASL_STATE UNSUPPORTED_VERSION
  TOPIC_ALREADY_EXISTS INVALID_PARTITIONS INVALID_REPLICATION_FACTOR INVALID_REPLICA_ASSIGNMENT INVALID_CONFIG NOT_CONTROLLER
  INVALID_REQUEST UNSUPPORTED_FOR_MESSAGE_FORMAT POLICY_VIOLATION OUT_OF_ORDER_SEQUENCE_NUMBER DUPLICATE_SEQUENCE_NUMBER
  INVALID_PRODUCER_EPOCH INVALID_TXN_STATE INVALID_PRODUCER_ID_MAPPING INVALID_TRANSACTION_TIMEOUT CONCURRENT_TRANSACTIONS
  TRANSACTION_COORDINATOR_FENCED TRANSACTIONAL_ID_AUTHORIZATION_FAILED SECURITY_DISABLED OPERATION_NOT_ATTEMPTED
  KAFKA_STORAGE_ERROR LOG_DIR_NOT_FOUND SASL_AUTHENTICATION_FAILED UNKNOWN_PRODUCER_ID REASSIGNMENT_IN_PROGRESS
  DELEGATION_TOKEN_AUTH_DISABLED DELEGATION_TOKEN_NOT_FOUND DELEGATION_TOKEN_OWNER_MISMATCH
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED DELEGATION_TOKEN_AUTHORIZATION_FAILED DELEGATION_TOKEN_EXPIRED
  INVALID_PRINCIPAL_TYPE NON_EMPTY_GROUP GROUP_ID_NOT_FOUND FETCH_SESSION_ID_NOT_FOUND INVALID_FETCH_SESSION_EPOCH
  LISTENER_NOT_FOUND TOPIC_DELETION_DISABLED FENCED_LEADER_EPOCH UNKNOWN_LEADER_EPOCH UNSUPPORTED_COMPRESSION_TYPE
  STALE_BROKER_EPOCH OFFSET_NOT_AVAILABLE MEMBER_ID_REQUIRED PREFERRED_LEADER_NOT_AVAILABLE GROUP_MAX_SIZE_REACHED
  FENCED_INSTANCE_ID ELIGIBLE_LEADERS_NOT_AVAILABLE ELECTION_NOT_NEEDED NO_REASSIGNMENT_IN_PROGRESS
  GROUP_SUBSCRIBED_TO_TOPIC INVALID_RECORD UNSTABLE_OFFSET_COMMIT THROTTLING_QUOTA_EXCEEDED PRODUCER_FENCED
  RESOURCE_NOT_FOUND DUPLICATE_RESOURCE UNACCEPTABLE_CREDENTIAL INCONSISTENT_VOTER_SET INVALID_UPDATE_VERSION
  FEATURE_UPDATE_FAILED PRINCIPAL_DESERIALIZATION_FAILURE SNAPSHOT_NOT_FOUND POSITION_OUT_OF_RANGE UNKNOWN_TOPIC_ID
  DUPLICATE_BROKER_REGISTRATION BROKER_ID_NOT_REGISTERED INCONSISTENT_TOPIC_ID INCONSISTENT_CLUSTER_ID
  TRANSACTIONAL_ID_NOT_FOUND FETCH_SESSION_TOPIC_ID_ERROR`.split(/\s+/);

/** The broker's word for its number; 0: null. */
export function errorWord(code: number): string | null {
  return code === 0 ? null : (WORDS[code + 1] ?? `ERROR_${String(code)}`);
}

/** What stands behind a SyncError of the broker, as its `cause`. */
export class BrokerError extends Error {
  readonly word: string;

  constructor(word: string, reason: string | null) {
    super(reason ?? word);
    this.name = 'BrokerError';
    this.word = word;
  }
}

/** The broker's word, as INVALID_PRODUCER_EPOCH; null: the error is not of the broker's making. */
export function brokerErrorName(e: unknown): string | null {
  const cause = isSyncError(e) ? e.cause : e;
  return cause instanceof BrokerError ? cause.word : null;
}

/** The leader is another by now, or there is none: ask for it again. */
const STALE_LEADER: ReadonlySet<string> = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_OR_FOLLOWER',
  'REPLICA_NOT_AVAILABLE',
  'BROKER_NOT_AVAILABLE',
  'KAFKA_STORAGE_ERROR',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
  'LISTENER_NOT_FOUND',
  'OFFSET_NOT_AVAILABLE',
]);

export const isStaleLeader = (word: string | null): boolean => word !== null && STALE_LEADER.has(word);

interface Meaning {
  readonly code?: ErrorCode;
  readonly retry?: RetryClass;
  readonly blame?: Blame;
  readonly hint?: string;
}

const SOON: Meaning = { retry: 'retry' };
const RENEW: Meaning = { retry: 'reconnect' };
const FENCED_HINT =
  'A newer producer has the transactional id, or the broker ended the transaction after its timeout: see transaction.timeout.ms.';
const FENCED: Meaning = { code: 'FENCED', hint: FENCED_HINT };

const MEANINGS: Readonly<Record<string, Meaning>> = {
  UNKNOWN_SERVER_ERROR: { retry: 'retry', hint: 'See the log of the broker.' },
  UNKNOWN_TOPIC_OR_PARTITION: {
    code: 'SOURCE_MISSING',
    blame: 'config',
    hint: 'Check the name of the topic and the brokers of the job; the topic is not created by a look at it.',
  },
  OFFSET_OUT_OF_RANGE: { code: 'SOURCE_MISSING', hint: 'The records are gone from the topic, or it was made anew.' },
  MESSAGE_TOO_LARGE: {
    code: 'ROW_TOO_LARGE',
    hint: 'See max.message.bytes of the topic, message.max.bytes of the broker.',
  },
  RECORD_LIST_TOO_LARGE: { code: 'ROW_TOO_LARGE', hint: 'See segment.bytes of the topic.' },
  INVALID_TOPIC_EXCEPTION: {
    code: 'JOB_INVALID',
    hint: 'Topic names have letters, digits, dot, hyphen and underscore only, 249 at most.',
  },
  INVALID_RECORD: { blame: 'data', hint: 'The topic refuses the record: a compacted topic needs a key in each.' },
  INVALID_TIMESTAMP: { blame: 'data', hint: 'See message.timestamp.before.max.ms and .after.max.ms of the topic.' },
  INVALID_GROUP_ID: { code: 'JOB_INVALID', hint: 'Name a group (group.id).' },
  UNKNOWN_MEMBER_ID: { hint: 'The group has members: name a group.id that nobody else uses.' },
  NON_EMPTY_GROUP: { hint: 'The group has members: name a group.id that nobody else uses.' },
  INVALID_TRANSACTION_TIMEOUT: {
    code: 'JOB_INVALID',
    hint: 'Lower transaction.timeout.ms, or raise transaction.max.timeout.ms of the brokers.',
  },
  INVALID_REPLICATION_FACTOR: { code: 'JOB_INVALID', hint: 'There are fewer brokers than copies asked for.' },
  INVALID_PARTITIONS: { code: 'JOB_INVALID' },
  INVALID_CONFIG: { code: 'JOB_INVALID' },
  POLICY_VIOLATION: { blame: 'config', hint: 'A policy of the brokers refuses it.' },
  INVALID_PRODUCER_EPOCH: FENCED,
  PRODUCER_FENCED: FENCED,
  INVALID_PRODUCER_ID_MAPPING: {
    code: 'FENCED',
    hint: 'The broker has forgotten the transactional id (transactional.id.expiration.ms), or another producer has it.',
  },
  INVALID_TXN_STATE: { blame: 'state' },
  UNKNOWN_PRODUCER_ID: RENEW,
  OUT_OF_ORDER_SEQUENCE_NUMBER: RENEW,
  UNSUPPORTED_COMPRESSION_TYPE: { blame: 'config', hint: 'The broker is too old for that compression.' },
  UNSUPPORTED_FOR_MESSAGE_FORMAT: { blame: 'config' },
  CORRUPT_MESSAGE: SOON,
  REQUEST_TIMED_OUT: SOON,
  NETWORK_EXCEPTION: SOON,
  NOT_ENOUGH_REPLICAS: { retry: 'retry', hint: 'Brokers are down: see min.insync.replicas of the topic.' },
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: { retry: 'retry', hint: 'Brokers are down: see min.insync.replicas of the topic.' },
  COORDINATOR_LOAD_IN_PROGRESS: SOON,
  COORDINATOR_NOT_AVAILABLE: SOON,
  NOT_COORDINATOR: SOON,
  CONCURRENT_TRANSACTIONS: SOON,
  UNSTABLE_OFFSET_COMMIT: SOON,
  THROTTLING_QUOTA_EXCEEDED: SOON,
  NOT_CONTROLLER: SOON,
};

/** What was asked of whom, for messages. */
export interface Asked {
  readonly side: Side;
  /** Name of the request in Kafka's protocol. */
  readonly api: string;
  /** `fetch from orders-0`, `commit offsets of group g`. */
  readonly doing: string;
  /** Topic-partition, group, transactional id or broker. */
  readonly place: string;
  /** What a missing right would be on. */
  readonly resource: string;
}

/** @param reason the broker's explanation, beyond its word. */
export function brokerError(word: string, reason: string | null, asked: Asked): SyncError {
  const io: ErrorCode = asked.side === 'source' ? 'SOURCE_IO' : 'SINK_IO';
  const right = word.endsWith('_AUTHORIZATION_FAILED') ? missingRight(asked.api, word, asked.resource) : null;
  const meaning: Meaning = right === null ? (MEANINGS[word] ?? {}) : { blame: 'config', hint: right.hint };
  const missing = asked.side === 'sink' && meaning.code === 'SOURCE_MISSING';
  const retry = meaning.retry ?? (isStaleLeader(word) && meaning.code === undefined ? 'retry' : 'never');
  const said = right?.message ?? reason;
  return new SyncError(
    missing ? io : (meaning.code ?? io),
    `cannot ${asked.doing}: ${word}${said === null || said === '' ? '' : `: ${said}`}`,
    {
      place: asked.place,
      cause: new BrokerError(word, reason),
      retry,
      ...(meaning.blame === undefined
        ? meaning.code === undefined
          ? { blame: asked.side }
          : {}
        : { blame: meaning.blame }),
      ...(meaning.hint === undefined ? {} : { hint: meaning.hint }),
    },
  );
}

/** Of a connection: no broker has said anything. */
export function linkError(e: LinkFailure, asked: Pick<Asked, 'side' | 'doing'>): SyncError {
  return new SyncError(asked.side === 'source' ? 'SOURCE_IO' : 'SINK_IO', `cannot ${asked.doing}: ${e.message}`, {
    place: e.address,
    cause: e,
    retry: e.trouble === 'lost' ? 'reconnect' : 'never',
    blame: e.trouble === 'lost' ? asked.side : 'config',
    ...(e.hint === null ? {} : { hint: e.hint }),
  });
}
