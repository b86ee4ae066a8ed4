import { contractTests } from 'syncx/plugin-testkit';
import { scriptedReader, scriptedWriter } from './scripted-harness.js';

contractTests(scriptedReader());
contractTests(scriptedWriter('survive', { pipelined: true }));
contractTests(scriptedWriter('die', { protocol: 'marker', rejectAt: 'prepare' }));
contractTests(scriptedWriter('survive', { delivery: 'at-least-once' }));
