export { writer } from './writer.js';
