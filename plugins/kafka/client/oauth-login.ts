/**
 * OAUTHBEARER (RFC 7628) in place of kafkajs's own, which takes a refused token for accepted: the broker's answer then is no
 * error but a text, and the next answer is of the login still, so that the first request would get that one as its own.
 */
import type { KafkajsAuthenticator } from './kafkajs-internals.js';

/** kafkajs's Encoder: what it puts on the wire stands behind its length. */
function framed(bytes: Buffer): Buffer {
  const out = Buffer.allocUnsafe(4 + bytes.length);
  out.writeInt32BE(bytes.length, 0);
  bytes.copy(out, 4);
  return out;
}

/** The broker refuses who we say we are. */
export class LoginRefused extends Error {}

const SEPARATOR = '\u0001';
/** How a client answers the refusal, for the broker to end the login. */
const UNDERSTOOD = Buffer.from(SEPARATOR);

/** @param token asked for at each login. */
export function oauthLogin(token: () => Promise<string>): KafkajsAuthenticator {
  return ({ saslAuthenticate }) => {
    const say = (bytes: Buffer): Promise<string | undefined> =>
      saslAuthenticate({
        request: { encode: () => Promise.resolve(framed(bytes)) },
        response: {
          decode: (answer) => Promise.resolve(answer.subarray(4).toString('utf8')),
          parse: (text) => Promise.resolve(text),
        },
      });
    return {
      authenticate: async () => {
        const hello = Buffer.from(`n,,${SEPARATOR}auth=Bearer ${await token()}${SEPARATOR}${SEPARATOR}`);
        const answer = await say(hello);
        if (answer === undefined || answer === '') return;
        let end: unknown = null;
        await say(UNDERSTOOD).catch((e: unknown) => {
          end = e;
        });
        const more = end instanceof Error ? `: ${end.message}` : '';
        throw new LoginRefused(`the broker refuses the token (${statusOf(answer)})${more}`);
      },
    };
  };
}

/** `{"status":"invalid_token"}` */
function statusOf(answer: string): string {
  return /"status"\s*:\s*"([^"]*)"/.exec(answer)?.[1] ?? 'no status';
}
