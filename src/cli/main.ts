/** The program: what bin/sync loads. */
import { runCommandLine } from './command-line.js';
import { endProcess, guardProcess } from './process.js';

guardProcess(process.argv.slice(2));
void runCommandLine(process.argv.slice(2)).then(endProcess);
