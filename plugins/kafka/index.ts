export { reader } from './reader.js';
