/** By the number that a batch has it under. */
export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const;

export type Codec = (typeof CODECS)[number];
