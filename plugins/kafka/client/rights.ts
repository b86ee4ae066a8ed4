/** Which right a refused request needed: the broker says only on what kind of thing. */

const ON_TOPIC: Readonly<Record<string, string>> = {
  Fetch: 'Read',
  Produce: 'Write',
  AddPartitionsToTxn: 'Write',
  OffsetCommit: 'Read',
  TxnOffsetCommit: 'Read',
  CreateTopics: 'Create',
  CreatePartitions: 'Alter',
  DeleteTopics: 'Delete',
  DeleteRecords: 'Delete',
  DescribeConfigs: 'DescribeConfigs',
};
const ON_GROUP: Readonly<Record<string, string>> = {
  OffsetFetch: 'Describe',
  FindCoordinator: 'Describe',
};
const ON_TRANSACTIONAL_ID: Readonly<Record<string, string>> = {
  FindCoordinator: 'Describe',
  DescribeTransactions: 'Describe',
};
const ON_CLUSTER: Readonly<Record<string, string>> = {
  CreateTopics: 'Create',
  InitProducerId: 'IdempotentWrite',
  Produce: 'IdempotentWrite',
  DescribeConfigs: 'DescribeConfigs',
};

export interface MissingRight {
  readonly message: string;
  readonly hint: string;
}

/**
 * @param api name of the request. @param word of the broker, as GROUP_AUTHORIZATION_FAILED.
 * @param resource name of the topic, group or transactional id.
 */
export function missingRight(api: string, word: string, resource: string): MissingRight {
  const said = (right: string, kind: string, option: string): MissingRight => ({
    message: `the right ${right.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()} on ${kind} is missing`,
    hint: `Let the user have it: kafka-acls --add --operation ${right} ${option} --allow-principal User:…`,
  });
  const quoted = `'${resource}'`;
  if (word.startsWith('TOPIC_')) return said(ON_TOPIC[api] ?? 'Describe', `topic ${resource}`, `--topic ${quoted}`);
  if (word.startsWith('GROUP_')) return said(ON_GROUP[api] ?? 'Read', `group ${resource}`, `--group ${quoted}`);
  if (word.startsWith('TRANSACTIONAL_ID_'))
    return said(ON_TRANSACTIONAL_ID[api] ?? 'Write', `transactional id ${resource}`, `--transactional-id ${quoted}`);
  return said(ON_CLUSTER[api] ?? 'ClusterAction', 'the cluster', '--cluster');
}

/** By Kafka's numbers of operations. */
const OPERATIONS: Readonly<Record<number, string>> = {
  3: 'READ',
  4: 'WRITE',
  5: 'CREATE',
  6: 'DELETE',
  7: 'ALTER',
  8: 'DESCRIBE',
  9: 'CLUSTER_ACTION',
  10: 'DESCRIBE_CONFIGS',
  11: 'ALTER_CONFIGS',
  12: 'IDEMPOTENT_WRITE',
};

/** The operations of a bit field. */
export function rightsOf(bits: number): ReadonlySet<string> {
  return new Set(
    Object.entries(OPERATIONS)
      .filter(([number]) => (bits & (1 << Number(number))) !== 0)
      .map(([, name]) => name),
  );
}
