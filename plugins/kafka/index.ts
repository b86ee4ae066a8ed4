export { reader } from './reader.js';
export { writer } from './writer.js';
