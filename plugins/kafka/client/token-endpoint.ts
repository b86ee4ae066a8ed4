/** Tokens by OAuth's client credentials (RFC 6749, 4.4), asked for as Java's OAuthBearerLoginCallbackHandler does. */
import { LoginRefused } from './oauth-login.js';

export interface ClientCredentials {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string | null;
}

const LIMIT_MS = 10_000;
/** Of a token's life: then the next login asks for another one. */
const SHARE = 0.8;

/**
 * @returns asks for a token where none is at hand that is good for a while.
 * @throws LoginRefused where the endpoint refuses; Error where it cannot be asked just now. No secret is in them.
 */
export function tokenEndpoint(c: ClientCredentials): () => Promise<string> {
  const { origin, pathname } = new URL(c.url);
  const place = `${origin}${pathname}`;
  let known: { readonly answer: Promise<Token>; until: number } | null = null;
  return async () => {
    if (known === null || known.until <= performance.now()) {
      // Connections that are made at the same moment share one.
      const asked = { answer: ask(c, place), until: performance.now() + LIMIT_MS };
      known = asked;
      asked.answer.then(
        ({ lifeMs }) => (asked.until = performance.now() + lifeMs * SHARE),
        () => (asked.until = 0),
      );
    }
    return (await known.answer).token;
  };
}

interface Token {
  readonly token: string;
  readonly lifeMs: number;
}

async function ask(c: ClientCredentials, place: string): Promise<Token> {
  // As they stand: Java, too, encodes them only where it is told to (sasl.oauthbearer.header.urlencode).
  const login = Buffer.from(`${c.clientId}:${c.clientSecret}`);
  const body = new URLSearchParams({ grant_type: 'client_credentials' });
  if (c.scope !== null) body.set('scope', c.scope);
  let status: number;
  let text: string;
  try {
    const answer = await fetch(c.url, {
      method: 'POST',
      headers: { authorization: `Basic ${login.toString('base64')}`, accept: 'application/json' },
      body,
      redirect: 'error', // the secret is for this address only
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    status = answer.status;
    text = await answer.text();
  } catch (e) {
    throw new Error(`the token endpoint ${place} cannot be asked: ${reasonOf(e)}`);
  }
  const fields = fieldsOf(text);
  if (status >= 500 || status === 429) throw new Error(`the token endpoint ${place} answers ${String(status)}`);
  if (status !== 200) {
    const word = typeof fields['error'] === 'string' ? ` ${fields['error']}` : '';
    throw new LoginRefused(`the token endpoint ${place} answers ${String(status)}${word}`);
  }
  const { access_token: token, expires_in: seconds } = fields;
  if (typeof token !== 'string' || token === '')
    throw new LoginRefused(`the token endpoint ${place} answers without an access_token`);
  const life = Number(seconds);
  return { token, lifeMs: Number.isFinite(life) ? life * 1000 : 0 };
}

/** fetch says `fetch failed`, and why only in its cause. */
function reasonOf(e: unknown): string {
  const { cause, message } = e instanceof Error ? e : { cause: null, message: String(e) };
  const code = (cause as { readonly code?: unknown } | null)?.code;
  return typeof code === 'string' ? code : cause instanceof Error ? cause.message : message;
}

function fieldsOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
