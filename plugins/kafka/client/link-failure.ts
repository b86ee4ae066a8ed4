/** What goes wrong below the protocol: no connection, no login, no answer. */

import { isSyncError } from 'syncx/plugin-api';
import { LoginRefused } from './oauth-login.js';

/**
 * - `lost`: it may come about at another try, or at another broker;
 * - `refused`: it fails again until a person acts (login, certificate, version).
 */
export type LinkTrouble = 'lost' | 'refused';

export class LinkFailure extends Error {
  readonly trouble: LinkTrouble;
  readonly hint: string | null;
  readonly address: string;

  constructor(trouble: LinkTrouble, address: string, message: string, hint: string | null, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'LinkFailure';
    this.trouble = trouble;
    this.address = address;
    this.hint = hint;
  }
}

interface KafkajsError {
  readonly name: string;
  readonly message: string;
  /** Of protocol errors: the broker's word. */
  readonly type?: unknown;
  /** Of connection errors: Node's code. */
  readonly code?: unknown;
}

const CERTIFICATE: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID:
    "The broker's certificate is for another host name: use the name it has, or turn the check off (ssl.endpoint.identification.algorithm empty).",
  CERT_HAS_EXPIRED: "The broker's certificate is out of date.",
};
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Nobody listens there: check host and port, and whether the broker runs.',
  ENOTFOUND: 'No such host is known: check the brokers of the job, and the advertised.listeners of the brokers.',
  EAI_AGAIN: 'The name of the host cannot be looked up now: check it, and the name service.',
  EHOSTUNREACH: 'There is no way to the host: check its name, and the network.',
  ENETUNREACH: 'There is no way to the host: check its name, and the network.',
};

/** @returns hint and class of a socket's error; null: nothing particular. */
function ofSocket(code: string): readonly [LinkTrouble, string] | null {
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return ['refused', certificate];
  if (UNTRUSTED.has(code))
    return ['refused', "Name the authority that signed the broker's certificate: ssl.truststore.location, or ssl.ca."];
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return ['refused', 'That listener does not speak TLS: check the port, or security.protocol.'];
  if (/^ERR_SSL_.*(?:CERTIFICATE|UNKNOWN_CA)/.test(code))
    return [
      'refused',
      'The broker asks for a client certificate that it trusts: ssl.keystore.location, or ssl.cert and ssl.key.',
    ];
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_OSSL_'))
    return ['refused', 'TLS did not come about: check the certificates of the job and the versions of TLS.'];
  const unreachable = UNREACHABLE[code];
  return unreachable === undefined ? null : ['lost', unreachable];
}

const LOGIN = 'Check user name, password or token, and mechanism of the job, and the users of the brokers.';

/**
 * @param phase `connect` while nothing was said yet: a broker that hangs up then speaks another protocol.
 */
export function linkFailure(e: unknown, address: string, phase: 'connect' | 'login' | 'use'): LinkFailure {
  if (e instanceof LinkFailure) return e;
  if (isSyncError(e)) return new LinkFailure('refused', address, e.message, e.hint ?? null, e); // of a token's file
  const { name, message, type, code } =
    e instanceof Error ? (e as Error & KafkajsError) : { name: '', message: String(e) };
  const word = typeof type === 'string' ? type : typeof code === 'string' ? code : '';
  // kafkajs puts the broker's words behind its own; the broker's may name the user, and never the password.
  if (e instanceof LoginRefused || name === 'KafkaJSSASLAuthenticationError' || word.includes('SASL'))
    return new LinkFailure('refused', address, message, LOGIN, e);
  const socket = ofSocket(word);
  // `…:SSL routines:ssl3_read_bytes:sslv3 alert bad certificate:…/rec_layer_s3.c:1601:…`
  const plain = /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] ?? message;
  const text = word !== '' && !plain.includes(word) ? `${word}: ${plain}` : plain;
  if (socket !== null) return new LinkFailure(socket[0], address, text, socket[1], e);
  const hangsUp = name === 'KafkaJSConnectionClosedError' || word === 'ECONNRESET' || word === 'EPIPE';
  if (hangsUp && phase !== 'use') {
    const hint =
      'The broker hung up at the greeting: check whether that listener wants TLS or a login (security.protocol).';
    return new LinkFailure('lost', address, text, hint, e);
  }
  return new LinkFailure('lost', address, text, null, e);
}
