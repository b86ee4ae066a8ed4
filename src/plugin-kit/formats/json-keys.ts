/** A place in the tree of wanted keys: `a.b.c` and `a.d` share the node of `a`. */
export class KeyNode {
  readonly key: Buffer;
  /** Slots of the columns whose key this is. */
  readonly slots: number[] = [];
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

/** Which keys of a line are wanted. Their places go to slots: one a column, and one more for each name with a dot. */
export interface WantedKeys {
  readonly root: KeyNode;
  /** The column of each slot; the first slots are the columns themselves. */
  readonly columnOf: readonly number[];
}

/**
 * A name with a dot is a path into nested objects and, as it stands, a key of the line itself: the key has a slot of its
 * own. Names that are null are looked for nowhere.
 */
export function wantedKeys(names: readonly (string | null)[]): WantedKeys {
  const root = new KeyNode('');
  names.forEach((name, column) => {
    if (name === null) return;
    let node = root;
    for (const key of name.split('.')) node = node.child(key);
    node.slots.push(column);
  });
  const columnOf = [...names.keys()];
  // Behind all paths, so that keys in the order of the columns are still guessed right.
  names.forEach((name, column) => {
    if (name === null || !name.includes('.')) return;
    root.child(name).slots.push(columnOf.length);
    columnOf.push(column);
  });
  return { root, columnOf };
}
