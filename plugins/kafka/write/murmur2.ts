/** The hash by which Java's producer chooses partitions (org.apache.kafka.common.utils.Utils.murmur2), as an int32. */
export function murmur2(data: Uint8Array): number {
  const { length } = data;
  const m = 0x5bd1e995;
  let h = 0x9747b28c ^ length;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    let k = (data[i] ?? 0) | ((data[i + 1] ?? 0) << 8) | ((data[i + 2] ?? 0) << 16) | ((data[i + 3] ?? 0) << 24);
    k = Math.imul(k, m);
    k ^= k >>> 24;
    h = Math.imul(h, m) ^ Math.imul(k, m);
  }
  const rest = length - i;
  if (rest >= 3) h ^= (data[i + 2] ?? 0) << 16;
  if (rest >= 2) h ^= (data[i + 1] ?? 0) << 8;
  if (rest >= 1) h = Math.imul(h ^ (data[i] ?? 0), m);
  h = Math.imul(h ^ (h >>> 13), m);
  return h ^ (h >>> 15);
}

/** Where Java's producer puts a record of that key. */
export const partitionOfKey = (key: Uint8Array, partitions: number): number =>
  (murmur2(key) & 0x7fff_ffff) % partitions;
