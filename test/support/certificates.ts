/** Certificates for TLS, made by openssl for one test. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Workspace } from './workspace.js';

/** Paths of PEM files. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface Authority extends Certificate {
  /** `names`: as of subjectAltName: `DNS:localhost`, `IP:127.0.0.1`; none: a client's. */
  issue(name: string, names?: readonly string[]): Promise<Certificate>;
}

const openssl = (args: readonly string[]): Promise<unknown> => promisify(execFile)('openssl', args);
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];

export async function authority(ws: Workspace, name: string): Promise<Authority> {
  const file = (what: string): string => join(ws.dir, `${name}-${what}.pem`);
  const own = { cert: file('ca'), key: file('ca-key') };
  await openssl(['req', '-x509', ...KEY, '-subj', `/CN=${name} CA`, '-keyout', own.key, '-out', own.cert]);
  return {
    ...own,
    issue: async (who, names = []) => {
      const issued = { cert: file(who), key: file(`${who}-key`) };
      const alternates = names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join(',')}`];
      const signed = ['-CA', own.cert, '-CAkey', own.key, '-addext', 'basicConstraints=critical,CA:FALSE'];
      await openssl([
        ...['req', '-x509', ...KEY, '-subj', `/CN=${who}`, ...alternates, ...signed],
        ...['-keyout', issued.key, '-out', issued.cert],
      ]);
      return issued;
    },
  };
}
