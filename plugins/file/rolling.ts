/** When a file is finished. */
export interface Rolling {
  /** Bytes. */
  readonly maxFileSize: number;
  /** Milliseconds after its first row; 0: never. */
  readonly rollInterval: number;
  /** Milliseconds after its last row; 0: never. */
  readonly inactivityInterval: number;
  /** At each checkpoint. Compressed files always are: nothing can be added to one that is durable. */
  readonly onCheckpoint: boolean;
}

/** Times in milliseconds since 1970: a file may outlive its process. */
export interface FileAge {
  readonly firstRow: number;
  readonly lastRow: number;
}

export function isDue(r: Rolling, age: FileAge, now: number): boolean {
  const { rollInterval, inactivityInterval } = r;
  return (
    (rollInterval > 0 && now - age.firstRow >= rollInterval) ||
    (inactivityInterval > 0 && now - age.lastRow >= inactivityInterval)
  );
}
