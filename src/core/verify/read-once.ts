import { SyncError } from '../../plugin-api/index.js';

export function readOnce(name: string): SyncError {
  return new SyncError(
    'JOB_INVALID',
    `the rows of the ${name} reader cannot be read again, so there is nothing to compare with`,
    {
      place: 'reader',
      hint: 'Verify jobs whose source can be read twice: files, tables.',
    },
  );
}
