/** A place in the tree of wanted keys: `a.b.c` and `a.d` share the node of `a`. */
export class KeyNode {
  readonly key: Buffer;
  /** Columns whose path ends here. */
  readonly columns: number[] = [];
  readonly children: KeyNode[] = [];

  constructor(key: string) {
    this.key = Buffer.from(key);
  }

  child(key: string): KeyNode {
    const known = this.children.find((c) => c.key.equals(Buffer.from(key)));
    if (known) return known;
    const node = new KeyNode(key);
    this.children.push(node);
    return node;
  }

  /**
   * Index among the children of the key at `b[start .. end]` (without quotes), or -1. `guess` is tried first: keys
   * mostly come in the order of the columns.
   */
  find(b: Buffer, start: number, end: number, guess: number): number {
    const likely = this.children[guess];
    if (likely && sameBytes(likely.key, b, start, end)) return guess;
    for (let i = 0; i < this.children.length; i++) {
      const c = this.children[i];
      if (c && sameBytes(c.key, b, start, end)) return i;
    }
    return -1;
  }
}

function sameBytes(key: Buffer, b: Buffer, start: number, end: number): boolean {
  if (key.length !== end - start) return false;
  for (let j = 0; j < key.length; j++) if (key[j] !== b[start + j]) return false;
  return true;
}

/** The tree of dotted paths. Columns with a null path are constants. */
export function keyTree(paths: readonly (string | null)[]): KeyNode {
  const root = new KeyNode('');
  paths.forEach((path, column) => {
    if (path === null) return;
    let node = root;
    for (const key of path.split('.')) node = node.child(key);
    node.columns.push(column);
  });
  return root;
}
