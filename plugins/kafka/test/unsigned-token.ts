/** A token that the test broker takes: its listener asks for no signature. */
export function unsignedToken(sub: string, seconds: number): string {
  const part = (o: object): string => Buffer.from(JSON.stringify(o)).toString('base64url');
  const now = Math.floor(Date.now() / 1000);
  return `${part({ alg: 'none' })}.${part({ sub, iat: now, exp: now + seconds })}.`;
}
