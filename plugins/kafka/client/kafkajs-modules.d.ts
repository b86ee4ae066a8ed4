/** Modules inside the package have no types of their own; kafkajs-internals.ts checks what they are. */
declare module 'kafkajs/src/network/connection.js' {
  const Connection: unknown;
  export = Connection;
}
