export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Null: it is no `host:port`. */
export function parseAddress(text: string): Address | null {
  const m = /^(?:\[([^\]]+)\]|([^\s:[\]/]+)):(\d{1,5})$/.exec(text.trim());
  const host = m?.[1] ?? m?.[2];
  const port = Number(m?.[3]);
  return host !== undefined && port >= 1 && port <= 65_535 ? { host, port } : null;
}
