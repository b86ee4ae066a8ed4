/** What runs in a worker thread: one lane, with plugins of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { serveLane } from '../core/lane/lane-server.js';
import type { WorkerStart } from '../core/lane/lane-messages.js';
import { Registry } from '../registry/registry.js';

if (!parentPort) throw new Error('lane-worker is not a program: it runs as a worker thread');
serveLane(parentPort, workerData as WorkerStart, new Registry(process.env));
